"""Arguments of MigrationPlanner and its objectives: what is wrong with them, and what they have read of a cluster."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from descheduler.model.koordinator.node_reports import NODE_METRIC_KIND, RAW_ALLOCATABLE_ANNOTATION
from descheduler.model.node import CORDON_ANNOTATION
from descheduler.planner.args import (
    TIE_BREAKS,
    DisruptionCost,
    MigrationPlannerArgs,
    PlannerObjective,
    needs,
    profile_problems,
    used_strategies,
    validate_args,
    warnings,
)
from descheduler.planner.objective_args import (
    BalanceUtilizationArgs,
    ConsolidateNodesArgs,
    DrainNodesArgs,
    MakeRoomArgs,
    MeasuredUtilization,
    NodeCost,
    ObjectiveArgs,
    ReduceCostArgs,
    ReduceFragmentationArgs,
    RepairViolationsArgs,
)
from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import Namespaces

BALANCE = PlannerObjective(balance_utilization=BalanceUtilizationArgs({"cpu": 70.0}))


def texts(problems: Iterable[ArgsProblem]) -> list[str]:
    """Such as `objectives.0.makeRoom.for: …`."""
    return [f"{'.'.join(map(str, problem.path))}: {problem.message}" for problem in problems]


def faults(**facts: Any) -> list[str]:
    return texts(validate_args(MigrationPlannerArgs(**{"objectives": (BALANCE,), **facts})))


@pytest.mark.parametrize(
    ("facts", "found"),
    [
        pytest.param({}, [], id="none"),
        pytest.param(
            {"objectives": ()}, ["objectives: is empty; name one at least, such as balanceUtilization"], id="no"
        ),
        pytest.param({"workers": 0}, ["workers: 0 is too low: must be at least 1"], id="no workers"),
        pytest.param({"workers": 1}, [], id="one worker"),
        pytest.param({"workers": 256}, [], id="most workers"),
        pytest.param({"workers": 257}, ["workers: 257 is above 256"], id="too many workers"),
        pytest.param({"time_limit": timedelta(0)}, ["timeLimit: is not above 0"], id="no time"),
        pytest.param({"time_limit": timedelta(microseconds=1)}, [], id="little time"),
        pytest.param({"min_gain_per_disruption": 1000.0}, [], id="the most gain"),
        pytest.param(
            {"min_gain_per_disruption": 1000.5},
            ["minGainPerDisruption: 1000.5 is not a number from 0 to 1000"],
            id="more gain",
        ),
        pytest.param({"disruption_cost": DisruptionCost(age=0.0, gang=1000.0)}, [], id="weights at their limits"),
        pytest.param(
            {"disruption_cost": DisruptionCost(age=-1.0)},
            ["disruptionCost.age: -1 is not a number from 0 to 1000"],
            id="a weight below 0",
        ),
    ],
)
def test_numbers_out_of_range_are_faults(facts: dict[str, Any], found: list[str]) -> None:
    assert faults(**facts) == found


def test_targets_that_look_like_shares_of_1_are_warned_of() -> None:
    shares, distances = {"cpu": 0.7, "memory": 70.0, "pods": 0.0}, BalanceUtilizationArgs({"cpu": 0.5}, True)
    objectives = (
        PlannerObjective(balance_utilization=BalanceUtilizationArgs(shares)),
        PlannerObjective(balance_utilization=distances),
        PlannerObjective(consolidate_nodes=ConsolidateNodesArgs({"cpu": 0.25})),
        PlannerObjective(make_room=MakeRoomArgs()),
    )

    assert texts(warnings(MigrationPlannerArgs(objectives=objectives))) == [
        "objectives.0.balanceUtilization.targetThresholds.cpu: 0.7 is less than 1 percent; write 70 for 70%",
        "objectives.2.consolidateNodes.maxUtilization.cpu: 0.25 is less than 1 percent; write 25 for 25%",
    ]


def test_an_objective_is_one_of_its_kinds() -> None:
    none, both = PlannerObjective(), msgspec.structs.replace(BALANCE, make_room=MakeRoomArgs())

    found = faults(objectives=(none, BALANCE, both))

    assert [text.split(";")[0] for text in found] == [
        "objectives.0: names no objective",
        "objectives.2: names several objectives",
    ]
    assert found[0].endswith("; one without arguments is written with {}, such as consolidateNodes: {}")
    assert "{}" not in found[1]


@pytest.mark.parametrize(
    ("args", "found"),
    [
        pytest.param(BalanceUtilizationArgs({"cpu": 70.0, "pods": 50.0, "x.io/gpu": 9.0}), [], id="balance"),
        pytest.param(
            BalanceUtilizationArgs({"cpu": 70.0}, metrics_utilization=MeasuredUtilization("Prometheus")),
            ["metricsUtilization.source: 'Prometheus' is not one of KubernetesMetrics, NodeMetric"],
            id="unknown source",
        ),
        pytest.param(
            BalanceUtilizationArgs({"cpu": 70.0}, metrics_utilization=MeasuredUtilization("NodeMetric", 0)),
            ["metricsUtilization.nodeMetricExpirationSeconds: 0 is not above 0"],
            id="always too old",
        ),
        pytest.param(
            RepairViolationsArgs(),
            ["strategies: is empty; name one at least, such as RemovePodsViolatingNodeTaints"],
            id="no strategies",
        ),
        pytest.param(
            RepairViolationsArgs(("A", "MigrationPlanner", "A"), {"A": 1, "B": 2}),
            [
                "strategies.1: MigrationPlanner cannot run itself",
                "strategies.2: A is named twice",
                "weights.B: is not one of strategies",
            ],
            id="strategies",
        ),
        pytest.param(RepairViolationsArgs(("A",), {"A": 0}), ["weights.A: 0 is not above 0"], id="weight of 0"),
        pytest.param(ReduceFragmentationArgs("nvidia.com/gpu"), [], id="extended resource"),
        pytest.param(ReduceFragmentationArgs("koordinator.sh/gpu"), [], id="shared GPUs"),
        pytest.param(
            ReduceFragmentationArgs("cpu"),
            ["resource: 'cpu' is not an extended resource such as nvidia.com/gpu"],
            id="not extended",
        ),
        pytest.param(
            ReduceFragmentationArgs("koordinator.sh/rdma"),
            [
                "resource: pods can share devices of koordinator.sh/rdma; koordinator.sh/gpu stands for GPUs that pods"
                " share"
            ],
            id="shared devices",
        ),
        pytest.param(ConsolidateNodesArgs(), [], id="consolidate"),
        pytest.param(
            ConsolidateNodesArgs(node_cost=NodeCost()),
            ["nodeCost.label: is empty; name the label that says what a node costs"],
            id="costs without a label",
        ),
        pytest.param(ReduceCostArgs(NodeCost("l", {"a": 0.0}, 999_999_999.0)), [], id="costs at their limits"),
        pytest.param(
            ReduceCostArgs(NodeCost("l", {"a": -1.0, "b": 1e9}, 1e9)),
            [
                "nodeCost.prices.a: -1 is not a number from 0 to below 1,000,000,000",
                "nodeCost.prices.b: 1e+09 is not a number from 0 to below 1,000,000,000",
                "nodeCost.default: 1e+09 is not a number from 0 to below 1,000,000,000",
            ],
            id="costs out of range",
        ),
        pytest.param(MakeRoomArgs(("a/b",)), [], id="a pod"),
        pytest.param(MakeRoomArgs("deferredResizes"), [], id="resizes"),
        pytest.param(
            MakeRoomArgs("all"),
            ["for: 'all' is neither 'pending', 'deferredResizes' nor a list of namespace/name"],
            id="another word",
        ),
        pytest.param(
            MakeRoomArgs(namespaces=Namespaces(include=("a",), exclude=("b",))),
            ["namespaces: include and exclude are both given; keep one of them"],
            id="namespaces",
        ),
        pytest.param(
            DrainNodesArgs(),
            [": names no node; set nodes, nodesFile, nodeSelector or conditions"],
            id="no nodes",
        ),
        pytest.param(
            DrainNodesArgs(("a",), max_unavailable=0), ["maxUnavailable: 0 is too low: must be at least 1"], id="0"
        ),
        pytest.param(DrainNodesArgs(nodes_file="f"), [], id="a file"),
        pytest.param(DrainNodesArgs(conditions=("c",)), [], id="a condition"),
        pytest.param(
            DrainNodesArgs(node_selector={"matchLabels": {"a": "b"}}),  # type: ignore[arg-type]
            [],
            id="a selector",
        ),
    ],
)
def test_arguments_of_an_objective_are_checked(args: ObjectiveArgs, found: list[str]) -> None:
    assert texts(args.problems()) == found


def test_faults_of_an_objective_are_told_with_its_place() -> None:
    objective = PlannerObjective(make_room=MakeRoomArgs(("web",)))

    assert faults(objectives=(BALANCE, objective)) == [
        "objectives.1.makeRoom.for.0: 'web' is not a pod as namespace/name"
    ]


@pytest.mark.parametrize(
    ("chooses", "has_reservations", "number"), [(True, False, 1), (True, True, 0), (False, False, 0), (False, True, 0)]
)
def test_nodes_are_chosen_only_where_room_can_be_held(chooses: bool, has_reservations: bool, number: int) -> None:
    args = MigrationPlannerArgs((BALANCE,), choose_nodes=chooses)

    assert len(list(profile_problems(args, has_reservations))) == number


def test_what_is_read_of_a_cluster_follows_from_the_objectives() -> None:
    def read_for(**objective: ObjectiveArgs) -> Any:
        return needs(MigrationPlannerArgs((PlannerObjective(**objective),)))  # type: ignore[arg-type]

    measured = BalanceUtilizationArgs({"cpu": 1.0}, metrics_utilization=MeasuredUtilization("NodeMetric"))
    of_metrics = BalanceUtilizationArgs({"cpu": 1.0}, metrics_utilization=MeasuredUtilization("KubernetesMetrics"))
    plain, by_koordlet = read_for(balance_utilization=BalanceUtilizationArgs()), read_for(balance_utilization=measured)

    assert plain.pod_templates
    assert not plain.pod_conditions
    assert by_koordlet.kinds - plain.kinds == {NODE_METRIC_KIND}
    assert RAW_ALLOCATABLE_ANNOTATION in by_koordlet.annotations
    assert read_for(balance_utilization=of_metrics).kinds - plain.kinds == {
        "NodeMetrics.metrics.k8s.io",
        "PodMetrics.metrics.k8s.io",
    }
    assert read_for(make_room=MakeRoomArgs("deferredResizes")).pod_conditions
    assert not read_for(make_room=MakeRoomArgs()).pod_conditions
    assert CORDON_ANNOTATION in read_for(drain_nodes=DrainNodesArgs(("a",), cordon=True)).annotations
    assert CORDON_ANNOTATION not in read_for(drain_nodes=DrainNodesArgs(("a",))).annotations


def test_strategies_are_known_by_the_place_that_names_them() -> None:
    repair = PlannerObjective(repair_violations=RepairViolationsArgs(("A", "B")))

    assert used_strategies(MigrationPlannerArgs((BALANCE, repair))) == {
        ("objectives", 1, "repairViolations", "strategies", 0): "A",
        ("objectives", 1, "repairViolations", "strategies", 1): "B",
    }


def test_tie_breaks_together_are_less_than_an_eviction() -> None:
    assert pytest.approx(0.01 * len(DisruptionCost.__struct_fields__)) == TIE_BREAKS
