"""Pending pods that take the room of a replacement, in a run that allows landings under a condition."""

from __future__ import annotations

import pytest

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.model.verdict import Reason
from descheduler.plan.decisions import Decisions
from descheduler.policy.load import load_policy
from descheduler.report.formats.render import render
from descheduler.report.plan.making import make_plan
from tests.builders import NOW, node_object, pod_object
from tests.placement.workloads import cluster_of

NODES = [node_object("n1", cpu="4", taints=["old:NoSchedule"]), node_object("n2", cpu="4")]
POLICY = {
    "apiVersion": "descheduler/v1alpha2",
    "kind": "DeschedulerPolicy",
    "profiles": [
        {
            "name": "p",
            "pluginConfig": [
                {"name": "DefaultEvictor"},
                {"name": "RemovePodsViolatingNodeTaints"},
                {"name": "PlacementVerification", "args": {"onConditional": "allow"}},
            ],
            "plugins": {
                "deschedule": {"enabled": ["RemovePodsViolatingNodeTaints"]},
                "preevictionfilter": {"enabled": ["PlacementVerification"]},
            },
        }
    ],
}


def run(priority: int, *, replicas: int = 1) -> Decisions:
    """Pods of half the node `n2` have to leave the other node, and a pending pod of this priority fits `n2`."""
    pods = [pod_object(f"web-{number}", node="n1", cpu="2") for number in range(replicas)]
    waiting = pod_object("hi", node="", phase="Pending", cpu="3", priority=priority, owners=["ReplicaSet/hi"])
    return decide(load_policy(POLICY, REGISTRY), cluster_of(*NODES, *pods, waiting), now=NOW)


def test_pod_whose_only_room_a_pending_pod_of_higher_priority_takes_is_not_evicted() -> None:
    decisions = run(100_000)

    assert not decisions.moves
    assert [(each.verdict.reason, each.verdict.message) for each in decisions.refusals] == [
        (
            Reason.NO_LANDING,
            "0/2 nodes are available for the replacement pod: 1 insufficient cpu, 1 untolerated taint; pending pod"
            " default/hi has a higher priority and is scheduled onto n2 first",
        )
    ]


@pytest.mark.parametrize("output", ["table", "wide"])
def test_condition_is_listed_below_the_targets_that_depend_on_it(output: str) -> None:
    text = "".join(render(make_plan(run(0, replicas=2)), output))  # type: ignore[arg-type] # one of the formats

    assert "n2 (if)" in text
    lines = [line.split(maxsplit=2) for line in text.splitlines()]
    heading = lines.index(["Conditions", "of", "targets marked (if)"])
    assert lines[heading + 1 : heading + 3] == [
        ["PODS", "FIRST", "POD       CONDITION"],
        ["2", "default/web-0", "pending pod default/hi may be scheduled there first"],
    ]


@pytest.mark.parametrize(
    ("cpu_of_n3", "verdict"),
    [
        pytest.param("4", "lands_if", id="the pending pod can get either node"),
        pytest.param("8", "lands", id="the other node scores higher for it"),
    ],
)
def test_pending_pod_may_be_scheduled_onto_another_node_of_equal_score(cpu_of_n3: str, verdict: str) -> None:
    """It is predicted on n2, the first of two equal nodes, and the replacement can only be scheduled onto n3."""
    ssd = {"disk": "ssd"}
    n2, n3 = node_object("n2", cpu=cpu_of_n3), node_object("n3", cpu="4", labels=ssd)
    waiting = pod_object("hi", node="", phase="Pending", cpu="3", owners=["ReplicaSet/hi"])
    web = pod_object("web", node="n1", cpu="2", node_selector=ssd)

    (move,) = decide(load_policy(POLICY, REGISTRY), cluster_of(NODES[0], n2, n3, web, waiting), now=NOW).moves

    assert move.landing is not None
    assert move.landing.verdict.value == verdict
    condition = "pending pod default/hi may be scheduled there first"
    assert move.landing.conditions == ((condition,) if verdict == "lands_if" else ())
