"""RemovePodsViolatingInterPodAntiAffinity: pods that share a node or zone with a pod they must keep away from."""

from __future__ import annotations

from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import Args, LabelSelectorArg, Namespaces, check_namespaces, check_selector

__all__ = ["RemovePodsViolatingInterPodAntiAffinityArgs", "validate_args"]


class RemovePodsViolatingInterPodAntiAffinityArgs(Args, frozen=True):
    """Arguments of RemovePodsViolatingInterPodAntiAffinity; both restrict the conflict partners too.

    Source: kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removepodsviolatinginterpodantiaffinity/types.go`.
    """

    namespaces: Namespaces | None = None
    label_selector: LabelSelectorArg | None = None


def validate_args(args: RemovePodsViolatingInterPodAntiAffinityArgs) -> list[ArgsProblem]:
    """Problems of the namespaces and the label selector."""
    return [*check_namespaces(args.namespaces), *check_selector("labelSelector", args.label_selector)]
