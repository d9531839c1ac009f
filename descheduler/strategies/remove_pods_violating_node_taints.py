"""RemovePodsViolatingNodeTaints: evicts pods that do not tolerate a taint of their node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod, PodSpec
from descheduler.model.selection.taints import NO_SCHEDULE, PREFER_NO_SCHEDULE, Taint, Tolerance
from descheduler.plan.facts import PluginFacts
from descheduler.policy.plugin import ArgsProblem
from descheduler.strategies.shared.pod_filter import PodFilterArgs, pod_filter
from descheduler.strategies.shared.pods import FINISHED
from descheduler.strategies.shared.rules import Match, Rule
from descheduler.strategies.shared.selection import Selection, evict_from_node


class RemovePodsViolatingNodeTaintsArgs(PodFilterArgs, frozen=True):
    """Arguments of RemovePodsViolatingNodeTaints. A taint is listed as `key` or `key=value`.

    Source: kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removepodsviolatingnodetaints/types.go`.
    """

    include_prefer_no_schedule: bool = False
    """Whether taints of effect `PreferNoSchedule` count too."""
    excluded_taints: tuple[str, ...] = ()
    """Taints that do not count."""
    included_taints: tuple[str, ...] | None = None
    """None looks at every taint; an empty list, unlike None, at none."""


def validate_args(args: RemovePodsViolatingNodeTaintsArgs) -> list[ArgsProblem]:
    """Problems of `args`; taints may be included or excluded, not both."""
    problems = args.filter_problems()
    if args.included_taints and args.excluded_taints:
        problems.append(ArgsProblem(("includedTaints",), "cannot be used with excludedTaints; keep one of them"))
    return problems


class RemovePodsViolatingNodeTaints:
    """Mirrors kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removepodsviolatingnodetaints/node_taint.go`."""

    JUDGES_PODS_ALONE = True

    def __init__(self, args: RemovePodsViolatingNodeTaintsArgs, handle: StrategyHandle) -> None:
        self._args = args
        self._excluded = frozenset(args.excluded_taints)
        self._included = None if args.included_taints is None else frozenset(args.included_taints)
        self._view = handle.view
        self._evictor = handle.evictor
        self._tolerances: dict[int, tuple[PodSpec, Tolerance]] = {}
        self._taints: dict[str, Sequence[Taint]] = {}
        self._selection = Selection()

    def deschedule(self, nodes: Sequence[Node]) -> None:
        """Evicts node by node every active pod that does not tolerate all relevant taints of its node."""
        self._selection = Selection(self._rules())
        found = ((node.name, [taint for taint in node.taints if self._is_relevant(taint)]) for node in nodes)
        self._taints = {name: taints for name, taints in found if taints}
        for name in self._taints:
            selected = self._selection.of(self._view.active_pods_on(name))
            victims = [pod for pod in selected if self._evictor.lets_go(pod, self._selection.reason)]
            if not evict_from_node(self._evictor, victims, self._selection.reason):
                return

    def facts(self) -> PluginFacts:
        """How many nodes have taints that count, and what left the pods of these nodes out."""
        facts = replace(self._selection.facts(), counts={"taintedNodes": len(self._taints)})
        return facts if self._taints else replace(facts, why_nothing=f"no node has a taint {self._that_counts()}")

    def why_not(self, pod: Pod) -> str:
        """That its node has no taints that count, or the first rule that `pod` does not meet."""
        if pod.node_name not in self._taints:
            return f"node {pod.node_name} has no taint {self._that_counts()}"
        return FINISHED if pod.is_terminal else self._selection.why_not(pod)

    def selects_again(self, pod: Pod, arrival: Pod, after: ClusterView) -> str:
        """Which taint the pod does not tolerate there. One of effect `PreferNoSchedule` is better than `NoSchedule`."""
        if arrival.node_name not in self._taints or self._selection.why_not(arrival):
            return ""
        is_better = self._is_kept_off(pod) and not self._is_kept_off(arrival)
        return "" if is_better else self._selection.reason(arrival)

    def _is_kept_off(self, pod: Pod) -> bool:
        """Whether the pod does not tolerate a taint of effect `NoSchedule` of its node."""
        taints = (taint for taint in self._taints[pod.node_name] if taint.effect == NO_SCHEDULE)
        return not self._tolerance_of(pod).tolerates_all(taints)

    def _rules(self) -> Iterator[Rule]:
        yield from pod_filter(self._args.namespaces, self._args.label_selector)
        yield Match(
            "spec.tolerations",
            lambda pod: not self._tolerance_of(pod).tolerates_all(self._taints[pod.node_name]),
            lambda pod: f"tolerates the taints of node {pod.node_name}",
            "every pod tolerates the taints of its node",
            self._sentence,
        )

    def _sentence(self, pod: Pod) -> str:
        tolerance = self._tolerance_of(pod)
        taint = next(taint for taint in self._taints[pod.node_name] if not tolerance.tolerates(taint))
        value = f"={taint.value}" if taint.value else ""
        return f"does not tolerate taint {taint.key}{value}:{taint.effect} of node {pod.node_name}"

    def _that_counts(self) -> str:
        """Which taints count, as the end of a sentence."""
        args = self._args
        effects = "NoSchedule or PreferNoSchedule" if args.include_prefer_no_schedule else "NoSchedule"
        given = [] if args.included_taints is None else [f"includedTaints: {', '.join(args.included_taints) or 'none'}"]
        given += [f"excludedTaints: {', '.join(args.excluded_taints)}"] if args.excluded_taints else []
        return f"of effect {effects}" + (f" ({'; '.join(given)})" if given else "")

    def _tolerance_of(self, pod: Pod) -> Tolerance:
        """What the pod tolerates, found once for all that share its spec, which is kept: its identity stands for it."""
        known = self._tolerances.get(id(pod.spec))
        if known is None:
            known = self._tolerances[id(pod.spec)] = pod.spec, Tolerance(pod.spec.tolerations)
        return known[1]

    def _is_relevant(self, taint: Taint) -> bool:
        counts_preferred = self._args.include_prefer_no_schedule
        if taint.effect != NO_SCHEDULE and not (taint.effect == PREFER_NO_SCHEDULE and counts_preferred):
            return False
        names = {taint.key, f"{taint.key}={taint.value}"} if taint.value else {taint.key}
        if not self._excluded.isdisjoint(names):
            return False
        return self._included is None or not self._included.isdisjoint(names)
