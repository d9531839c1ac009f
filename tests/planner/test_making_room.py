"""MigrationPlanner with MakeRoom: which pods leave so that pending ones can be scheduled."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.pod import Pod
from descheduler.plan.goals import Level
from descheduler.plan.moves import Move
from descheduler.planner.problem.cluster_problem import ClusterProblem, cluster_problem
from descheduler.planner.search import plan_search
from tests.builders import Object, make_node
from tests.planner.nearly_full_nodes import NEARLY_FULL, NODES, fixed, pending, pod, run
from tests.planner.runs import goal_of
from tests.strategies.runs import evicted, refused


def test_pods_leave_so_that_a_pending_pod_fits() -> None:
    decisions = run([*NEARLY_FULL, pending("p", "4")])

    (name,) = evicted(decisions)
    assert name in ("a0", "a1")
    assert decisions.moves[0].reason == "makes room for pending pod default/p"
    assert goal_of(decisions).levels == (Level("pods pending", 1, 0, 0),)
    assert goal_of(decisions).sentence == "1 pod pending → 0 (default/p onto a) with 1 eviction (at least 1 is needed)"


def test_reason_names_the_pod_that_the_scheduler_places_rather_than_the_one_of_the_plan() -> None:
    pods = [pod("a0", "3", "a"), pod("b0", "3", "b"), pending("early", "6"), pending("urgent", "5", priority=100)]

    (move,) = run(pods, nodes=[make_node(name, cpu="6") for name in "ab"]).moves

    assert move.reason == "makes room for pending pod default/urgent"
    assert [served.name for served in move.serves] == ["urgent"]


@pytest.mark.parametrize(
    ("sizes", "names"), [("22", "pod default/p0 and 1 other"), ("112", "pod default/p0 and 2 others")]
)
def test_reason_counts_the_pods_that_one_makes_room_for(sizes: str, names: str) -> None:
    pods = [pod("a0", "4", "a"), fixed("a", "6"), fixed("b", "6")]
    waiting = [pending(f"p{number}", size, node_selector={"pool": "a"}) for number, size in enumerate(sizes)]

    (move,) = run([*pods, *waiting], nodes=[make_node(name, cpu="10", labels={"pool": name}) for name in "ab"]).moves

    assert move.reason == f"makes room for pending {names}"


@pytest.mark.parametrize("amounts", [{"cpu": "1", "memory": "1Ei"}, {"cpu": "1e300"}])
def test_pods_that_no_node_could_ever_take_do_not_matter_to_others(amounts: dict[str, str]) -> None:
    decisions = run([*NEARLY_FULL, pending("p", "4"), pending("huge", "", requests=amounts)])

    assert len(evicted(decisions)) == 1
    assert goal_of(decisions).levels[0].after == 1


def test_two_pods_leave_together_for_one_that_needs_the_room_of_both() -> None:
    decisions = run([*NEARLY_FULL, pending("p", "6")])

    assert sorted(evicted(decisions)) == ["a0", "a1"]
    assert len({move.bundle for move in decisions.moves} - {0}) == 1


@pytest.mark.parametrize(
    "others",
    [
        pytest.param({"policy": {"maxNoOfPodsToEvictTotal": 1}}, id="limit of the run"),
        pytest.param({"planner": {"maxEvictions": 1}}, id="limit of the planner"),
    ],
)
def test_no_pod_leaves_where_a_limit_allows_too_few(others: Object) -> None:
    decisions = run([*NEARLY_FULL, pending("p", "6")], **others)

    assert evicted(decisions) == []
    assert goal_of(decisions).levels[0].after == 1


SEVERAL_NODES = [make_node(name, cpu="10") for name in "abcdwxyz"]
SEVERAL_WAIT = [
    *(pod(f"{node}0", "3", node) for node in "abcd"),
    *(fixed(node, "6") for node in "abcd"),
    *(fixed(node, "7") for node in "wxyz"),
    *(pending(f"p{number}", "4") for number in range(4)),
]
"""Each of a, b, c and d has room for one of four pods that wait once its pod leaves, for which w to z have some."""


@pytest.mark.long
@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_no_more_pods_leave_than_the_planner_may_evict(most: int) -> None:
    """What is left of a plan is planned further on top of it, and bettered."""
    decisions = run(SEVERAL_WAIT, nodes=SEVERAL_NODES, planner={"maxEvictions": most})

    assert len(evicted(decisions)) == most
    assert goal_of(decisions).levels[0].after == 4 - most


@pytest.mark.long
def test_what_earlier_rounds_have_evicted_counts_against_the_limit_of_the_planner() -> None:
    prior = Move(SEVERAL_WAIT[0], "p", "MigrationPlanner", "")

    decisions = run(SEVERAL_WAIT, nodes=SEVERAL_NODES, planner={"maxEvictions": 2}, prior_moves=[prior])

    assert len(evicted(decisions)) == 2


@pytest.mark.long
def test_objectives_share_the_limit_of_the_planner() -> None:
    objectives = [{"makeRoom": {"for": [f"default/p{number}" for number in numbers]}} for numbers in ((0, 1), (2, 3))]

    decisions = run(SEVERAL_WAIT, nodes=SEVERAL_NODES, planner={"objectives": objectives, "maxEvictions": 3})

    _, second = decisions.facts["p", "MigrationPlanner"].goals
    assert len(evicted(decisions)) == 3
    assert "with 1 eviction; stopped by maxEvictions (3);" in second.sentence


@pytest.mark.parametrize(
    "limit", [{"planner": {"maxEvictions": 2**64 - 1}}, {"policy": {"maxNoOfPodsToEvictTotal": 2**63}}]
)
def test_limits_can_be_larger_than_any_cluster(limit: Object) -> None:
    assert len(evicted(run([*NEARLY_FULL, pending("p", "4")], **limit))) == 1


def test_no_pod_leaves_for_a_pod_that_would_still_be_pending() -> None:
    """Another pod of a higher priority takes the room."""
    others = [pending("first", "4", priority=10, namespace="other")]

    decisions = run([*NEARLY_FULL, pending("p", "4"), *others], args={"for": ["default/p"]})

    assert evicted(decisions) == []
    assert goal_of(decisions).sentence == (
        "1 pod pending → 1 with 0 evictions; no better plan was found within the limits; pod default/p: 1 CPU short on"
        " node b, where pod default/b-fixed cannot be evicted: the pod has no owner that recreates it;"
        " other nodes: 2 with pods that cannot be evicted (BarePod)"
    )


@pytest.mark.long
def test_any_of_equal_pods_is_served() -> None:
    """The older one is scheduled, whichever the plan has placed."""
    twins = [pending("young", "4", age=60), pending("old", "4", age=600)]

    assert goal_of(run([*NEARLY_FULL, *twins])).levels[0].after == 1


def gang_member(name: str) -> Pod:
    annotations = {"gang.scheduling.koordinator.sh/name": "g", "gang.scheduling.koordinator.sh/min-available": "2"}
    return pending(name, "5", annotations=annotations, scheduler="koord-scheduler")


def test_a_gang_is_served_whole() -> None:
    """Room for one of 5 cores can be made on a, and for another one on b."""
    pods = [*(pod(f"{node}0", "2", node) for node in "ab"), *(fixed(node, "5") for node in "ab"), fixed("c", "20")]
    nodes = [*NODES[:2], make_node("c", cpu="24", memory="2Gi")]

    decisions = run([*pods, gang_member("g0"), gang_member("g1")], nodes=nodes)

    assert sorted(evicted(decisions)) == ["a0", "b0"]
    assert goal_of(decisions).levels[0].after == 0


def test_no_pod_leaves_for_a_part_of_a_gang() -> None:
    assert evicted(run([*NEARLY_FULL, gang_member("g0"), gang_member("g1")])) == []


@pytest.mark.parametrize(
    ("args", "unserved"),
    [
        pytest.param({"namespaces": {"include": ["shop"]}}, "", id="namespace"),
        pytest.param(
            {"namespaces": {"exclude": ["shop"]}},
            "0 of 1 pending pod matches makeRoom.namespaces",
            id="other namespaces",
        ),
        pytest.param({"labelSelector": {"matchLabels": {"app": "p"}}}, "", id="labels"),
        pytest.param(
            {"namespaces": {"include": ["shop"]}, "labelSelector": {"matchLabels": {"app": "q"}}},
            "0 of 1 pending pod matches makeRoom.namespaces and makeRoom.labelSelector",
            id="other labels",
        ),
        pytest.param({"for": ["shop/p"]}, "", id="name"),
        pytest.param(
            {"for": ["shop/q"]},
            "no pending pod is selected (makeRoom.for: shop/q does not exist)",
            id="other name",
        ),
    ],
)
def test_room_is_made_for_selected_pods(args: Object, unserved: str) -> None:
    decisions = run([*NEARLY_FULL, pending("p", "4", namespace="shop", labels={"app": "p"})], args=args)

    assert bool(evicted(decisions)) is not bool(unserved)
    assert not unserved or goal_of(decisions).sentence == unserved


def test_a_replacement_that_takes_the_room_again_is_not_evicted() -> None:
    """kube-scheduler as it comes places the first replacement where it came from."""
    decisions = run([*NEARLY_FULL, pending("p", "6")], packs=False)

    assert evicted(decisions) == []
    assert set(refused(decisions).values()) <= {"ReturnsToSource"}
    assert goal_of(decisions).sentence == (
        "1 pod pending → 1 with 0 evictions; no better plan was found within the limits; pod default/p: 4 CPU short on"
        " node a, where pod default/a0 cannot be evicted: the replacement pod would be scheduled onto a again;"
        " a scheduler that scores with MostAllocated prefers fuller nodes (schedulerConfigFile);"
        " other nodes: 2 with pods that cannot be evicted (BarePod)"
    )


@pytest.mark.long
def test_moves_in_a_chain_are_asked_for_together() -> None:
    """p needs all of a; a0 fits only where b0 has left."""
    nodes = [make_node("a", cpu="6"), make_node("b", cpu="10"), make_node("c", cpu="4")]
    pods = [pod("a0", "5", "a"), pod("b0", "3", "b"), fixed("b", "5"), fixed("c", "1"), pending("p", "6")]

    decisions = run(pods, nodes=nodes)

    assert sorted(evicted(decisions)) == ["a0", "b0"]
    assert len({move.bundle for move in decisions.moves} - {0}) == 1


def test_small_pods_are_served_first_so_that_they_take_no_room_of_large_ones() -> None:
    """Room for the large pod suits the small one as well, which is older. Node c has no memory left for either."""
    nodes = [make_node(name, cpu="10", memory="10Gi") for name in "abc"]
    placed = [
        *(fixed(node, cpu, memory=memory) for node, cpu, memory in (("a", "4", "4Gi"), ("b", "7", "5Gi"))),
        fixed("c", "3", memory="10Gi"),
        *(pod(f"{node}0", cpu, node) for node, cpu in (("a", "4"), ("b", "3"))),
    ]
    waiting = [pending("small", "3", memory="3Gi", age=100), pending("large", "6", memory="6Gi", age=10)]

    decisions = run([*placed, *waiting], nodes=nodes)

    assert evicted(decisions) == ["b0", "a0"]
    assert goal_of(decisions).sentence == (
        "2 pods pending → 0 (default/large onto a, default/small onto b) with 2 evictions (at least 2 are needed)"
    )


@pytest.mark.long
def test_each_of_many_pending_pods_may_be_on_its_own_nodes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    found: dict[str, set[tuple[str, ...]]] = {}

    def stated(*args: Any, **others: Any) -> ClusterProblem:
        cluster = cluster_problem(*args, **others)
        for each, row in zip(cluster.pods, cluster.problem.pod_class, strict=True):
            allowed = zip(cluster.nodes, cluster.problem.allowed[row], strict=True)
            found.setdefault(each.name, set()).add(tuple(name for name, is_allowed in allowed if is_allowed))
        return cluster

    monkeypatch.setattr(plan_search, "cluster_problem", stated)
    nodes = [make_node(name, cpu="10", labels={"disk": name}) for name in "abcd"]
    waiting = [pending(f"p{number}", "4", node_selector={"disk": "ab"[number % 2]}) for number in range(16)]

    run([*NEARLY_FULL, *waiting], nodes=nodes, planner={"workLimit": 1})

    assert [found[each.name] for each in waiting] == [{("a",)}, {("b",)}] * 8
