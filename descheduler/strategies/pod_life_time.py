"""PodLifeTime: pods that are too old, or in a state, condition or exit code they should not stay in."""

from __future__ import annotations

from descheduler.cluster.kinds import POD_CONDITIONS
from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import (
    Args,
    Int32,
    LabelSelectorArg,
    Namespaces,
    UInt,
    check_in,
    check_namespaces,
    check_selector,
)

__all__ = ["ConditionFilter", "OwnerKinds", "PodLifeTimeArgs", "needed_kinds", "validate_args"]

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
    exclude: tuple[str, ...] = ()


class ConditionFilter(Args, frozen=True):
    """A pod condition to look for; every field that is given must agree with the same condition."""

    type: str = ""
    status: str = ""
    reason: str = ""
    min_time_since_last_transition_seconds: UInt | None = None


class PodLifeTimeArgs(Args, frozen=True):
    """Arguments of PodLifeTime; the categories that are given are ANDed.

    Source: kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/podlifetime/types.go`.
    """

    namespaces: Namespaces | None = None
    label_selector: LabelSelectorArg | None = None
    owner_kinds: OwnerKinds | None = None
    max_pod_life_time_seconds: UInt | None = None
    """Pods of more than this many whole seconds are selected; 0 means from one second on."""
    states: tuple[str, ...] = ()
    conditions: tuple[ConditionFilter, ...] = ()
    exit_codes: tuple[Int32, ...] = ()
    including_init_containers: bool = False
    including_ephemeral_containers: bool = False


def needed_kinds(args: PodLifeTimeArgs) -> frozenset[str]:
    """Pod conditions, where some are asked for."""
    return frozenset((POD_CONDITIONS,)) if args.conditions else frozenset()


def validate_args(args: PodLifeTimeArgs) -> list[ArgsProblem]:
    """Problems of `args`: contradictory lists, unknown states, empty conditions, or nothing to select by."""
    problems = [*check_namespaces(args.namespaces), *check_selector("labelSelector", args.label_selector)]
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
            ArgsProblem((), "selects by nothing; give maxPodLifeTimeSeconds, states, conditions or exitCodes")
        )
    return problems
