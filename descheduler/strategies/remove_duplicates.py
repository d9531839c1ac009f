"""RemoveDuplicates: several pods of one owner on one node, when they could be spread."""

from __future__ import annotations

from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import Args, Namespaces, check_namespaces

__all__ = ["RemoveDuplicatesArgs", "validate_args"]


class RemoveDuplicatesArgs(Args, frozen=True):
    """Arguments of RemoveDuplicates; there is no label selector.

    Source: kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removeduplicates/types.go`.
    """

    namespaces: Namespaces | None = None
    exclude_owner_kinds: tuple[str, ...] = ()


def validate_args(args: RemoveDuplicatesArgs) -> list[ArgsProblem]:
    """Problems of the namespaces."""
    return check_namespaces(args.namespaces)
