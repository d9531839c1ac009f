"""Arguments of MigrationPlanner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Annotated

import msgspec

from descheduler.eviction.placement_verification.placement_verification import landing_needs
from descheduler.model.koordinator.node_metric import NODE_METRIC_KIND, RAW_ALLOCATABLE_ANNOTATION
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
    one_of,
)

__all__ = [
    "MOST_NODE_COST",
    "NODE_METRIC",
    "PENDING_PODS",
    "SHARED_GPUS",
    "BalanceUtilizationArgs",
    "ConsolidateNodesArgs",
    "DisruptionCost",
    "MakeRoomArgs",
    "MeasuredUtilization",
    "MigrationPlannerArgs",
    "NodeCost",
    "ObjectiveArgs",
    "PlannerObjective",
    "ReduceFragmentationArgs",
    "RepairViolationsArgs",
    "needs",
    "profile_problems",
    "used_strategies",
    "validate_args",
]

PENDING_PODS = "pending"
"""All pods that are pending, as `makeRoom` names them."""

SHARED_GPUS = "koordinator.sh/gpu"
"""GPUs that pods share, as `reduceFragmentation` names them."""

KUBERNETES_METRICS, NODE_METRIC = "KubernetesMetrics", "NodeMetric"
_SOURCES = (KUBERNETES_METRICS, NODE_METRIC)
MOST_NODE_COST = 1_000_000_000
"""Costs of nodes are below: those of a whole cluster have to fit 64 bits, in thousandths."""

_NO_COST = f"is not a number from 0 to below {MOST_NODE_COST:,}"
_EXPIRATION_SECONDS = 180
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


class ObjectiveArgs(Args, frozen=True):
    """Arguments of one objective."""

    def problems(self) -> Iterator[ArgsProblem]:
        """What is wrong with them as they were decoded, by the path from here."""
        yield from ()

    def needs(self) -> Needs:
        """What is read of a cluster beside what every objective needs."""
        return Needs()


class MeasuredUtilization(Args, frozen=True):
    """Where measured usage comes from."""

    source: Annotated[str, one_of(_SOURCES)] = ""
    """`KubernetesMetrics`: the metrics server. `NodeMetric`: Koordinator's agent koordlet. Prometheus is not a source,
    because it does not measure pods."""
    node_metric_expiration_seconds: UInt = _EXPIRATION_SECONDS
    """A NodeMetric that is this old counts as missing."""

    def problems(self) -> Iterator[ArgsProblem]:
        """An unknown source, or one that is always too old."""
        if self.source not in _SOURCES:
            yield ArgsProblem(("source",), f"{self.source!r} is not one of {', '.join(_SOURCES)}")
        if not self.node_metric_expiration_seconds:
            yield ArgsProblem(("nodeMetricExpirationSeconds",), "0 is not above 0")


class BalanceUtilizationArgs(ObjectiveArgs, frozen=True):
    """Brings all nodes under a target, by as few evictions as can be."""

    target_thresholds: Mapping[str, Percent] = msgspec.field(default_factory=dict)
    """Resource → percent of allocatable that pods may request of a node at most. Nodes above it give pods away; no
    other node is brought above it."""
    use_deviation_thresholds: bool = False
    """Whether the targets are distances above the average of all nodes, as in LowNodeUtilization."""
    metrics_utilization: MeasuredUtilization | None = None
    """The targets are for measured usage, not for requests; requests must fit the nodes as ever. Nodes and pods that
    were not measured are left as they are."""

    def problems(self) -> Iterator[ArgsProblem]:
        """Percentages out of range, or none at all; an unknown source."""
        yield from check_percentages("targetThresholds", self.target_thresholds)
        for problem in () if self.metrics_utilization is None else self.metrics_utilization.problems():
            yield msgspec.structs.replace(problem, path=("metricsUtilization", *problem.path))

    def needs(self) -> Needs:
        """The measurements."""
        metrics = self.metrics_utilization
        if metrics is None:
            return Needs()
        if metrics.source == NODE_METRIC:
            return Needs(frozenset({NODE_METRIC_KIND}), annotations=frozenset({RAW_ALLOCATABLE_ANNOTATION}))
        return Needs(frozenset({"NodeMetrics.metrics.k8s.io", "PodMetrics.metrics.k8s.io"}))


class RepairViolationsArgs(ObjectiveArgs, frozen=True):
    """Gives another node to the most pods that strategies select, with the fewest evictions; other pods make room for
    them where that helps."""

    strategies: tuple[str, ...] = ()
    """Names of deschedule and balance plugins, which run for their selection alone, with the arguments that they have
    in the `pluginConfig` of the profile. They need not be enabled."""
    weights: Mapping[str, UInt] = msgspec.field(default_factory=dict)
    """Strategy → what each pod counts that it selects; 1 for those that are not named. Of several strategies that
    select a pod the largest counts."""

    def problems(self) -> Iterator[ArgsProblem]:
        """No strategy, one that is named twice or that is this plugin, weights of others or of 0."""
        if not self.strategies:
            yield ArgsProblem(("strategies",), "is empty; name one at least, such as RemovePodsViolatingNodeTaints")
        for index, name in enumerate(self.strategies):
            if name == "MigrationPlanner":
                yield ArgsProblem(("strategies", index), "MigrationPlanner cannot run itself")
            elif name in self.strategies[:index]:
                yield ArgsProblem(("strategies", index), f"{name} is named twice")
        for name, weight in self.weights.items():
            if name not in self.strategies:
                yield ArgsProblem(("weights", name), "is not one of strategies")
            elif not weight:
                yield ArgsProblem(("weights", name), "0 is not above 0")


class ReduceFragmentationArgs(ObjectiveArgs, frozen=True):
    """Makes the free capacity of a resource usable by pods of the sizes that the cluster runs, with few evictions."""

    resource: str = ""
    """An extended resource that pods request whole, such as `nvidia.com/gpu`; `koordinator.sh/gpu` for GPUs one by one,
    of which pods request parts, whole ones or several by any of Koordinator's resources."""

    def problems(self) -> Iterator[ArgsProblem]:
        """No resource, or one of which pods request any part."""
        if "/" not in self.resource:
            yield ArgsProblem(("resource",), f"{self.resource!r} is not an extended resource such as nvidia.com/gpu")
        elif self.resource.startswith("koordinator.sh/") and self.resource != SHARED_GPUS:
            message = f"pods can share devices of {self.resource}; {SHARED_GPUS} stands for GPUs that pods share"
            yield ArgsProblem(("resource",), message)


