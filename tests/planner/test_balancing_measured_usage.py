"""MigrationPlanner with targets of measured usage: what the metrics server or koordlet says, beside requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from descheduler.model.groups.workloads import Workload
from descheduler.model.node import Node
from descheduler.model.objects import NodeUsage, PodUsage
from descheduler.model.pod import Pod
from descheduler.model.quantity import parse_quantity
from descheduler.plan.decisions import Decisions
from descheduler.planner.args import MigrationPlannerArgs, PlannerObjective, needs, validate_args
from descheduler.planner.objective_args import BalanceUtilizationArgs, MeasuredUtilization
from tests.builders import Object, make_node, make_pod
from tests.strategies.runs import evicted, run_plugin
from tests.worlds.node_metrics import make_node_metric, metrics_by_node

NODES = [make_node(name, cpu="10") for name in "ab"]
USED = {"busy": "6", "idle": "1"}
"""What pods use, of a node with 10 cores."""


def pods(*, requests: str = "1") -> list[Pod]:
    """Pods on node a, all of which request the same."""
    return [make_pod(name, cpu=requests, node="a") for name in USED]


def server(nodes: Mapping[str, str], used: Mapping[str, str] = USED) -> dict[str, Any]:
    """What the metrics server measures of nodes and pods: cores by name."""
    return {
        "source": "KubernetesMetrics",
        "node_usage": {name: NodeUsage(name, {"cpu": parse_quantity(cpu)}) for name, cpu in nodes.items()},
        "pod_usage": {
            ("default", name): PodUsage("default", name, ({"cpu": parse_quantity(cpu)},)) for name, cpu in used.items()
        },
    }


def koordlet(nodes: Mapping[str, str], used: Mapping[str, str] = USED) -> dict[str, Any]:
    """The same as koordlet measures it, which knows of the system what is not of the pods."""
    on_a = {f"default/{name}": {"cpu": cpu} for name, cpu in used.items()}
    metrics = [
        make_node_metric(
            name,
            on_a if name == "a" else {},
            system={"cpu": str(int(cpu) - (sum(map(int, used.values())) if name == "a" else 0))},
        )
        for name, cpu in nodes.items()
    ]
    return {"source": "NodeMetric", "node_metrics": metrics_by_node(metrics)}


def run(measured: dict[str, Any], standing: Sequence[Pod], nodes: Sequence[Node] = NODES, **others: Any) -> Decisions:
    """With a target of 60% of CPU usage; others are fields of the snapshot."""
    objective: Object = {
        "targetThresholds": {"cpu": 60},
        "metricsUtilization": {"source": measured.pop("source")},
    }
    args: Object = {"objectives": [{"balanceUtilization": objective}], "timeLimit": "60s", "workLimit": 1}
    return run_plugin("MigrationPlanner", nodes, standing, args=args, **measured, **others)


def sentence_of(decisions: Decisions) -> str:
    (goal,) = decisions.facts["p", "MigrationPlanner"].goals
    return goal.sentence


@pytest.mark.parametrize("measure", [server, koordlet])
def test_a_node_is_over_its_target_by_what_it_uses(measure: Any) -> None:
    """8 of 10 cores are used on a, of which the system has one, and 1 on b."""
    decisions = run(measure({"a": "8", "b": "0"}), pods())

    assert evicted(decisions) == ["busy"]
    assert decisions.moves[0].reason == ("CPU usage at 80% of allocatable (targetThresholds.cpu: 60)")
    assert sentence_of(decisions) == "1 node over target → 0 with 1 eviction (at least 1 is needed)"


@pytest.mark.parametrize("measure", [server, koordlet])
def test_a_replacement_is_assumed_to_use_what_its_predecessor_used(measure: Any) -> None:
    """Node b has room for the requests of the busy pod, and not for its usage."""
    decisions = run(measure({"a": "7", "b": "1"}), pods())

    assert evicted(decisions) == ["idle"]


def test_requests_must_fit_all_the_same() -> None:
    """Node b uses nothing, but most of it is requested."""
    full = make_pod("full", cpu="8", node="b", owners=["DaemonSet/d"])

    decisions = run(server({"a": "7", "b": "0"}, {**USED, "full": "0"}), [*pods(requests="3"), full])

    assert evicted(decisions) == []


@pytest.mark.parametrize("measure", [server, koordlet])
@pytest.mark.parametrize(
    ("template", "free", "leave", "bound"),
    [
        pytest.param("2", "4", ["busy"], 0, id="less, and has room"),
        pytest.param("2", "1", [], 1, id="less, and has no room"),
        pytest.param("1", "2", [], 0, id="less, and has room that the pod would not have"),
        pytest.param("6", "5", [], 0, id="more, and has no room"),
    ],
)
def test_bounds_hold_where_a_replacement_requests_less_or_more_than_its_pod(
    measure: Any, template: str, free: str, leave: list[str], bound: int
) -> None:
    """Node b has so much `free`, and the owner of the busy pod, which requests 3 CPU, creates one of the `template`."""
    busy = make_pod("busy", cpu="3", node="a", owners=["ReplicaSet/busy"])
    uid = busy.owners[0].uid
    owner = Workload("ReplicaSet", "default", "busy", uid, 1, template=make_pod("busy", cpu=template, node=""))
    full = make_pod("full", cpu=str(10 - int(free)), node="b", owners=["DaemonSet/d"])
    kept = make_pod("idle", cpu="7", node="a", owners=[])

    decisions = run(
        measure({"a": "7", "b": "0"}, {**USED, "full": "0"} if measure is server else USED),
        [busy, kept, full],
        workloads={uid: owner},
    )

    assert evicted(decisions) == leave
    (goal,) = decisions.facts["p", "MigrationPlanner"].goals
    assert (goal.levels[0].bound, goal.status) == (bound, "optimal" if leave or bound else "feasible")


def test_pods_and_nodes_that_were_not_measured_are_left_as_they_are() -> None:
    nodes = [*NODES, make_node("unmeasured", cpu="10")]

    decisions = run(server({"a": "8", "b": "5"}, {"busy": "6"}), pods(), nodes)

    assert evicted(decisions) == []


def test_no_node_was_measured() -> None:
    assert sentence_of(run(server({}), pods())) == (
        "no node is over its target (cpu 60%, measured usage): no node was measured"
    )


def test_sources_that_do_not_measure_pods_are_a_fault_of_the_policy() -> None:
    metrics = MeasuredUtilization("Prometheus", node_metric_expiration_seconds=0)
    objective = PlannerObjective(BalanceUtilizationArgs({"cpu": 60}, metrics_utilization=metrics))

    problems = validate_args(MigrationPlannerArgs((objective,)))

    assert [(problem.path[-1], problem.message) for problem in problems] == [
        ("source", "'Prometheus' is not one of KubernetesMetrics, NodeMetric"),
        ("nodeMetricExpirationSeconds", "0 is not above 0"),
    ]


@pytest.mark.parametrize(
    ("source", "kinds"),
    [
        pytest.param("KubernetesMetrics", {"NodeMetrics.metrics.k8s.io", "PodMetrics.metrics.k8s.io"}, id="server"),
        pytest.param("NodeMetric", {"NodeMetric.slo.koordinator.sh"}, id="koordlet"),
    ],
)
def test_measurements_are_read_where_the_policy_asks_for_them(source: str, kinds: set[str]) -> None:
    metrics = MeasuredUtilization(source)
    objective = PlannerObjective(BalanceUtilizationArgs({"cpu": 60}, metrics_utilization=metrics))

    assert needs(MigrationPlannerArgs((objective,))).kinds >= kinds


def test_a_node_that_even_all_of_its_pods_do_not_help_is_named() -> None:
    """The system takes 7 of its cores."""
    decisions = run(server({"a": "8", "b": "1"}, used={"busy": "1", "idle": "0"}), pods())

    assert "node a stays over its target even if all of its pods leave" in sentence_of(decisions)
