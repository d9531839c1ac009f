"""Arguments of MigrationPlanner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Annotated

import msgspec

from descheduler.eviction.placement_verification.placement_verification import landing_needs
from descheduler.planner.objective_args import (
    BalanceUtilizationArgs,
    ConsolidateNodesArgs,
    DrainNodesArgs,
    MakeRoomArgs,
    ObjectiveArgs,
    ReduceCostArgs,
    ReduceFragmentationArgs,
    RepairViolationsArgs,
)
from descheduler.policy.plugin import ArgsProblem, Needs
from descheduler.policy.shared_args import Args, UInt

_MOST_WORKERS = 256
_TIME_LIMIT = timedelta(seconds=30)

_MOST_WEIGHT = 1000
Weight = Annotated[float, msgspec.Meta(ge=0, le=_MOST_WEIGHT)]

_TIE_BREAK = 0.01


class DisruptionCost(Args, frozen=True):
    """Extra cost of an eviction at the top of each scale: 1 doubles it, 0 disables the scale.

    The defaults decide only between plans with equally many evictions.
    """

    priority: Weight = _TIE_BREAK
    """The highest priority of all pods; the lowest adds nothing."""
    eviction_cost: Weight = _TIE_BREAK
    """The highest cost that pods state by the annotation `scheduling.koordinator.sh/eviction-cost`, else by
    `controller.kubernetes.io/pod-deletion-cost`. A cost below 0 makes a pod cheaper."""
    age: Weight = _TIE_BREAK
    """Long-running pods; after 1 h half of the extra cost."""
    restarts: Weight = _TIE_BREAK
    """Pods that have never restarted; after five restarts no extra cost."""
    replicas: Weight = _TIE_BREAK
    """The only pod of a controller; for one of four a quarter of the extra cost."""
    gang: Weight = _TIE_BREAK
    """Pods of a gang, whose work stops together."""
    job: Weight = _TIE_BREAK
    """Long-running pods of a Job, whose work begins again; after 1 h half of the extra cost."""


TIE_BREAKS: float = sum(msgspec.structs.astuple(DisruptionCost()))
"""The extra costs of an eviction that decide only between plans with equally many evictions, together at most."""


class PlannerObjective(Args, frozen=True):
    """One objective: exactly one of these is set."""

    balance_utilization: BalanceUtilizationArgs | None = None
    """All nodes under a target."""
    consolidate_nodes: ConsolidateNodesArgs | None = None
    """The most nodes emptied."""
    make_room: MakeRoomArgs | None = None
    """Room for the most pending pods."""
    repair_violations: RepairViolationsArgs | None = None
    """Pods that strategies select on other nodes."""
    reduce_fragmentation: ReduceFragmentationArgs | None = None
    """Free devices in pieces that pods can use."""
    drain_nodes: DrainNodesArgs | None = None
    """Some nodes without pods."""
    reduce_cost: ReduceCostArgs | None = None
    """Pods on cheaper nodes."""

    def chosen(self) -> Sequence[tuple[str, ObjectiveArgs]]:
        """The keys that are set, of which valid arguments have one, and their arguments."""
        values = zip(self.__struct_encode_fields__, msgspec.structs.astuple(self), strict=True)
        return [(key, value) for key, value in values if value is not None]


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
    """Evictions in the name of the plugin at most, for all objectives and in all rounds of a run; those of pods that
    leave with their gang included."""
    disruption_cost: DisruptionCost = msgspec.field(default_factory=DisruptionCost)
    """Extra costs of evictions, by which some pods are spared."""
    min_gain_per_disruption: Weight = 0.0
    """How much an objective has to gain for each eviction, in what it counts, such as nodes brought under their target.
    A dearer eviction counts as several. What gains less is not worth its disruption and stays as it is."""
    choose_nodes: bool = False
    """Whether the plan chooses the nodes of replacement pods. MigrationController holds room there by Reservations
    (`reservationProvider: koordinator`). By default the scheduler chooses."""
    workers: UInt = 1
    """Processes that search at once. Another number gives another plan; each needs the memory of the problem again."""


def validate_args(args: MigrationPlannerArgs) -> list[ArgsProblem]:
    """What is wrong with arguments as they were decoded."""
    found = [problem for index, each in enumerate(args.objectives) for problem in _check_objective(index, each)]
    if not args.objectives:
        found.append(ArgsProblem(("objectives",), "is empty; name one at least, such as balanceUtilization"))
    if not args.workers:
        found.append(ArgsProblem(("workers",), "0 is too low: must be at least 1"))
    if args.workers > _MOST_WORKERS:
        found.append(ArgsProblem(("workers",), f"{args.workers} is above {_MOST_WORKERS}"))
    if args.time_limit <= timedelta(0):
        found.append(ArgsProblem(("timeLimit",), "is not above 0"))
    return [*found, *_check_weights(args)]


def warnings(args: MigrationPlannerArgs) -> list[ArgsProblem]:
    """What its objectives warn of."""
    return [
        msgspec.structs.replace(warning, path=("objectives", index, key, *warning.path))
        for index, objective in enumerate(args.objectives)
        for key, chosen in objective.chosen()
        for warning in chosen.warnings()
    ]


def profile_problems(args: MigrationPlannerArgs, has_reservations: bool) -> Iterator[ArgsProblem]:
    """That nothing in the profile holds room on the nodes that the plan is to choose."""
    if not args.choose_nodes or has_reservations:
        return
    yield ArgsProblem(
        ("chooseNodes",),
        "needs Reservations: use a DeschedulerConfiguration that enables MigrationController with"
        " reservationProvider: koordinator and defaultJobMode: ReservationFirst",
    )


def _check_weights(args: MigrationPlannerArgs) -> Iterator[ArgsProblem]:
    """The decoder takes every number, since the percentages of upstream have messages of their own."""
    costs = args.disruption_cost
    scales = zip(costs.__struct_encode_fields__, msgspec.structs.astuple(costs), strict=True)
    weights: list[tuple[tuple[str, ...], float]] = [(("disruptionCost", scale), weight) for scale, weight in scales]
    for path, weight in [*weights, (("minGainPerDisruption",), args.min_gain_per_disruption)]:
        if not 0 <= weight <= _MOST_WEIGHT:
            yield ArgsProblem(path, f"{weight:g} is not a number from 0 to {_MOST_WEIGHT}")


def _check_objective(index: int, objective: PlannerObjective) -> Iterator[ArgsProblem]:
    chosen = objective.chosen()
    if len(chosen) != 1:
        fault = "names several objectives" if chosen else "names no objective"
        keys = ", ".join(objective.__struct_encode_fields__)
        # A key with nothing behind it is null in YAML, which is decoded as the key left out.
        empty = "" if chosen else "; one without arguments is written with {}, such as consolidateNodes: {}"
        yield ArgsProblem(("objectives", index), f"{fault}; each entry is one of {keys}{empty}")
    for key, args in chosen:
        for problem in args.problems():
            yield msgspec.structs.replace(problem, path=("objectives", index, key, *problem.path))


def needs(args: MigrationPlannerArgs) -> Needs:
    """What decides about landings, with the pod templates of workloads, and what the objectives look at."""
    found = landing_needs(owners=True) | Needs(pod_templates=True)
    for objective in args.objectives:
        for _, chosen in objective.chosen():
            found |= chosen.needs()
    return found


def used_strategies(args: MigrationPlannerArgs) -> Mapping[tuple[str | int, ...], str]:
    """The strategies that objectives run, by the path that names them."""
    return {
        ("objectives", number, "repairViolations", "strategies", index): name
        for number, objective in enumerate(args.objectives)
        if objective.repair_violations is not None
        for index, name in enumerate(objective.repair_violations.strategies)
    }
