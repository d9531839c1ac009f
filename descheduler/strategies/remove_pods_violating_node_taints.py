"""RemovePodsViolatingNodeTaints: pods that do not tolerate a taint of the node they run on."""

from __future__ import annotations

from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import Args, LabelSelectorArg, Namespaces, check_namespaces, check_selector

__all__ = ["RemovePodsViolatingNodeTaintsArgs", "validate_args"]


class RemovePodsViolatingNodeTaintsArgs(Args, frozen=True):
    """Arguments of RemovePodsViolatingNodeTaints. A taint is listed as `key` or `key=value`.

    Source: kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removepodsviolatingnodetaints/types.go`.
    """

    namespaces: Namespaces | None = None
    label_selector: LabelSelectorArg | None = None
    include_prefer_no_schedule: bool = False
    excluded_taints: tuple[str, ...] = ()
    included_taints: tuple[str, ...] | None = None
    """None looks at every taint; an empty list, unlike None, at none."""


def validate_args(args: RemovePodsViolatingNodeTaintsArgs) -> list[ArgsProblem]:
    """Problems of `args`; taints may be included or excluded, not both."""
    problems = [*check_namespaces(args.namespaces), *check_selector("labelSelector", args.label_selector)]
    if args.included_taints and args.excluded_taints:
        problems.append(ArgsProblem(("includedTaints",), "is given next to excludedTaints; keep one of them"))
    return problems
