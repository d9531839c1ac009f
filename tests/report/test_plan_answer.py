"""What a plan says about one thing, and that it says where it does not know it."""

from __future__ import annotations

import json

import jsonschema
import pytest
from msgspec.structs import replace

from descheduler.report.document import PodReference
from descheduler.report.formats.json_text import json_text
from descheduler.report.formats.render import render
from descheduler.report.plan.document import BackgroundEviction, Plan, RepeatedRequest
from descheduler.report.plan.goal import BlockedNode, PendingPod, PlannedGoal, PlannedObjective
from descheduler.report.plan.workloads import WaveShare
from descheduler.report.plan_answer import ANSWERED, answer_of
from descheduler.report.published_schema import published_schema
from descheduler.report.tables.table_style import TableStyle
from tests.builders import make_budget, make_node, make_pod
from tests.report.decided_cycles import make_test_plan, pod_life_time_policy

PLAN = make_test_plan(
    [
        make_pod("old", node="a", owners=["ReplicaSet/web"]),
        make_pod("kept", node="a", owners=["ReplicaSet/db"], labels={"app": "db"}),
    ],
    budgets=(make_budget("db", {"app": "db"}, disruptions_allowed=0, has_status=True),),
)


@pytest.fixture
def plan() -> Plan:
    """`old` is evicted; the budget keeps `kept`."""
    return PLAN


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
def test_it_is_said_where_the_plan_decides_nothing_about_a_thing(plan: Plan, type_name: str) -> None:
    answer = answer_of(plan, type_name, "nowhere")

    assert answer.is_silent
    assert answer.sentence.startswith("the plan decides nothing about it: ")
    assert answer.sentence in "".join(render(answer, "table"))


def with_goal(plan: Plan, *blocked: BlockedNode, pending: tuple[PendingPod, ...] = ()) -> Plan:
    """The plan with one objective, which does not drain these nodes and needs evictions for these pods."""
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
        pending_pods=pending,
        targets={},
        history=(),
        blocked_nodes=blocked,
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
    return replace(plan, goal=goal)


def pod_reference(name: str) -> PodReference:
    return PodReference(namespace="default", name=name, uid=f"default-{name}")


CAUSE = "pod default/kept cannot be evicted: maxEvictions (1) reached"


def test_a_node_that_is_not_drained_is_said_to_be_blocked_as_the_goal_of_the_plan_says(plan: Plan) -> None:
    blocked = BlockedNode(node="b", pod=pod_reference("kept"), cause=CAUSE)

    answer = answer_of(with_goal(plan, blocked), "node", "b")

    assert answer.sentence.endswith(f"; cannot be drained: {CAUSE}")


@pytest.mark.parametrize(
    ("type_name", "name", "nodes"),
    [
        pytest.param("pod", "default/kept", ["b"], id="a pod that is in the way"),
        pytest.param("pod", "default/old", [], id="another pod"),
        pytest.param("node", "c", ["c"], id="a node whose cause is no pod"),
        pytest.param("node", "a", [], id="another node"),
        pytest.param("namespace", "default", ["b"], id="the namespace of the pod"),
        pytest.param("plugin", "PodLifeTime", [], id="a plugin"),
    ],
)
def test_blocked_nodes_are_those_that_the_thing_is_or_blocks(
    plan: Plan, type_name: str, name: str, nodes: list[str]
) -> None:
    blocked = BlockedNode(node="b", pod=pod_reference("kept"), cause=CAUSE)
    other = BlockedNode(node="c", pod=None, cause="its pods do not fit")

    answer = answer_of(with_goal(plan, blocked, other), type_name, name)

    assert [each.node for each in answer.blocked_nodes] == nodes


def test_pod_that_blocks_a_node_is_told_which_one(plan: Plan) -> None:
    blocked = BlockedNode(node="b", pod=pod_reference("kept"), cause=CAUSE)

    answer = answer_of(with_goal(plan, blocked), "pod", "default/kept")

    assert answer.sentence.endswith(f"; node b cannot be drained: {CAUSE}")


