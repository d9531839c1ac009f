"""RemovePodsHavingTooManyRestarts: pods whose containers restarted too often."""

from __future__ import annotations

from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import (
    Args,
    Int32,
    LabelSelectorArg,
    Namespaces,
    check_in,
    check_namespaces,
    check_selector,
)

__all__ = ["RemovePodsHavingTooManyRestartsArgs", "validate_args"]

_STATES = ("Running", "CrashLoopBackOff")


class RemovePodsHavingTooManyRestartsArgs(Args, frozen=True):
    """Arguments of RemovePodsHavingTooManyRestarts.

    Source: kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removepodshavingtoomanyrestarts/types.go`.
    """

    namespaces: Namespaces | None = None
    label_selector: LabelSelectorArg | None = None
    pod_restart_threshold: Int32 = 0
    """Restarts of all containers together from which a pod is selected; required, at least 1."""
    including_init_containers: bool = False
    states: tuple[str, ...] = ()


def validate_args(args: RemovePodsHavingTooManyRestartsArgs) -> list[ArgsProblem]:
    """Problems of `args`; a missing threshold is one, since 0 would select every pod."""
    problems = [*check_namespaces(args.namespaces), *check_selector("labelSelector", args.label_selector)]
    if args.pod_restart_threshold < 1:
        message = f"{args.pod_restart_threshold} is below 1 (restarts); the threshold is required"
        problems.append(ArgsProblem(("podRestartThreshold",), message))
    return problems + check_in("states", args.states, _STATES)
