"""RemovePodsViolatingTopologySpreadConstraint: pods that make a topology domain too full."""

from __future__ import annotations

import msgspec

from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import (
    Args,
    LabelSelectorArg,
    Namespaces,
    check_in,
    check_namespaces,
    check_selector,
)

__all__ = ["RemovePodsViolatingTopologySpreadConstraintArgs", "default_args", "validate_args"]

_CONSTRAINTS = ("DoNotSchedule", "ScheduleAnyway")


class RemovePodsViolatingTopologySpreadConstraintArgs(Args, frozen=True):
    """Arguments of RemovePodsViolatingTopologySpreadConstraint.

    Source: kubernetes-sigs/descheduler 0.36
    `pkg/framework/plugins/removepodsviolatingtopologyspreadconstraint/types.go`.
    """

    namespaces: Namespaces | None = None
    label_selector: LabelSelectorArg | None = None
    constraints: tuple[str, ...] = ()
    """Which `whenUnsatisfiable` values count; `DoNotSchedule` when empty."""
    topology_balance_node_fit: bool | None = None
    """Whether only pods that fit a node of a domain below average are moved; True when unset."""


def validate_args(args: RemovePodsViolatingTopologySpreadConstraintArgs) -> list[ArgsProblem]:
    """Problems of the namespaces, the label selector and the list of constraints."""
    return [
        *check_namespaces(args.namespaces),
        *check_selector("labelSelector", args.label_selector),
        *check_in("constraints", args.constraints, _CONSTRAINTS),
    ]


def default_args(
    args: RemovePodsViolatingTopologySpreadConstraintArgs,
) -> RemovePodsViolatingTopologySpreadConstraintArgs:
    """`args` with node fit on unless said otherwise, and hard constraints only when none are named."""
    return msgspec.structs.replace(
        args,
        constraints=args.constraints or ("DoNotSchedule",),
        topology_balance_node_fit=args.topology_balance_node_fit is not False,
    )
