"""RemovePodsViolatingDeviceTaints: evicts pods on devices with a taint that their resource claim does not tolerate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.placement_verification.placement_verification import verification_args, version_of
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.resource_claims import (
    CLAIM_KIND,
    SLICE_KIND,
    TAINT_RULE_KIND,
    AllocationResult,
    DeviceId,
    DeviceTaint,
    ResourceClaim,
    TaintRules,
    listed_taints,
)
from descheduler.model.selection.taints import NO_EXECUTE, NO_SCHEDULE, Taint, Tolerance, seconds_tolerated
from descheduler.model.text.duration import later
from descheduler.model.verdict import Reason, refuse
from descheduler.plan.facts import PluginFacts
from descheduler.policy.plugin import ArgsProblem, Needs
from descheduler.strategies.shared.pod_filter import PodFilterArgs, pod_filter
from descheduler.strategies.shared.pods import FINISHED
from descheduler.strategies.shared.rules import Match, Rule
from descheduler.strategies.shared.selection import Selection, evict_from_node

_LEFT = "kube-controller-manager deletes pods for NoExecute (effects: [NoSchedule, NoExecute] evicts them here)"
_RULES_GATE = "DRADeviceTaintRules"
_UNSEEN = f"the scheduler does not go by taints of DeviceTaintRules (feature gate {_RULES_GATE} is off)"
_LEFT_FOR_A_TIME = "kube-controller-manager deletes pods for NoExecute until tolerationSeconds and gracePeriod are over"

_LONGEST_SECONDS = 10**12
"""What a duration holds of the 64 bits of `tolerationSeconds`, and more than there are before the last instant."""


class RemovePodsViolatingDeviceTaintsArgs(PodFilterArgs, frozen=True):
    """Arguments of RemovePodsViolatingDeviceTaints. Taints are those of ResourceSlices and of DeviceTaintRules.

    kubernetes-sigs/descheduler has no such plugin. Taints of devices: Kubernetes enhancement 5055.
    """

    effects: tuple[str, ...] = ()
    """Effects of taints that count, `NoSchedule` alone when empty. kube-controller-manager deletes the pods on devices
    with a taint of effect `NoExecute`, whatever their budgets allow. With `NoExecute` here they are evicted too, as far
    as budgets allow."""
    keys: tuple[str, ...] = ()
    """Keys of taints that count; all when empty."""
    drivers: tuple[str, ...] = ()
    """Drivers whose devices count, such as `gpu.example.com`; all when empty."""
    grace_period: timedelta | None = None
    """How long a taint of effect `NoExecute` is left to kube-controller-manager before its pods are evicted here, for
    example `10m`; not at all by default. It counts from `timeAdded` of the taint, or from the end of
    `tolerationSeconds` where the claim tolerates the taint for a time. Before, the pods are reported as left to
    kube-controller-manager; a taint without `timeAdded` counts as just added."""


def validate_args(args: RemovePodsViolatingDeviceTaintsArgs) -> list[ArgsProblem]:
    """Problems of `args`."""
    unknown = [
        ArgsProblem(("effects", place), f"{effect!r} is not an effect; use {NO_SCHEDULE} or {NO_EXECUTE}")
        for place, effect in enumerate(args.effects)
        if effect not in (NO_SCHEDULE, NO_EXECUTE)
    ]
    if args.grace_period is not None:
        unknown += _check_grace_period(args, args.grace_period)
    return [*args.filter_problems(), *unknown]


def _check_grace_period(args: RemovePodsViolatingDeviceTaintsArgs, period: timedelta) -> Iterator[ArgsProblem]:
    if period < timedelta(0):
        yield ArgsProblem(("gracePeriod",), "is negative")
    if NO_EXECUTE not in args.effects:
        yield ArgsProblem(("gracePeriod",), f"has no effect without {NO_EXECUTE} in effects; add it there")


def needs(_args: RemovePodsViolatingDeviceTaintsArgs) -> Needs:
    """Devices and claims; rules of taints where the role may read them."""
    return Needs(kinds=frozenset({CLAIM_KIND, SLICE_KIND}), wanted_kinds=frozenset({TAINT_RULE_KIND}))


class RemovePodsViolatingDeviceTaints:
    """Goes by the devices that claims are allocated and by the tolerations that the allocation has noted."""

    JUDGES_PODS_ALONE = True

    def __init__(self, args: RemovePodsViolatingDeviceTaintsArgs, handle: StrategyHandle) -> None:
        self._args = args
        self._effects = frozenset(args.effects or (NO_SCHEDULE,))
        self._view = handle.view
        self._evictor = handle.evictor
        self._claims = _Claims(handle.view.snapshot)
        self._now = handle.now
        self._own_taints = listed_taints(handle.view.snapshot.objects.get(SLICE_KIND, ()))
        self._rules_of_taints = TaintRules(handle.view.snapshot.objects.get(TAINT_RULE_KIND, ()))
        verified = verification_args(handle.policy.profiles[handle.evictor.profile_index])
        self._is_scheduled_by_rules = version_of(verified, handle.view.snapshot.kube_version).gate(_RULES_GATE)
        self._taints: Mapping[DeviceId, Sequence[DeviceTaint]] = {}
        self._left = refuse(Reason.NO_EXECUTE, _LEFT_FOR_A_TIME if NO_EXECUTE in self._effects else _LEFT)
        self._num_left = 0
        self._selection = Selection()

    def deschedule(self, nodes: Sequence[Node]) -> None:
        """Evicts node by node every active pod with a device of which its claim does not tolerate a taint.

        Pods that are left to kube-controller-manager are reported, also where a limit ends the evictions.
        """
        self._selection = Selection(self._rules())
        self._taints = dict(self._tainted())
        selected = [self._selected_on(node) for node in nodes] if self._taints else []
        for pods in selected:
            victims = [pod for pod in pods if self._evictor.lets_go(pod, self._selection.reason)]
            if not evict_from_node(self._evictor, victims, self._selection.reason):
                return

    def _selected_on(self, node: Node) -> list[Pod]:
        """The pods of a node to evict. Those that are left to kube-controller-manager are noted as kept."""
        victims = []
        for pod in self._selection.of(self._view.active_pods_on(node.name)):
            if self._first(pod) is not None:
                victims.append(pod)
            else:
                self._num_left += 1
                self._evictor.keep(pod, self._left, self._selection.reason(pod))
        return victims

    def facts(self) -> PluginFacts:
        """How many devices have taints that count, and how many pods are left to kube-controller-manager."""
        counted = Counter({"taintedDevices": len(self._taints), "podsLeftToNoExecute": self._num_left})
        facts = replace(self._selection.facts(), counts=dict(counted))
        return facts if self._taints else replace(facts, why_nothing=f"no device has a taint {self._that_counts()}")

    def why_not(self, pod: Pod) -> str:
        """That no device has a taint, or the first rule that `pod` does not meet."""
        if not self._taints:
            return f"no device has a taint {self._that_counts()}"
        return FINISHED if pod.is_terminal else self._selection.why_not(pod)

    def selects_again(self, pod: Pod, arrival: Pod, after: ClusterView) -> str:
        """Which taint of a device the arrival has again, by a claim that keeps its devices.

        Other claims get devices anew: perhaps the same ones where the scheduler does not see the taints.
        """
        claims = self._claims.of(pod)
        named = {each.claim_name for each in arrival.spec.resource_claims}
        direct = [claim for claim in claims if claim.name in named]
        found = next(self._violations(claim for claim in direct if len(claim.consumers) > 1), None)
        if found is not None:
            return self._words(*found)
        # The claim is freed when the pod is gone, and only a pod of the same name has to wait for that.
        early = next(self._violations(direct), None) if arrival.name != pod.name else None
        if early is not None:
            taken_over = "can take the claim over before the evicted pod is gone, and then gets this device"
            return f"{self._words(*early)}, and the replacement pod {taken_over} on node {pod.node_name} again"
        is_unseen = not self._is_scheduled_by_rules and all(
            taint not in self._own_taints.get(device, ()) for device, taint in self._violations(claims)
        )
        return _UNSEEN if is_unseen else ""

    def _rules(self) -> Iterator[Rule]:
        yield from pod_filter(self._args.namespaces, self._args.label_selector)
        yield Match(
            "spec.resourceClaims",
            lambda pod: bool(self._claims.of(pod)),
            lambda _: "no resource claim with devices is reserved for it",
            "no resource claim with devices is reserved for a pod",
        )
        yield Match(
            "tolerations",
            lambda pod: self._first(pod) is not None or self._first_left(pod) is not None,
            self._why_kept,
            f"no pod has a device with an untolerated taint {self._that_counts()}",
            self._why,
        )

    def _why(self, pod: Pod) -> str:
        """The taint for which the pod is evicted, else the one for which it is left to kube-controller-manager."""
        found = self._first(pod)
        if found is not None:
            return self._words(*found)
        left = self._first_left(pod)
        return "" if left is None else f"device {'/'.join(left[0])} has taint {_taint_text(left[1])}"

    def _why_kept(self, pod: Pod) -> str:
        """Whether its devices have taints that count, for a pod that no such taint concerns."""
        taints = (taint for result in _results(self._claims.of(pod)) for taint in self._taints.get(result.device, ()))
        if any(taint.effect in (*self._effects, NO_EXECUTE) for taint in taints):
            return "its resource claims tolerate the taints of their devices"
        return f"none of its devices has a taint {self._that_counts()}"

    def _first(self, pod: Pod) -> tuple[DeviceId, Taint] | None:
        """The first device of the pod with a taint that counts and is not tolerated."""
        return next(self._violations(self._claims.of(pod)), None)

    def _violations(self, claims: Iterable[ResourceClaim]) -> Iterator[tuple[DeviceId, Taint]]:
        for result in _results(claims):
            for taint in self._taints.get(result.device, ()):
                if taint.effect not in self._effects:
                    continue
                if taint.effect == NO_EXECUTE:
                    left_until = self._left_until(result, taint)
                    is_violated = left_until is not None and left_until <= self._now
                else:
                    is_violated = not Tolerance(result.tolerations).tolerates(taint)
                if is_violated:
                    yield result.device, taint

    def _left_until(self, result: AllocationResult, taint: DeviceTaint) -> datetime | None:
        """Until when a device with a taint of effect NoExecute is left to kube-controller-manager; None for ever, as
        the claim tolerates the taint."""
        seconds = seconds_tolerated(result.tolerations, taint)
        if seconds is None:
            return None
        tolerated_until = later(taint.added_at or self._now, timedelta(seconds=min(seconds, _LONGEST_SECONDS)))
        return later(tolerated_until, self._args.grace_period or timedelta(0))

    def _first_left(self, pod: Pod) -> tuple[DeviceId, Taint] | None:
        """The first device of the pod with a taint for which kube-controller-manager deletes the pod, now or later."""
        for result in _results(self._claims.of(pod)):
            for taint in self._taints.get(result.device, ()):
                left_until = self._left_until(result, taint) if taint.effect == NO_EXECUTE else None
                if left_until is not None and (NO_EXECUTE not in self._effects or left_until > self._now):
                    return result.device, taint
        return None

    def _tainted(self) -> Iterator[tuple[DeviceId, Sequence[DeviceTaint]]]:
        """Devices with taints of these keys, drivers and effects, and with all taints of effect NoExecute.

        Rules also taint allocated devices that no slice lists any more: kube-controller-manager deletes the pods on
        them as well (1.37).
        """
        effects = self._effects | {NO_EXECUTE}
        allocated = (result.device for result in _results(self._view.snapshot.objects.get(CLAIM_KIND, ())))
        for identity in dict.fromkeys([*self._own_taints, *allocated]):
            if self._args.drivers and identity.driver not in self._args.drivers:
                continue
            taints = [*self._own_taints.get(identity, ()), *self._rules_of_taints.on(identity)]
            counting = [taint for taint in taints if taint.effect in effects and self._has_key(taint)]
            if counting:
                yield identity, counting

    def _has_key(self, taint: Taint) -> bool:
        return not self._args.keys or taint.key in self._args.keys

    @staticmethod
    def _words(device: DeviceId, taint: Taint) -> str:
        return f"its resource claim does not tolerate taint {_taint_text(taint)} of device {'/'.join(device)}"

    def _that_counts(self) -> str:
        """Which taints count, as the end of a sentence."""
        args = self._args
        given = [f"effects: {', '.join(sorted(self._effects))}"]
        given += [f"keys: {', '.join(args.keys)}"] if args.keys else []
        given += [f"drivers: {', '.join(args.drivers)}"] if args.drivers else []
        return f"that counts ({'; '.join(given)})"


class _Claims:
    """The claims of one snapshot that have devices, by the pods that use them."""

    def __init__(self, snapshot: Snapshot) -> None:
        claims: Sequence[ResourceClaim] = snapshot.objects.get(CLAIM_KIND, ())
        self._by_pod: dict[tuple[str, str], list[ResourceClaim]] = {}
        for claim in claims:
            for consumer in claim.consumers if claim.allocation is not None else ():
                if consumer.resource == "pods":
                    self._by_pod.setdefault((claim.namespace, consumer.uid), []).append(claim)

    def of(self, pod: Pod) -> Sequence[ResourceClaim]:
        """The claims that `pod` has reserved; those that are made for extended resources are among them."""
        return self._by_pod.get((pod.namespace, pod.uid), ())


def _results(claims: Iterable[ResourceClaim]) -> Iterator[AllocationResult]:
    for claim in claims:
        if claim.allocation is not None:
            yield from claim.allocation.results


def _taint_text(taint: Taint) -> str:
    value = f"={taint.value}" if taint.value else ""
    return f"{taint.key}{value}:{taint.effect}"