@pytest.mark.parametrize(
    ("type_name", "name", "pods", "sentence"),
    [
        pytest.param("pod", "x", ["x"], "1 of 1 pending pod can be scheduled after evictions", id="the pod"),
        pytest.param("pod", "y", ["y"], "0 of 1 pending pod can be scheduled after evictions", id="without a node"),
        pytest.param("node", "b", ["x"], "1 of 1 pending pod can be scheduled after evictions", id="its node"),
        pytest.param(
            "namespace", "default", ["x", "y"], "1 of 2 pending pods can be scheduled after evictions", id="namespace"
        ),
        pytest.param("plugin", "Other", [], "", id="a plugin"),
    ],
)
def test_pending_pods_are_those_that_the_thing_is_or_that_are_expected_on_it(
    plan: Plan, type_name: str, name: str, pods: list[str], sentence: str
) -> None:
    pending = tuple(
        PendingPod(pod=pod_reference(each), to_node=node, holds_target=False)
        for each, node in (("x", "b"), ("y", None))
    )

    answer = answer_of(with_goal(plan, pending=pending), type_name, name)

    assert [each.pod.name for each in answer.pending_pods] == pods
    assert sentence in answer.sentence


@pytest.mark.parametrize(
    ("waves", "said"),
    [
        pytest.param((2,), "1 pod evicted in wave 2", id="one pod"),
        pytest.param((2, 2), "2 pods evicted in wave 2", id="in one wave"),
        pytest.param((3, 1, 2), "3 pods evicted in waves 1 to 3", id="in several"),
    ],
)
def test_sentence_says_in_which_waves_pods_leave(waves: tuple[int, ...], said: str) -> None:
    plan = make_test_plan([make_pod(f"old-{number}", owners=[f"ReplicaSet/{number}"]) for number in range(len(waves))])
    moves = tuple(replace(move, wave=wave) for move, wave in zip(plan.moves, waves, strict=True))

    assert answer_of(replace(plan, moves=moves), "namespace", "default").sentence == said


def test_sentence_about_a_workload_says_how_many_replicas_leave_at_once(plan: Plan) -> None:
    (workload, *_) = plan.workloads
    shares = tuple(WaveShare(wave=wave, pods=pods) for wave, pods in ((1, 2), (2, 1)))
    planned = replace(workload, moved=3, replicas=5, waves=shares)

    answer = answer_of(replace(plan, workloads=(planned,)), "replicaset", "default/web")

    assert answer.sentence == "1 pod evicted in wave 1; 3 of 5 replicas evicted, at most 2 at once"


@pytest.mark.parametrize(
    ("type_name", "name", "found"),
    [
        pytest.param("replicaset", "default/web", 1, id="it"),
        pytest.param("replicaset", "web", 1, id="of any namespace"),
        pytest.param("replicaset", "default/", 1, id="all of a namespace"),
        pytest.param("replicaset", "other/web", 0, id="of another namespace"),
        pytest.param("replicaset", "default/db", 0, id="of another name"),
        pytest.param("deployment", "default/web", 0, id="of another kind"),
    ],
)
def test_workload_is_found_by_kind_namespace_and_name(plan: Plan, type_name: str, name: str, found: int) -> None:
    assert len(answer_of(plan, type_name, name).workloads) == found


def test_refusals_are_counted_by_code() -> None:
    pods = [make_pod("bare-1", owners=()), make_pod("bare-2", owners=()), make_pod("set", owners=["DaemonSet/x"])]

    answer = answer_of(make_test_plan(pods), "node", "a")

    assert answer.sentence == "3 pods selected and not evicted (BarePod 2, DaemonSet 1)"


def test_pod_that_another_controller_evicts_is_said_to_be(plan: Plan) -> None:
    taken = BackgroundEviction(pod=pod_reference("x"), node="b", profile="main", plugin="P", reason="1 h old")
    plan = replace(plan, background=(taken,))

    assert answer_of(plan, "pod", "default/x").sentence == "1 pod evicted by another controller"
    assert answer_of(plan, "node", "b").background == (taken,)
    assert answer_of(plan, "node", "a").background == ()


