"""What a plan says about one thing, and that it says where it does not know it."""

from __future__ import annotations

import json

import jsonschema
import pytest
from msgspec.structs import replace

from descheduler.report.document import PodReference
from descheduler.report.formats.json_text import json_text
from descheduler.report.formats.render import render
from descheduler.report.plan.document import Plan
from descheduler.report.plan.goal import BlockedNode, PlannedGoal, PlannedObjective
from descheduler.report.plan_answer import ANSWERED, answer_of
from descheduler.report.published_schema import published_schema
from tests.builders import make_budget, make_pod
from tests.report.decided_cycles import make_test_plan


@pytest.fixture
def plan() -> Plan:
    """`old` is evicted; the budget keeps `kept`."""
    pods = [
        make_pod("old", node="a", owners=["ReplicaSet/web"]),
        make_pod("kept", node="a", owners=["ReplicaSet/db"], labels={"app": "db"}),
    ]
    return make_test_plan(pods, budgets=(make_budget("db", {"app": "db"}, disruptions_allowed=0, has_status=True),))


@pytest.mark.parametrize(
    ("type_name", "name", "evicted", "kept"),
    [
        pytest.param("pod", "default/old", ["old"], [], id="a pod that is evicted"),
        pytest.param("pod", "kept", [], ["kept"], id="a pod of any namespace that is not"),
        pytest.param("node", "a", ["old"], ["kept"], id="a node"),
        pytest.param("namespace", "default", ["old"], ["kept"], id="a namespace"),
        pytest.param("replicaset", "default/web", ["old"], [], id="a workload"),
        pytest.param("poddisruptionbudget", "default/db", [], ["kept"], id="a budget"),
        pytest.param("poddisruptionbudget", "default/", [], ["kept"], id="the budgets of a namespace"),
        pytest.param("plugin", "PodLifeTime", ["old"], ["kept"], id="a plugin"),
    ],
)
def test_decisions_about_a_thing_are_those_of_the_plan(
    plan: Plan, type_name: str, name: str, evicted: list[str], kept: list[str]
) -> None:
    answer = answer_of(plan, type_name, name)

    assert [move.pod.name for move in answer.moves] == evicted
    assert [refusal.pod.name for refusal in answer.refusals] == kept
    assert not answer.is_silent
    assert answer.plan_id == plan.plan_id


def test_pods_arrive_on_the_node_that_is_asked_about_and_on_no_other(plan: Plan) -> None:
    (move,) = plan.moves
    moved = replace(plan, moves=(replace(move, to_node="b"),))

    arrivals = {name: [each.pod.name for each in answer_of(moved, "node", name).arrivals] for name in ("a", "b")}

    assert arrivals == {"a": [], "b": ["old"]}


@pytest.mark.parametrize("type_name", list(ANSWERED))
def test_thing_that_the_plan_does_not_name_is_said_to_be_unknown(plan: Plan, type_name: str) -> None:
    answer = answer_of(plan, type_name, "nowhere")

    assert answer.is_silent
    assert answer.sentence.startswith("the plan does not name it: ")
    assert answer.sentence in "".join(render(answer, "table"))


def test_a_node_that_is_not_drained_is_said_to_be_blocked_as_the_goal_of_the_plan_says(plan: Plan) -> None:
    pod = PodReference(namespace="default", name="kept", uid="default-kept")
    blocked = BlockedNode(node="b", pod=pod, cause="pod default/kept cannot be evicted: maxEvictions (1) reached")
    objective = PlannedObjective(
        profile="p",
        plugin="MigrationPlanner",
        objective="DrainNodes",
        levels=(),
        evictions=0,
        bound=None,
        cost=0,
        cost_bound=None,
        sentence="",
        pending_pods=(),
        targets={},
        history=(),
        blocked_nodes=(blocked,),
    )
    goal = PlannedGoal(
        objectives=(objective,),
        evictions=0,
        bound=None,
        gap=None,
        status="feasible",
        seconds=0.0,
        work=0.0,
        search_ended_by="",
    )

    answer = answer_of(replace(plan, goal=goal), "node", "b")

    assert answer.sentence.endswith(f"; cannot be drained: {blocked.cause}")


def test_answer_has_the_published_schema(plan: Plan) -> None:
    answer = answer_of(plan, "node", "a")

    jsonschema.validate(json.loads(json_text(answer)), json.loads(published_schema("answer")))


def test_numbers_of_a_node_are_those_of_the_plan(plan: Plan) -> None:
    """Each move leaves one node, so that the nodes together evict what the plan evicts."""
    nodes = {move.from_node for move in plan.moves}

    assert sum(len(answer_of(plan, "node", node).moves) for node in nodes) == len(plan.moves)
