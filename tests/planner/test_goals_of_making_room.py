"""What the goal of MakeRoom says: which pods get room, why others do not, and which are not considered."""

from __future__ import annotations

import pytest

from descheduler.model.groups.disruption_budget import DisruptionBudget
from descheduler.model.pod import Pod
from tests.builders import Object, make_budget, make_node
from tests.planner.nearly_full_nodes import NEARLY_FULL, NODES, fixed, pending, pod, run
from tests.planner.runs import goal_of
from tests.strategies.runs import evicted

GUARDED = {"app": "guarded"}


def guard(allowed: int) -> DisruptionBudget:
    return make_budget("guard", GUARDED, disruptions_allowed=allowed, current_healthy=3, desired_healthy=3 - allowed)


def test_budget_that_blocks_room_is_named_with_the_pod_on_the_nearest_node() -> None:
    pods = [*(pod(f"{node}0", "5", node, labels=GUARDED) for node in "abc"), pod("a1", "1", "a")]

    decisions = run([*pods, pending("p", "7")], budgets=(guard(0),))

    assert goal_of(decisions).sentence == (
        "1 pod pending → 1 with 0 evictions; no better plan was found within the limits; pod default/p: 2 CPU short on"
        " node b, where pod default/b0 cannot be evicted: PodDisruptionBudget default/guard allows 0 disruptions"
        " (3 healthy, 3 required); other nodes: 2 with pods that cannot be evicted (DisruptionBudget)"
    )


def test_what_blocks_the_rest_is_named_where_some_pods_get_room() -> None:
    pods = [pod("a0", "6", "a", labels=GUARDED), pod("b0", "6", "b", labels=GUARDED)]

    decisions = run([*pods, fixed("c", "4"), pending("p", "8"), pending("q", "8")], budgets=(guard(1),))

    assert goal_of(decisions).evictions == 1
    assert "used by other pods of this run" in goal_of(decisions).sentence


def test_limit_of_the_run_that_stops_further_room_is_named() -> None:
    pods = [pod("a0", "2", "a"), pod("b0", "2", "b"), fixed("a", "2"), fixed("b", "2"), fixed("c", "5")]

    decisions = run([*pods, pending("p", "8"), pending("q", "8")], policy={"maxNoOfPodsToEvictTotal": 1})

    assert goal_of(decisions).sentence.endswith("with 1 eviction; stopped by maxNoOfPodsToEvictTotal (1)")


@pytest.mark.long
@pytest.mark.parametrize(
    ("named", "args", "text"),
    [
        pytest.param(pending("other", "100m"), {}, "default/q does not exist", id="absent"),
        pytest.param(pod("q", "1", "b"), {}, "default/q is already scheduled onto b", id="scheduled"),
        pytest.param(pending("q", "1", deleted=5), {}, "default/q is terminating", id="terminating"),
        pytest.param(pod("q", "1", None, phase="Failed"), {}, "default/q has finished", id="finished"),
        pytest.param(
            pending("q", "1", spec={"schedulingGates": [{"name": "quota"}]}),
            {},
            "default/q has scheduling gates",
            id="gated",
        ),
        pytest.param(
            pending("q", "100m"),
            {"labelSelector": {"matchLabels": {"app": "p"}}},
            "default/q does not match makeRoom.labelSelector",
            id="other labels",
        ),
    ],
)
def test_goal_says_why_a_named_pod_is_not_one_of_those_that_room_is_made_for(
    named: Pod, args: Object, text: str
) -> None:
    pods = [*NEARLY_FULL, pending("p", "3500m", labels={"app": "p"}), named]

    decisions = run(pods, args={"for": ["default/p", "default/q"], **args})

    assert goal_of(decisions).sentence == (
        f"1 pod pending → 0 (default/p onto a) with 1 eviction (at least 1 is needed); makeRoom.for: {text}"
    )


@pytest.mark.parametrize(
    ("namespaces", "text"),
    [
        pytest.param({"include": ["shop"]}, "which is not included (makeRoom.namespaces.include)", id="other"),
        pytest.param({"exclude": ["default"]}, "which is excluded (makeRoom.namespaces.exclude)", id="excluded"),
    ],
)
def test_goal_says_that_a_named_pod_is_in_a_namespace_that_is_left_out(namespaces: Object, text: str) -> None:
    decisions = run([*NEARLY_FULL, pending("p", "4")], args={"for": ["default/p"], "namespaces": namespaces})

    assert goal_of(decisions).sentence == (
        f"no pending pod is selected (makeRoom.for: default/p is in namespace default, {text})"
    )


def test_goal_counts_further_named_pods_that_do_not_exist_where_nothing_is_to_be_done() -> None:
    names = ["default/small", *(f"default/q{number}" for number in range(5))]

    assert goal_of(run([*NEARLY_FULL, pending("small", "1")], args={"for": names})).sentence == (
        "1 pod pending: 1 can be scheduled without evictions (default/small onto a); makeRoom.for: default/q0 does not"
        " exist, default/q1 does not exist, default/q2 does not exist, 2 others are not selected"
    )