def test_replacement_pods_that_are_expected_are_counted(plan: Plan) -> None:
    assert answer_of(plan, "node", "b").sentence == "1 replacement pod expected"


def test_plugin_that_evicts_nothing_says_why() -> None:
    plan = make_test_plan([make_pod("young", age=1)])

    answer = answer_of(plan, "plugin", "PodLifeTime")

    assert answer.sentence.startswith("no pod is old enough")
    assert [each.plugin for each in answer.plugins] == ["PodLifeTime"]
    assert answer_of(plan, "plugin", "RemoveDuplicates").plugins == ()


def test_budget_is_that_of_the_namespace_that_was_asked_for(plan: Plan) -> None:
    assert answer_of(plan, "poddisruptionbudget", "other/db").is_silent
    assert not answer_of(plan, "poddisruptionbudget", "db").is_silent


def test_budget_that_covers_a_workload_names_its_evictions() -> None:
    pods = [make_pod("old", labels={"app": "web"}), make_pod("other", owners=["ReplicaSet/db"])]
    budget = make_budget("web", {"app": "web"}, disruptions_allowed=1, has_status=True, current_healthy=2)

    answer = answer_of(make_test_plan(pods, budgets=(budget,)), "poddisruptionbudget", "default/web")

    assert [each.name for each in answer.workloads] == ["web"]
    assert [move.pod.name for move in answer.moves] == ["old"]


def test_pod_that_only_a_limit_keeps_is_not_kept_by_a_budget_of_that_name() -> None:
    plan = make_test_plan([make_pod("old", node="db")], policy=pod_life_time_policy(maxNoOfPodsToEvictPerNode=0),
                          nodes=[make_node("db"), make_node("b")])  # fmt: skip

    assert [each.subject for each in plan.refusals] == ["db"]
    assert answer_of(plan, "poddisruptionbudget", "db").refusals == ()


def test_figures_are_those_of_the_node_that_is_asked_about(plan: Plan) -> None:
    assert [[each.name for each in answer_of(plan, "node", name).nodes] for name in ("a", "b")] == [["a"], ["b"]]
    assert answer_of(plan, "pod", "default/old").nodes == ()


def test_tables_tell_each_kind_of_decision_with_the_sentence_last(plan: Plan) -> None:
    request = RepeatedRequest(pod=pod_reference("old"), node="a", profile="again", plugin="P", reason="too old")
    taken = BackgroundEviction(pod=pod_reference("x"), node="a", profile="main", plugin="P", reason="1 h old")
    pending = (PendingPod(pod=pod_reference("y"), to_node="a", holds_target=False),)
    plan = with_goal(replace(plan, repeated_requests=(request,), background=(taken,)), pending=pending)
    answer = answer_of(plan, "node", "a")

    lines = [" ".join(line.split()) for line in answer.table(TableStyle())]

    assert "Evicted: 1 pod" in lines
    assert "default old a b 1 PodLifeTime 1 h old (maxPodLifeTimeSeconds: 60)" in lines
    assert "default y a" in lines
    assert "Not evicted: 1 pod" in lines
    assert "default old a P too old" in lines
    assert "default x a P 1 h old" in lines
    assert lines[-1] == f"node a: {answer.sentence}"


def test_answer_has_the_published_schema(plan: Plan) -> None:
    answer = answer_of(plan, "node", "a")

    jsonschema.validate(json.loads(json_text(answer)), json.loads(published_schema("answer")))


def test_numbers_of_a_node_are_those_of_the_plan(plan: Plan) -> None:
    """Each move leaves one node, so that the nodes together evict what the plan evicts."""
    nodes = {move.from_node for move in plan.moves}

    assert sum(len(answer_of(plan, "node", node).moves) for node in nodes) == len(plan.moves)
