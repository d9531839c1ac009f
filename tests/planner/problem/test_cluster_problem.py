"""A cluster as arrays: by which numbers pods and nodes go, and the same with other moves, or with nowhere to go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from descheduler.optimizer import AtMost, MoveLimit, Parts, make_problem
from descheduler.plan.moves import PodIdentity, identity_of
from descheduler.planner.problem.cluster_problem import ClusterProblem, Loosest
from descheduler.planner.problem.disposable_pods import NOWHERE, with_nowhere
from descheduler.planner.problem.units import Units
from tests.builders import make_node, make_pod
from tests.planner.objective_over import objective_over

PODS = [make_pod(name, node=node) for name, node in (("p", "a"), ("q", "a"), ("r", "b"), ("s", ""))]


def cluster(
    *,
    goes_nowhere: Sequence[int] = (),
    loosest: Loosest | None = None,
    resized: frozenset[PodIdentity] = frozenset(),
    **facts: Any,
) -> ClusterProblem:
    """Pods of 1 to 4, the last of which is pending, on three nodes of 9, 8 and 7."""
    problem = make_problem([[1], [2], [3], [4]], [[9], [8], [7]], [0, 0, 1, -1], **facts)
    nowhere = frozenset(identity_of(PODS[number]) for number in goes_nowhere)
    return ClusterProblem(
        problem, PODS, "abc", ["cpu"], np.array([[10], [10], [10]]), frozenset(), nowhere, loosest, resized
    )


def test_pods_are_found_by_what_they_are_and_nodes_by_their_names() -> None:
    found = cluster(cost=[5, 6, 7, 8])

    assert [found.number_of(pod) for pod in PODS] == [0, 1, 2, 3]
    assert [found.cost_of(pod) for pod in PODS] == [5, 6, 7, 8]
    assert [found.places_of(0, node) for node in "abx"] == [[0], [1], []]
    assert found.held.tolist() == [[1], [2], [3]]
    with pytest.raises(KeyError):
        found.number_of(make_pod("other"))


def test_movable_pods_are_put_where_targets_have_them() -> None:
    found = cluster(evictable=[True, False, True, True])
    uids = [pod.uid for pod in PODS]

    moved = found.assignment_with({uids[0]: "b", uids[1]: "b", uids[3]: "c", "gone": "a", uids[2]: "gone"})

    assert moved is not None
    assert moved.tolist() == [1, 0, 1, 2]


@pytest.mark.parametrize("target", ["a", "gone"])
def test_targets_that_change_nothing_are_no_assignment(target: str) -> None:
    assert cluster().assignment_with({PODS[0].uid: target}) is None
    assert cluster(evictable=[False] * 4).assignment_with({PODS[0].uid: "b"}) is None


def over_parts() -> ClusterProblem:
    """Node b is twice there, with each of two devices of 4, of which the pod on it has the first."""
    parts = Parts(np.full((3, 1), 4), np.array([[0], [1], [2]]), np.array([0, 1, 1]))
    problem = make_problem([[2], [3]], parts, [0, 1], pod_class=[0, 1], allowed=[[True] * 3, [True, False, True]])
    return ClusterProblem(problem, PODS[:2], ["a", "b", "b"], ["gpu"], np.full((3, 1), 4))


def test_a_pod_goes_to_the_first_of_several_places_that_has_room() -> None:
    found = over_parts()

    assert [found.places_of(0, "b"), found.places_of(1, "b")] == [[1, 2], [2]]
    moved = found.assignment_with({PODS[0].uid: "b"})
    assert moved is not None
    assert moved.tolist() == [2, 1]


def test_pods_that_stay_are_not_movable() -> None:
    found = cluster(evictable=[True, True, False, True])

    kept = found.where_stay({identity_of(PODS[0]), identity_of(PODS[2])})

    assert kept.problem.evictable.tolist() == [False, True, False, True]
    assert kept.pods == found.pods
    assert found.problem.evictable.tolist() == [True, True, False, True]


def test_closed_nodes_are_those_of_all_pairs_of_a_pod_together() -> None:
    """Pods that lose the same nodes share a row."""
    found = cluster(pod_class=[0, 0, 1, 0], allowed=[[True] * 3, [True, True, False]])
    no_b, no_c = np.array([False, True, False]), np.array([False, False, True])

    closed = found.without_moves([((0, 1), no_b), ((1, 2), no_c)]).problem

    assert closed.allowed[closed.pod_class].tolist() == [
        [True, False, True],
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]
    same = found.without_moves([((0, 1), no_b), ((3,), no_b.copy())]).problem
    assert len(set(same.pod_class[[0, 1, 3]].tolist())) == 1
    assert found.without_moves([]).problem.allowed.tolist() == found.problem.allowed.tolist()


def loosest_of(found: ClusterProblem, **others: Any) -> Loosest:
    """The arrays of the problem but for `others`."""
    problem = found.problem
    least = np.minimum(problem.need, 2)
    known = Loosest(problem.pod_class, problem.allowed, problem.rules, problem.need, least)
    return known._replace(**others)


def test_nodes_that_moves_of_others_may_open_are_open_for_bounds() -> None:
    narrow: dict[str, Any] = {"allowed": [[True, True, False]]}
    wider = loosest_of(cluster(**narrow), allowed=np.array([[True, True, True]]))

    opened = cluster(loosest=wider, **narrow).for_bounds()

    assert opened.problem.allowed[opened.problem.pod_class].all()
    assert opened.units.for_bounds
    assert cluster(**narrow).for_bounds().problem.allowed.tolist() == [[True, True, False]]


def test_bounds_count_without_rules_by_which_replacements_do_not_count() -> None:
    rules = [AtMost(np.zeros(4, np.int64), np.arange(3), np.array([1]))]
    found = cluster(rules=rules, loosest=loosest_of(cluster(), rules=()))

    assert (len(found.problem.rules), found.for_bounds().problem.rules) == (1, ())


def test_resized_pods_leave_for_nowhere_in_bounds_or_shrink() -> None:
    resized = frozenset({identity_of(PODS[2])})
    found = cluster(resized=resized, loosest=loosest_of(cluster()))

    away, shrunk = found.for_bounds(), found.for_bounds(resized_shrink=True)

    assert (away.goes_nowhere, away.problem.need.tolist()) == (resized, [[1], [2], [3], [4]])
    assert (shrunk.goes_nowhere, shrunk.problem.need.tolist()) == (frozenset(), [[1], [2], [2], [2]])


def test_ceilings_are_less_what_others_hold_and_in_units() -> None:
    problem = make_problem([[1]], [[2], [3]], [0])
    found = ClusterProblem(
        problem,
        PODS[:1],
        "ab",
        ["memory"],
        np.array([[250], [399]]),
        held=np.array([[45], [0]]),
        units=Units(np.array([100])),
    )

    assert found.ceilings(np.array([[249], [350]])).tolist() == [[2], [3]]


def test_pods_that_go_nowhere_have_a_node_more_with_room_for_all_of_them_many_times() -> None:
    """Pods p and r; the pod of the same class as p has no such node."""
    rules = [
        AtMost(np.zeros(4, np.int64), np.arange(3), np.array([1])),
        MoveLimit(np.zeros(4, np.int64), np.array([2])),
    ]
    found = cluster(goes_nowhere=[0, 2], pod_class=[0, 0, 1, 0], allowed=[[True] * 3, [True, True, False]], rules=rules)

    wider = with_nowhere(found)

    assert wider.nodes == ("a", "b", "c", NOWHERE)
    problem = wider.problem
    assert problem.allowed[problem.pod_class].tolist() == [
        [True, True, True, True],
        [True, True, True, False],
        [True, True, False, True],
        [True, True, True, False],
    ]
    assert problem.capacity.tolist() == [[9], [8], [7], [400]]
    assert wider.allocatable.tolist() == [[10], [10], [10], [400]]
    apart, limit = problem.rules
    assert isinstance(apart, AtMost)
    assert apart.domain.tolist() == [0, 1, 2, -1]
    assert limit is rules[1]
    assert wider.goes_nowhere == found.goes_nowhere


def test_a_cluster_from_which_no_pod_goes_nowhere_stays_as_it_is() -> None:
    found = cluster()

    assert with_nowhere(found) is found


def test_absurd_requests_of_the_pods_of_a_node_leave_nothing_to_others_that_hold_it() -> None:
    """Sums of more than int64 holds: the pods take all that is taken of the node."""
    nodes = [make_node("a", cpu="10"), make_node("b", cpu="10")]
    pods = [make_pod(f"p{number}", node="a", memory="8Ei", owners=[f"ReplicaSet/p{number}"]) for number in range(9)]
    small = make_pod("small", node="b", memory="1Gi")

    cluster = objective_over(
        "balanceUtilization", nodes, [*pods, small], args={"targetThresholds": {"cpu": 70}}
    ).cluster

    memory = cluster.resources.index("memory")
    assert cluster.held[:, memory].tolist() == [0, 0]
    assert cluster.problem.capacity[:, memory].tolist() == [8 * 2**30] * 2
    assert cluster.problem.need[0, memory] == 8 * 2**30 + 1
