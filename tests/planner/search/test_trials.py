"""What comes of plans once their groups are asked for on trial: in which order, what is refused, what replaces it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from descheduler.model.pod import Pod
from descheduler.optimizer import Limits, Solution
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.order.waves import Reassignment
from descheduler.plan.moves import identity_of
from descheduler.planner.objectives.draining.closed_nodes import ClosedNodes
from descheduler.planner.search.asking import MovesTogether
from descheduler.planner.search.trials import Trial, Trials
from tests.builders import Object, make_budget, make_node, make_pod
from tests.planner.objective_over import Asked, objective_over

NODES = [make_node(name, cpu="10") for name in "abcd"]


def pod(name: str, cpu: str, node: str = "a", **facts: Any) -> Pod:
    return make_pod(name, cpu=cpu, node=node, **{"owners": [f"ReplicaSet/{name}"], **facts})


def trials_of(asked: Asked, **facts: Any) -> Trials:
    asked.objective.stated_over(asked.cluster)
    closed = ClosedNodes((), asked.handle, asked.handle.view.snapshot.nodes)
    return Trials(asked.objective, asked.handle.evictor, asked.cluster, chooses_nodes=False, closed=closed, **facts)


def plan_of(asked: Asked, *moves: Reassignment) -> Solution:
    """One that makes these moves."""
    goal = asked.objective.stated_over(asked.cluster).prepare(asked.objective.problem_over(asked.cluster))
    at = asked.cluster.problem.assignment.copy()
    for move in moves:
        at[move.pod] = move.target
    return Solution(
        assignment=at,
        waves=(tuple(moves),),
        value_before=goal.value(asked.cluster.problem.assignment),
        value=goal.value(at),
        bound=(0, 0),
        seconds=0.0,
        first_seconds=0.0,
        work=0.0,
        endings=frozenset(),
    )


def tried(asked: Asked, *moves: Reassignment, **facts: Any) -> Trial:
    return trials_of(asked, **facts).tried(plan_of(asked, *moves), Budget(Limits(work=1.0)))


def names(found: Trial) -> list[list[str]]:
    """The pods of the groups that were granted."""
    return [[each.name for each in group.pods] for group in found.groups]


BALANCE: Object = {"targetThresholds": {"cpu": 70}}


def balance(pods: Sequence[Pod], nodes: Any = NODES, **others: Any) -> Asked:
    return objective_over("balanceUtilization", nodes, pods, args=BALANCE, **others)


def test_all_is_granted_that_the_scheduler_places_without_harm_and_nothing_is_left_of_it() -> None:
    asked = balance([pod("p", "3"), pod("q", "6"), pod("b", "5", "b")])

    found = tried(asked, asked.move("p", "c"))

    assert names(found) == [["p"]]
    assert (found.figure, found.cost, found.num_evictions) == (0, asked.cluster.cost_of(asked.pod("p")), 1)
    assert (dict(found.refused), found.has_in_vain) == ({}, False)
    assert asked.objective.figure() == 1


def test_another_pod_leaves_in_place_of_one_that_is_refused() -> None:
    """The budget keeps pod p, which is the smallest that suffices."""
    budget = make_budget("guard", {"app": "p"}, disruptions_allowed=0)
    asked = balance([pod("p", "3", labels={"app": "p"}), pod("q", "6")], budgets=(budget,))

    found = tried(asked, asked.move("p", "b"))

    assert (found.figure, names(found)) == (0, [["q"]])
    assert list(found.refused) == [identity_of(asked.pod("p"))]


def test_no_pod_leaves_in_place_of_one_that_no_other_can_replace() -> None:
    budget = make_budget("guard", {"app": "x"}, disruptions_allowed=0)
    asked = balance([pod(name, cpu, labels={"app": "x"}) for name, cpu in (("p", "3"), ("q", "6"))], budgets=(budget,))

    found = tried(asked, asked.move("p", "b"))

    assert (found.figure, names(found), found.cost) == (1, [], 0)
    assert found.refused[identity_of(asked.pod("p"))].startswith("PodDisruptionBudget default/guard allows 0")


def test_pods_leave_in_vain_where_their_node_stays_over_its_target() -> None:
    """Two pods would have to leave, and one is all that may."""
    asked = balance([pod("p", "2"), pod("q", "2"), pod("bare", "6", owners=[])])

    one = tried(asked, asked.move("p", "b"), asked.move("q", "c"), most=1)
    both = tried(asked, asked.move("p", "b"), asked.move("q", "c"))

    assert (one.figure, one.has_in_vain, one.num_evictions) == (1, True, 1)
    assert list(one.refused.values()) == ["maxEvictions (1) reached"]
    assert (both.figure, both.has_in_vain, both.num_evictions) == (0, False, 2)
    trials = trials_of(asked, most=1)
    assert list(trials.useful(one.groups)) == []
    assert [group.pods[0].name for group in trials_of(asked).useful(both.groups)] == ["p", "q"]


def test_of_a_plan_that_was_asked_for_as_a_whole_the_parts_are_of_use_that_do_not_leave_in_vain() -> None:
    """Node a stays over its target without pod p; node b does not without pod r."""
    asked = balance([pod("p", "2"), pod("bare", "8", owners=[]), pod("r", "4", "b"), pod("s", "4", "b")])
    whole = MovesTogether([asked.move("p", "c"), asked.move("r", "c")], asked.cluster, None)

    found = trials_of(asked).useful([whole])

    assert [[each.name for each in group.pods] for group in found] == [["r"]]


def test_what_is_refused_is_repeated_by_no_later_plan_unless_it_leaves_in_a_better_one() -> None:
    budget = make_budget("guard", {"app": "p"}, disruptions_allowed=0)
    asked = balance([pod("p", "3", labels={"app": "p"}), pod("q", "6")], budgets=(budget,))
    found = tried(asked, asked.move("p", "b"))

    assert found.refused_beside(found) == found.refused
    better = found._replace(groups=trials_of(asked).groups(plan_of(asked, asked.move("p", "b"))))
    assert found.refused_beside(better) == {}


def test_a_group_that_makes_room_is_asked_for_as_a_whole() -> None:
    """Pod b makes room on node b, where the large pod goes alone by its labels; without it neither leaves."""
    nodes = [make_node("a", cpu="10"), make_node("b", cpu="10", labels={"x": "y"}), make_node("c", cpu="30")]
    pods = [pod("large", "6", node_selector={"x": "y"}), pod("rest", "3"), pod("b", "5", "b", labels={"app": "b"})]
    asked = balance(pods, nodes)
    budgets = (make_budget(name, {"app": name}, disruptions_allowed=0) for name in ("b", "rest"))
    kept = balance([pods[0], pod("rest", "3", labels={"app": "rest"}), pods[2]], nodes, budgets=tuple(budgets))

    found = tried(asked, asked.move("b", "c"), asked.move("large", "b"))
    stays = tried(kept, kept.move("b", "c"), kept.move("large", "b"))

    assert names(found) == [["b", "large"]]
    assert names(stays) == []
    assert identity_of(kept.pod("b")) in stays.refused


def consolidate(pods: Sequence[Pod], **others: Any) -> Asked:
    return objective_over("consolidateNodes", NODES, pods, packs=True, **others)


def test_pods_of_a_node_leave_as_a_bundle_or_not_at_all_and_companions_are_told() -> None:
    budget = make_budget("guard", {"app": "q"}, disruptions_allowed=0)
    pods = [pod("p", "1"), pod("q", "1", labels={"app": "q"}), pod("r", "1", "b"), pod("s", "5", "c")]
    asked = consolidate(pods, budgets=(budget,))

    found = tried(asked, asked.move("p", "c"), asked.move("q", "c"), asked.move("r", "c"))

    assert (found.figure, names(found)) == (2, [["r"]])
    assert found.companions == {identity_of(asked.pod("p"))}
    assert found.refused[identity_of(asked.pod("p"))].startswith(
        "it would leave only together with pod default/q, which has to stay: PodDisruptionBudget default/guard"
    )
    assert found.refused[identity_of(asked.pod("q"))].startswith("PodDisruptionBudget default/guard")


def test_zones_are_asked_for_one_after_the_other_each_with_what_is_refused_in_it() -> None:
    zone = "topology.kubernetes.io/zone"
    zones = {"a": "x", "b": "y", "c": "x", "d": "y"}
    nodes = [make_node(name, cpu="10", labels={zone: each}, unschedulable=name in "ab") for name, each in zones.items()]
    args = {"nodes": ["a", "b"], "zonesInTurn": True}
    asked = objective_over("drainNodes", nodes, [pod("p", "2"), pod("q", "2", "b")], args=args)

    found = tried(asked, asked.move("q", "c"), asked.move("p", "d"))

    assert (found.figure, names(found)) == (0, [["p"], ["q"]])


def test_groups_that_are_dropped_are_planned_again_from_where_the_plan_had_them() -> None:
    """Pod q leaves in place of p in the further plan."""
    asked, told = balance([pod("p", "3"), pod("q", "6"), pod("s", "4", "b"), pod("t", "5", "b")]), list[Any]()

    def plan_further(targets: Any) -> Any:
        told.append(dict(targets))
        return None if len(told) > 1 else (plan_of(asked, asked.move("q", "d")), asked.cluster)

    trials = trials_of(asked, plan_further=plan_further)
    trial = trials.tried(plan_of(asked, asked.move("p", "c"), asked.move("s", "d")), Budget(Limits(work=1.0)))
    dropped = next(number for number, group in enumerate(trial.groups) if group.pods[0].name == "p")

    found = trials.replanned(trial, {dropped})

    assert told[0] == {asked.pod("p").uid: "c"}
    assert (found.figure, names(found)) == (0, [["s"], ["q"]])


@pytest.mark.parametrize(("number", "most"), [(0, 0), (1, 1), (2, 2), (6, 2), (9, 3)])
def test_some_groups_are_dropped_those_with_many_evictions_more_often(number: int, most: int) -> None:
    groups: Any = [type("Group", (), {"pods": [None] * (5 if each == 0 else 1)}) for each in range(number)]
    trial = Trial(0, 0, None, None, groups, False, {})  # type: ignore[arg-type]

    drawn = [trial.to_drop(np.random.default_rng(seed)) for seed in range(200)]

    assert all(each <= set(range(number)) for each in drawn)
    assert {len(each) for each in drawn} == (set(range(1, most + 1)) if number else {0})
    if number > 2:
        assert sum(0 in each for each in drawn) > sum(1 in each for each in drawn) * 1.4


@pytest.mark.parametrize(
    ("whole", "moving", "groups"),
    [
        pytest.param(True, "pb", [["p", "b"]], id="all in one"),
        pytest.param(True, "p", [["p"]], id="one move"),
        pytest.param(False, "pb", [["p"], ["b"]], id="each by itself"),
        pytest.param(True, "pg", [["p"], ["b"]], id="each by itself, as one is refused, which pod b replaces"),
    ],
)
def test_a_plan_that_chooses_nodes_is_asked_for_as_a_whole_first(
    whole: bool, moving: str, groups: list[list[str]]
) -> None:
    """Nodes a and b are over their target. A budget keeps pod g."""
    guard = make_budget("guard", {"app": "g"}, disruptions_allowed=0)
    pods = [pod("p", "3"), pod("q", "6"), pod("b", "3", "b"), pod("g", "6", "b", labels={"app": "g"})]
    asked = balance(pods, budgets=(guard,))

    moves = [asked.move(name, node) for name, node in zip(moving, "cd", strict=False)]
    found = tried(asked, *moves, tries_whole=whole)

    assert names(found) == groups


def test_bundles_are_asked_for_one_by_one() -> None:
    asked = consolidate([pod("p", "1"), pod("r", "1", "b"), pod("s", "5", "c")])

    found = tried(asked, asked.move("p", "c"), asked.move("r", "c"), tries_whole=True)

    assert names(found) == [["p"], ["r"]]


@pytest.mark.parametrize(("work", "leaving"), [(1.0, ["p", "x"]), (1e-6, ["p"])])
def test_what_was_refused_is_asked_for_first_as_long_as_the_limits_allow(work: float, leaving: list[str]) -> None:
    """Pod x may go to node c alone, which the scheduler prefers for the larger pod p, too; node d has room for that."""
    nodes = [make_node(name, cpu="10", labels={"name": name}) for name in "abcd"]
    of_a = [pod("p", "4"), pod("bare-a", "4", owners=[])]
    of_b = [pod("x", "3", "b", node_selector={"name": "c"}), pod("bare-b", "5", "b", owners=[])]
    asked = balance([*of_a, *of_b, pod("c", "2", "c"), pod("d", "3", "d")], nodes)

    plan = plan_of(asked, asked.move("p", "d"), asked.move("x", "c"))
    found = trials_of(asked).tried(plan, Budget(Limits(work=work)))

    assert sorted(name for group in names(found) for name in group) == leaving
    assert found.figure == 2 - len(leaving)
