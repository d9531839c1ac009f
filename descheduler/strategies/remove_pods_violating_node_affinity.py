"""RemovePodsViolatingNodeAffinity: pods whose node no longer matches their node affinity."""

from __future__ import annotations

from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import Args, LabelSelectorArg, Namespaces, check_namespaces, check_selector

__all__ = ["RemovePodsViolatingNodeAffinityArgs", "validate_args"]


class RemovePodsViolatingNodeAffinityArgs(Args, frozen=True):
    """Arguments of RemovePodsViolatingNodeAffinity.

    Source: kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removepodsviolatingnodeaffinity/types.go`.
    """

    namespaces: Namespaces | None = None
    label_selector: LabelSelectorArg | None = None
    node_affinity_type: tuple[str, ...] = ()
    """Affinity kinds to look at, in this order. Unknown ones load, and only log an error when the plugin runs."""


def validate_args(args: RemovePodsViolatingNodeAffinityArgs) -> list[ArgsProblem]:
    """Problems of `args`; at least one affinity type has to be named, and any name passes."""
    problems = [*check_namespaces(args.namespaces), *check_selector("labelSelector", args.label_selector)]
    if not args.node_affinity_type:
        message = "is empty; name requiredDuringSchedulingIgnoredDuringExecution or its preferred counterpart"
        problems.append(ArgsProblem(("nodeAffinityType",), message))
    return problems
