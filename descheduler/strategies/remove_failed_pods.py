"""RemoveFailedPods: pods in phase Failed, optionally only for some reasons or exit codes."""

from __future__ import annotations

import msgspec

from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import (
    Args,
    Int32,
    LabelSelectorArg,
    Namespaces,
    UInt,
    check_namespaces,
    check_selector,
)

__all__ = ["RemoveFailedPodsArgs", "default_args", "validate_args"]

_DEFAULT_MIN_POD_LIFETIME_SECONDS = 3600


class RemoveFailedPodsArgs(Args, frozen=True):
    """Arguments of RemoveFailedPods.

    Source: kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removefailedpods/types.go`.
    """

    namespaces: Namespaces | None = None
    label_selector: LabelSelectorArg | None = None
    exclude_owner_kinds: tuple[str, ...] = ()
    min_pod_lifetime_seconds: UInt | None = None
    """Pods younger than this stay; an hour when unset."""
    reasons: tuple[str, ...] = ()
    exit_codes: tuple[Int32, ...] = ()
    including_init_containers: bool = False


def validate_args(args: RemoveFailedPodsArgs) -> list[ArgsProblem]:
    """Problems of the namespaces and the label selector."""
    return [*check_namespaces(args.namespaces), *check_selector("labelSelector", args.label_selector)]


def default_args(args: RemoveFailedPodsArgs) -> RemoveFailedPodsArgs:
    """`args` with the minimum lifetime of one hour when none is given; 0 is kept."""
    if args.min_pod_lifetime_seconds is not None:
        return args
    return msgspec.structs.replace(args, min_pod_lifetime_seconds=_DEFAULT_MIN_POD_LIFETIME_SECONDS)
