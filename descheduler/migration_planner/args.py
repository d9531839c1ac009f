"""Arguments of MigrationPlanner."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Annotated

import msgspec

from descheduler.eviction.placement_verification.placement_verification import landing_needs
from descheduler.policy.plugin import ArgsProblem, Needs
from descheduler.policy.shared_args import (
    Args,
    LabelSelectorArg,
    Namespaces,
    Percent,
    UInt,
    check_namespaces,
    check_percentages,
    check_selector,
)

__all__ = [
    "PENDING_PODS",
    "BalanceUtilization",
    "ConsolidateNodes",
    "DisruptionCost",
    "MakeRoom",
    "MigrationPlannerArgs",
    "NodeCost",
    "ObjectiveArgs",
    "PlannerObjective",
    "needs",
    "validate_args",
]

PENDING_PODS = "pending"
"""All pods that are pending, as `makeRoom` names them."""

_TIME_LIMIT = timedelta(seconds=30)


Weight = Annotated[float, msgspec.Meta(ge=0, le=1000)]

_TIE_BREAK = 0.01


class DisruptionCost(Args, frozen=True):
    """How much dearer than an ordinary eviction that of a pod is which is at the top of a scale: 1 is as much again.

    As they are they decide only between plans with equally many evictions. 0 leaves a scale out.
    """

    priority: Weight = _TIE_BREAK
    """The highest priority of all pods; the lowest adds nothing."""
    eviction_cost: Weight = _TIE_BREAK
    """The highest cost that pods state by the annotation `scheduling.koordinator.sh/eviction-cost`, else by
    `controller.kubernetes.io/pod-deletion-cost`. A cost below 0 makes a pod cheaper."""
    age: Weight = _TIE_BREAK
    """A pod that runs for long; one that runs for an hour is half as dear."""
    restarts: Weight = _TIE_BREAK
    """A pod that has never restarted; one that has five times adds nothing."""
    replicas: Weight = _TIE_BREAK
    """The only pod of its controller; one of four is a quarter as dear."""
    gang: Weight = _TIE_BREAK
    """A pod of a gang, whose work stops together."""
    job: Weight = _TIE_BREAK
    """A pod of a Job that has run for long and begins again; one that runs for an hour is half as dear."""


class ObjectiveArgs(Args, frozen=True):
    """Arguments of one objective."""

    def problems(self) -> Iterator[ArgsProblem]:
        """What is wrong with them as they were decoded, by the path from here."""
        yield from ()


class BalanceUtilization(ObjectiveArgs, frozen=True):
    """Brings all nodes under a target, by as few evictions as can be."""

    target_thresholds: Mapping[str, Percent] = msgspec.field(default_factory=dict)
    """Resource → percent of allocatable that pods may request of a node at most. Nodes above it give pods away; no
    other node is brought above it."""

    def problems(self) -> Iterator[ArgsProblem]:
        """Percentages out of range, or none at all."""
        yield from check_percentages("targetThresholds", self.target_thresholds)


class NodeCost(Args, frozen=True):
    """What nodes cost, in any unit. Without `prices` the value of the label is the cost itself."""

    label: str = ""
    """Key of the label that says what a node costs, such as `node.kubernetes.io/instance-type`."""
    prices: Mapping[str, float] = msgspec.field(default_factory=dict)
    """Value of the label → cost."""
    default: float = 1.0
    """The cost of nodes without a known one."""

    def problems(self) -> Iterator[ArgsProblem]:
        """A missing label, or costs below 0."""
        if not self.label:
            yield ArgsProblem(("label",), "is empty; name the label that says what a node costs")
        for value, price in sorted(self.prices.items()):
            if not _is_cost(price):
                yield ArgsProblem(("prices", value), f"{price:g} is not a number from 0 up")
        if not _is_cost(self.default):
            yield ArgsProblem(("default",), f"{self.default:g} is not a number from 0 up")


class ConsolidateNodes(ObjectiveArgs, frozen=True):
    """Empties the most nodes, each whole or not at all. Pods of DaemonSets and static pods do not count."""

    max_utilization: Mapping[str, Percent] = msgspec.field(default_factory=dict)
    """Resource → percent of allocatable that pods may request of a node that receives pods; 100 by default."""
    protected_nodes: LabelSelectorArg | None = None
    """Nodes that are not emptied; they may receive pods."""
    node_cost: NodeCost | None = None
    """What nodes cost: the most cost is emptied, not the most nodes."""

    def problems(self) -> Iterator[ArgsProblem]:
        """Percentages out of range, a bad selector or costs."""
        if self.max_utilization:
            yield from check_percentages("maxUtilization", self.max_utilization)
        yield from check_selector("protectedNodes", self.protected_nodes)
        for problem in () if self.node_cost is None else self.node_cost.problems():
            yield msgspec.structs.replace(problem, path=("nodeCost", *problem.path))


class MakeRoom(ObjectiveArgs, frozen=True):
    """Makes room for the most pending pods, of a gang all or none, by as few evictions as can be."""

    pods: str | tuple[str, ...] = msgspec.field(default=PENDING_PODS, name="for")
    """`pending` for all pending pods, which is the default, or a list of pods as `namespace/name`."""
    namespaces: Namespaces | None = None
    """Of these, the pods of some namespaces."""
    label_selector: LabelSelectorArg | None = None
    """Of these, the pods with these labels."""

    def problems(self) -> Iterator[ArgsProblem]:
        """Another word than `pending`, names without a namespace, or bad selectors."""
        if isinstance(self.pods, str) and self.pods != PENDING_PODS:
            yield ArgsProblem(("for",), f"{self.pods!r} is neither {PENDING_PODS!r} nor a list of namespace/name")
        for index, name in enumerate(() if isinstance(self.pods, str) else self.pods):
            if name.count("/") != 1:
                yield ArgsProblem(("for", index), f"{name!r} is not a pod as namespace/name")
        yield from check_namespaces(self.namespaces)
        yield from check_selector("labelSelector", self.label_selector)


class PlannerObjective(Args, frozen=True):
    """One objective: exactly one of these is set."""

    balance_utilization: BalanceUtilization | None = None
    """All nodes under a target."""
    consolidate_nodes: ConsolidateNodes | None = None
    """The most nodes emptied."""
    make_room: MakeRoom | None = None
    """Room for the most pending pods."""

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
    """Evictions of a plan at most."""
    disruption_cost: DisruptionCost = msgspec.field(default_factory=DisruptionCost)
    """What makes the eviction of one pod dearer than that of another."""
    min_gain_per_disruption: Weight = 0.0
    """How much an objective has to gain for each eviction, in what it counts, such as nodes brought under their target.
    A dearer eviction counts as several. What gains less is not worth its disruption and stays as it is."""
    workers: UInt = 1
    """Processes that search at once. Another number gives another plan; each needs the memory of the problem again."""


def validate_args(args: MigrationPlannerArgs) -> list[ArgsProblem]:
    """What is wrong with arguments as they were decoded."""
    found = [problem for index, each in enumerate(args.objectives) for problem in _check_objective(index, each)]
    if not args.objectives:
        found.append(ArgsProblem(("objectives",), "is empty; name one at least, such as balanceUtilization"))
    if not args.workers:
        found.append(ArgsProblem(("workers",), "0 processes do not search; 1 is the least"))
    if args.time_limit <= timedelta(0):
        found.append(ArgsProblem(("timeLimit",), "is not above 0"))
    return found


def _check_objective(index: int, objective: PlannerObjective) -> Iterator[ArgsProblem]:
    chosen = objective.chosen()
    if len(chosen) != 1:
        fault = "names several objectives" if chosen else "names no objective"
        keys = ", ".join(objective.__struct_encode_fields__)
        yield ArgsProblem(("objectives", index), f"{fault}; each entry is one of {keys}")
    for key, args in chosen:
        for problem in args.problems():
            yield msgspec.structs.replace(problem, path=("objectives", index, key, *problem.path))


def _is_cost(number: float) -> bool:
    return math.isfinite(number) and number >= 0


def needs(args: MigrationPlannerArgs) -> Needs:
    """What decides about landings, with the pod templates of workloads."""
    del args
    return landing_needs(owners=True) | Needs(pod_templates=True)
