"""Arguments of MigrationPlanner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta

import msgspec

from descheduler.eviction.placement_verification.placement_verification import landing_needs
from descheduler.policy.plugin import ArgsProblem, Needs
from descheduler.policy.shared_args import Args, Percent, UInt, check_percentages

__all__ = ["BalanceUtilization", "MigrationPlannerArgs", "PlannerObjective", "needs", "validate_args"]

_TIME_LIMIT = timedelta(seconds=30)


class BalanceUtilization(Args, frozen=True):
    """Brings all nodes under a target, by as few evictions as can be."""

    target_thresholds: Mapping[str, Percent] = msgspec.field(default_factory=dict)
    """Resource → percent of allocatable that pods may request of a node at most. Nodes above it give pods away; no
    other node is brought above it."""


class PlannerObjective(Args, frozen=True):
    """One objective: exactly one of these is set."""

    balance_utilization: BalanceUtilization | None = None
    """All nodes under a target."""


class MigrationPlannerArgs(Args, frozen=True):
    """Arguments of MigrationPlanner."""

    objectives: tuple[PlannerObjective, ...] = ()
    """What the plan is for, the most important first."""
    time_limit: timedelta = _TIME_LIMIT
    """How long the planner searches for each objective at most; the best plan so far is used."""
    work_limit: UInt = 0
    """How much it searches at most, in units of about a second that are the same on every machine, so that equal input
    gives equal plans where the time limit is not reached. 0 does not limit it."""
    seed: UInt = 0
    """Another seed searches in another order."""
    max_evictions: UInt | None = None
    """Evictions of a plan at most."""


def validate_args(args: MigrationPlannerArgs) -> list[ArgsProblem]:
    """What is wrong with arguments as they were decoded."""
    found = [problem for index, each in enumerate(args.objectives) for problem in _check_objective(index, each)]
    if not args.objectives:
        found.append(ArgsProblem(("objectives",), "is empty; name one at least, such as balanceUtilization"))
    if args.time_limit <= timedelta(0):
        found.append(ArgsProblem(("timeLimit",), "is not above 0"))
    return found


def _check_objective(index: int, objective: PlannerObjective) -> Iterator[ArgsProblem]:
    balance = objective.balance_utilization
    if balance is None:
        yield ArgsProblem(("objectives", index), "names no objective; set balanceUtilization")
        return
    path = ("objectives", index, "balanceUtilization", "targetThresholds")
    for problem in check_percentages("targetThresholds", balance.target_thresholds):
        yield msgspec.structs.replace(problem, path=(*path, *problem.path[1:]))


def needs(args: MigrationPlannerArgs) -> Needs:
    """What decides about landings, with the pod templates of workloads."""
    del args
    return landing_needs(owners=True) | Needs(pod_templates=True)