class NodeCost(Args, frozen=True):
    """What nodes cost, in any unit. Without `prices` the value of the label is the cost itself."""

    label: str = ""
    """Key of the label that says what a node costs, such as `node.kubernetes.io/instance-type`."""
    prices: Mapping[str, float] = msgspec.field(default_factory=dict)
    """Value of the label → cost."""
    default: float = 1.0
    """The cost of nodes without a known one."""

    def problems(self) -> Iterator[ArgsProblem]:
        """A missing label, or costs that are out of range."""
        if not self.label:
            yield ArgsProblem(("label",), "is empty; name the label that says what a node costs")
        for value, price in sorted(self.prices.items()):
            if not _is_cost(price):
                yield ArgsProblem(("prices", value), f"{price:g} {_NO_COST}")
        if not _is_cost(self.default):
            yield ArgsProblem(("default",), f"{self.default:g} {_NO_COST}")


class ConsolidateNodesArgs(ObjectiveArgs, frozen=True):
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


class MakeRoomArgs(ObjectiveArgs, frozen=True):
    """Makes room for the most pending pods, of a gang all or none, by as few evictions as can be."""

    pods: str | tuple[str, ...] = msgspec.field(default=PENDING_PODS, name="for")
    """`pending` for all pending pods, which is the default, or a list of pods as `namespace/name`."""
    namespaces: Namespaces | None = None
    """Of these, the pods of some namespaces."""
    label_selector: LabelSelectorArg | None = None
    """Of these, the pods with these labels."""

    def problems(self) -> Iterator[ArgsProblem]:
        """Another word than `pending`, names that are not of a namespace and a pod, or bad selectors."""
        if isinstance(self.pods, str) and self.pods != PENDING_PODS:
            yield ArgsProblem(("for",), f"{self.pods!r} is neither {PENDING_PODS!r} nor a list of namespace/name")
        for index, name in enumerate(() if isinstance(self.pods, str) else self.pods):
            namespace, _, pod_name = name.partition("/")
            if not namespace or not pod_name or "/" in pod_name:
                yield ArgsProblem(("for", index), f"{name!r} is not a pod as namespace/name")
        yield from check_namespaces(self.namespaces)
        yield from check_selector("labelSelector", self.label_selector)


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
        found.append(ArgsProblem(("workers",), "0 processes do not search; 1 is the least"))
    if args.workers > _MOST_WORKERS:
        found.append(ArgsProblem(("workers",), f"{args.workers} is above {_MOST_WORKERS}"))
    if args.time_limit <= timedelta(0):
        found.append(ArgsProblem(("timeLimit",), "is not above 0"))
    return [*found, *_check_weights(args)]


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
        yield ArgsProblem(("objectives", index), f"{fault}; each entry is one of {keys}")
    for key, args in chosen:
        for problem in args.problems():
            yield msgspec.structs.replace(problem, path=("objectives", index, key, *problem.path))


def _is_cost(number: float) -> bool:
    return 0 <= number < MOST_NODE_COST


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
