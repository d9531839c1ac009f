"""PodLifeTime: evicts pods that are too old, or in a given state, condition or with a given exit code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod, PodCondition
from descheduler.model.verdict import EvictionLimit
from descheduler.policy.plugin import ArgsProblem, Needs
from descheduler.policy.shared_args import Args, Int32, UInt, check_in, one_of
from descheduler.strategies.framework import StrategyError
from descheduler.strategies.shared.pod_filter import PodFilterArgs, pod_filter
from descheduler.strategies.shared.pods import age_seconds, age_words, exit_codes, reasons, sort_oldest_first
from descheduler.strategies.shared.rules import Bound, Match, Rule, found
from descheduler.strategies.shared.selection import SelectedByState, Selection

_PHASES = ("Running", "Pending", "Succeeded", "Failed", "Unknown")
_POD_REASONS = ("NodeAffinity", "NodeLost", "Shutdown", "UnexpectedAdmissionError")
_WAITING_REASONS = (
    "PodInitializing",
    "ContainerCreating",
    "ImagePullBackOff",
    "CrashLoopBackOff",
    "CreateContainerConfigError",
    "ErrImagePull",
    "CreateContainerError",
    "InvalidImageName",
)
_TERMINATED_REASONS = (
    "OOMKilled",
    "Error",
    "Completed",
    "DeadlineExceeded",
    "Evicted",
    "ContainerCannotRun",
    "StartError",
)
_STATES = (*_PHASES, *_POD_REASONS, *_WAITING_REASONS, *_TERMINATED_REASONS)


class OwnerKinds(Args, frozen=True):
    """Owner kinds a pod must have one of (`include`), or must have none of (`exclude`)."""

    include: tuple[str, ...] = ()
    """Kinds one of which must own the pod."""
    exclude: tuple[str, ...] = ()
    """Kinds of which none owns the pod."""


class ConditionFilter(Args, frozen=True):
    """A pod condition to look for; every field that is given must agree with the same condition."""

    type: str = ""
    """Such as `Ready`."""
    status: str = ""
    """Such as `False`."""
    reason: str = ""
    """Such as `ContainersNotReady`."""
    min_time_since_last_transition_seconds: UInt | None = None
    """Least number of whole seconds since the condition changed."""


class PodLifeTimeArgs(PodFilterArgs, frozen=True):
    """Arguments of PodLifeTime; the categories that are given are ANDed.

    Source: kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/podlifetime/types.go`.
    """

    owner_kinds: OwnerKinds | None = None
    """Kinds of owners that pods must, or must not, have."""
    max_pod_life_time_seconds: UInt | None = None
    """Pods of more than this many whole seconds are selected; 0 means from one second on."""
    states: tuple[Annotated[str, one_of(_STATES)], ...] = ()
    """Phases, reasons of the pod, and reasons for which containers wait or terminated; one of them must hold."""
    conditions: tuple[ConditionFilter, ...] = ()
    """Conditions of the pod, one of which must hold."""
    exit_codes: tuple[Int32, ...] = ()
    """Exit codes, one of which a terminated container must have."""
    including_init_containers: bool = False
    """Whether `states` and `exitCodes` look at init containers too."""
    including_ephemeral_containers: bool = False
    """Whether `states` looks at ephemeral containers too."""


def needs(args: PodLifeTimeArgs) -> Needs:
    """Pod conditions, where some are asked for."""
    return Needs(pod_conditions=bool(args.conditions))


def validate_args(args: PodLifeTimeArgs) -> list[ArgsProblem]:
    """Problems of `args`: contradictory lists, unknown states, empty conditions, or nothing to select by."""
    problems = args.filter_problems()
    if args.owner_kinds and args.owner_kinds.include and args.owner_kinds.exclude:
        problems.append(ArgsProblem(("ownerKinds",), "include and exclude are both given; keep one of them"))
    problems += check_in("states", args.states, _STATES)
    problems += [
        ArgsProblem(("conditions", index), "is empty; give type, status, reason or minTimeSinceLastTransitionSeconds")
        for index, condition in enumerate(args.conditions)
        if condition == ConditionFilter()
    ]
    if args.max_pod_life_time_seconds is None and not (args.states or args.conditions or args.exit_codes):
        problems.append(
            ArgsProblem((), "has no criterion; give maxPodLifeTimeSeconds, states, conditions or exitCodes")
        )
    return problems


class PodLifeTime(SelectedByState):
    """Mirrors kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/podlifetime/pod_lifetime.go`."""

    def __init__(self, args: PodLifeTimeArgs, handle: StrategyHandle) -> None:
        super().__init__(handle)
        self._args = args

    def deschedule(self, nodes: Sequence[Node]) -> None:
        """Selects pods of any phase on all `nodes`, then evicts them, the oldest first.

        It ends only when the limit of the run is reached; after any other refusal it tries the next pod. Raises
        StrategyError when conditions are asked for and the snapshot was taken without them.
        """
        selection = self._selection = Selection(_rules(self._args, self._now))
        selected = (pod for node in nodes for pod in selection.of(self._view.pods_on(node.name)))
        victims = [pod for pod in selected if self._evictor.lets_go(pod, selection.reason)]
        for pod in sort_oldest_first(victims):
            if self._evictor.request(pod, selection.reason(pod)).limit is EvictionLimit.TOTAL:
                return


def _rules(args: PodLifeTimeArgs, now: datetime) -> Iterator[Rule]:
    """Whom the plugin looks at, then the categories that are given; a pod is selected when it is in all of them."""
    yield from pod_filter(args.namespaces, args.label_selector)
    if args.max_pod_life_time_seconds is not None:
        yield _too_old(args.max_pod_life_time_seconds, now)
    if args.states:
        yield _in_state(args)
    if args.owner_kinds is not None and (args.owner_kinds.include or args.owner_kinds.exclude):
        yield _owned(args.owner_kinds)
    if args.conditions:
        yield _in_condition(args.conditions, now)
    if args.exit_codes:
        yield _exited(args)


def _too_old(allowed_seconds: int, now: datetime) -> Rule:
    return Bound(
        key="maxPodLifeTimeSeconds",
        limit=allowed_seconds,
        least=allowed_seconds + 1,
        measure=lambda pod: age_seconds(pod, now),
        unit="seconds",
        words=age_words,
        none="no pod is old enough",
        superlative="oldest",
    )


def _in_state(args: PodLifeTimeArgs) -> Rule:
    states = frozenset(args.states)
    init, ephemeral = args.including_init_containers, args.including_ephemeral_containers
    wanted = f"(states: {', '.join(args.states)})"

    def find(pod: Pod) -> str | None:
        if pod.phase in states:
            return f"phase {pod.phase} {wanted}"
        for reason in reasons(pod, init=init, ephemeral=ephemeral):
            if reason in states:
                return f"state {reason} {wanted}"
        return None

    def miss(pod: Pod) -> str:
        return f"{', '.join([f'phase {pod.phase}', *reasons(pod, init=init, ephemeral=ephemeral)])} {wanted}"

    return found("states", find, miss=miss, nobody=f"no pod is in one of the states {wanted}")


def _owned(kinds: OwnerKinds) -> Rule:
    include, exclude = frozenset(kinds.include), frozenset(kinds.exclude)
    key = "ownerKinds.include" if include else "ownerKinds.exclude"
    wanted = f"({key}: {', '.join(kinds.include or kinds.exclude)})"

    def is_met(pod: Pod) -> bool:
        if include:
            return any(owner.kind in include for owner in pod.owners)
        return not any(owner.kind in exclude for owner in pod.owners)

    def miss(pod: Pod) -> str:
        owners = f"owned by {', '.join(owner.kind for owner in pod.owners)}" if pod.owners else "has no owner"
        return f"{owners} {wanted}"

    return Match(key, is_met, miss, f"no pod has an included owner {wanted}")


def _in_condition(wanted: Sequence[ConditionFilter], now: datetime) -> Rule:
    def find(pod: Pod) -> str | None:
        if pod.conditions is None:
            raise StrategyError("the snapshot was taken without the conditions of pods; take one that has them")
        for condition in pod.conditions:
            if any(_agrees(condition, entry, now) for entry in wanted):
                stated = f"{condition.type}={condition.status} {condition.reason}".rstrip()
                return f"condition {stated} (conditions)"
        return None

    return found(
        "conditions",
        find,
        miss=lambda _: "no condition of the pod is one of the policy (conditions)",
        nobody="no pod has a condition of the policy (conditions)",
    )


def _agrees(condition: PodCondition, wanted: ConditionFilter, now: datetime) -> bool:
    """Whether `condition` agrees on every field that is given; its age must be known to be compared."""
    if (wanted.type and wanted.type != condition.type) or (wanted.status and wanted.status != condition.status):
        return False
    if wanted.reason and wanted.reason != condition.reason:
        return False
    least_seconds = wanted.min_time_since_last_transition_seconds
    if least_seconds is None:
        return True
    since = condition.transitioned_at
    return since is not None and since <= now and int((now - since).total_seconds()) >= least_seconds


def _exited(args: PodLifeTimeArgs) -> Rule:
    wanted, init = frozenset(args.exit_codes), args.including_init_containers
    listed = f"(exitCodes: {', '.join(map(str, args.exit_codes))})"

    def find(pod: Pod) -> str | None:
        code = next((code for code in exit_codes(pod, init=init) if code in wanted), None)
        return None if code is None else f"a container exited with {code} {listed}"

    return found(
        "exitCodes",
        find,
        miss=lambda _: f"no container exited with such a code {listed}",
        nobody=f"no pod has a container that exited with such a code {listed}",
    )