def test_goal_says_why_nothing_is_to_be_done() -> None:
    assert goal_of(run(NEARLY_FULL)).sentence == "no pod is pending"
    assert goal_of(run([*NEARLY_FULL, pending("p", "1")])).sentence == (
        "1 pod pending: 1 can be scheduled without evictions (default/p onto a)"
    )
    foreign = [pending(name, "4", scheduler="other") for name in "qr"]
    assert goal_of(run([*NEARLY_FULL, pending("p", "1"), *foreign])).sentence == (
        "3 pods pending: 1 can be scheduled without evictions (default/p onto a),"
        " 2 unknown (scheduler other is not modelled)"
    )


def test_goal_counts_pods_beside_that_need_no_room() -> None:
    goal = goal_of(run([*NEARLY_FULL, pending("p", "4"), pending("small", "3")]))

    assert goal.sentence == (
        "1 pod pending → 0 (default/p onto a) with 1 eviction (at least 1 is needed);"
        " 1 more pod can be scheduled without evictions (default/small onto b)"
    )


def test_pods_of_a_resource_that_no_node_lists_are_unknown_and_not_pending() -> None:
    decisions = run([pending(f"p{number}", "1", requests={"example.com/gpu": "1"}) for number in range(2)])

    assert evicted(decisions) == []
    assert goal_of(decisions).sentence == (
        "2 pods pending: 2 unknown (no node lists example.com/gpu; a DeviceClass with extendedResourceName:"
        " example.com/gpu may serve it (DynamicResources))"
    )


def test_goal_counts_pods_beside_of_which_it_is_unknown_whether_they_need_room() -> None:
    foreign = [pending(name, "4", scheduler="other") for name in "qr"]

    assert goal_of(run([*NEARLY_FULL, pending("p", "4"), *foreign])).sentence == (
        "1 pod pending → 0 (default/p onto a) with 1 eviction (at least 1 is needed);"
        " 2 more pods unknown (scheduler other is not modelled)"
    )
    assert goal_of(run([*NEARLY_FULL, pending("p", "11"), pending("small", "3"), *foreign])).sentence == (
        "1 pod pending → 1 with 0 evictions; no room: pod default/p requests 11 CPU, the largest node has 10;"
        " 1 more pod can be scheduled without evictions (default/small onto b),"
        " 2 more unknown (scheduler other is not modelled)"
    )


def test_goal_names_the_nodes_of_few_pods_beside_many_that_need_no_room() -> None:
    small = [pending(f"small-{number}", "10m") for number in range(4)]

    assert goal_of(run([*NEARLY_FULL, pending("p", "3500m"), *small])).sentence == (
        "1 pod pending → 0 (default/p onto a) with 1 eviction (at least 1 is needed);"
        " 4 more pods can be scheduled without evictions"
    )


def test_pods_with_scheduling_gates_are_not_pending_for_want_of_room() -> None:
    gated = pending("p", "4", spec={"schedulingGates": [{"name": "quota"}]})

    assert goal_of(run([*NEARLY_FULL, gated])).sentence == "no pod is pending"


def test_second_plan_says_that_the_first_one_was_enough() -> None:
    decisions = run([*NEARLY_FULL, pending("p", "4")], planner={"objectives": [{"makeRoom": {}}, {"makeRoom": {}}]})

    first, second = decisions.facts["p", "MigrationPlanner"].goals
    assert first.sentence == "1 pod pending → 0 (default/p onto a) with 1 eviction (at least 1 is needed)"
    assert second.sentence == "all pending pods can be scheduled without further evictions"


def test_second_goal_says_that_pods_beside_it_have_room_by_evictions_that_are_planned_before() -> None:
    pods = [*NEARLY_FULL, pending("p", "4"), pending("huge", "11")]
    objectives = [{"makeRoom": {"for": ["default/p"]}}, {"makeRoom": {}}]

    decisions = run(pods, planner={"objectives": objectives})

    _, second = decisions.facts["p", "MigrationPlanner"].goals
    assert second.sentence == (
        "1 pod pending → 1 with 0 evictions; no room: pod default/huge requests 11 CPU, the largest node has 10;"
        " 1 more pod can be scheduled without further evictions (default/p onto a)"
    )


def test_second_goal_without_pods_to_place_says_by_which_evictions_they_have_room() -> None:
    pods = [*NEARLY_FULL, pending("p", "4"), pending("q", "4", scheduler="other")]

    decisions = run(pods, planner={"objectives": [{"makeRoom": {}}, {"makeRoom": {}}]})

    _, second = decisions.facts["p", "MigrationPlanner"].goals
    assert second.sentence == (
        "2 pods pending: 1 can be scheduled without further evictions (default/p onto a),"
        " 1 unknown (scheduler other is not modelled)"
    )


def test_why_no_other_node_has_room_is_counted_by_cause() -> None:
    nodes = [
        *NODES,
        make_node("small", cpu="6"),
        make_node("tainted", cpu="10", taints=["dedicated=x:NoSchedule"]),
        make_node("cordoned", cpu="10", unschedulable=True),
    ]
    pods = [pod("b0", "5", "b", labels=GUARDED), fixed("a", "6"), fixed("c", "6"), pending("p", "7")]

    decisions = run(pods, nodes=nodes, budgets=(guard(0),))

    assert goal_of(decisions).sentence.endswith(
        "; other nodes: 2 with pods that cannot be evicted (BarePod), 1 too small, 2 closed to the pod"
    )
