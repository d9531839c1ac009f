"""MigrationPlanner with `chooseNodes`: the plan chooses where replacements go, and room is held for them there.

The scheduler prefers empty nodes, and would place them elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from descheduler.cycle.applying import PlanRefusedError, still_valid
from descheduler.cycle.options import PlanToApply
from descheduler.model.held_room import HeldRoom
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import Move
from descheduler.report.plan.file import ClusterIdentity, make_plan_file
from descheduler.report.plan.making import make_plan
from descheduler.report.plan.reading import PlanFileError, read_plan_file
from tests.builders import Object, make_node, make_pod, make_snapshot, required_anti_affinity
from tests.planner.choosing import run_choosing, targets
from tests.planner.runs import goal_of
from tests.strategies.runs import evicted

GPU = "nvidia.com/gpu"
UNDER_70: Object = {"targetThresholds": {"cpu": 70}}
UNDER_85: Object = {"targetThresholds": {"cpu": 85}}


def node(name: str, **facts: Any) -> Node:
    """One with 10 cores and 8 GPUs."""
    return make_node(name, cpu="10", allocatable={GPU: "8"}, **facts)


NODES = [node(name) for name in "abc"]


def pod(name: str, cpu: str, on: str, **facts: Any) -> Pod:
    return make_pod(name, cpu=cpu, node=on, **{"owners": [f"ReplicaSet/{name}"], **facts})


def fixed(name: str, cpu: str, on: str, **facts: Any) -> Pod:
    """One that nothing would create again."""
    return pod(name, cpu, on, owners=[], **facts)


def pending(name: str, cpu: str, **facts: Any) -> Pod:
    return pod(name, cpu, "", phase="Pending", **facts)


def outcome(decisions: Decisions) -> tuple[int, int]:
    """The figure of the one goal before and after."""
    (level,) = goal_of(decisions).levels
    return level.before, level.after


def to_apply(plan: Decisions, folder: Path) -> PlanToApply:
    """The plan as it is read from a file."""
    path = folder / "plan.json"
    path.write_bytes(msgspec.json.encode(make_plan_file(plan, ClusterIdentity(server="https://a", uid="u"))))
    return PlanToApply(read_plan_file(path), max_age=timedelta(minutes=5))


def both(key: str, pods: Sequence[Pod], nodes: Sequence[Node] = NODES, **args: Any) -> tuple[Decisions, Decisions]:
    """What is decided where the plan chooses nodes, and where the scheduler does."""
    chosen, free = (run_choosing(key, nodes, pods, args=args, chooses=chooses) for chooses in (True, False))
    return chosen, free


class TestObjectives:
    """What the scheduler's own choice would not do."""

    def test_pods_that_a_limit_of_the_run_rejects_are_not_the_cause_where_others_are(self) -> None:
        """Of the workload of p and q one pod may be evicted; that is p, whose node comes under its target."""
        web = {"owners": ["ReplicaSet/web"]}
        pods = [pod("p", "2", "a", **web), pod("r", "6", "a"), fixed("bare", "8", "b"), pod("q", "1", "b", **web)]

        plan = run_choosing("balanceUtilization", NODES, pods, args=UNDER_70, limits={"maxMigratingPerWorkload": 1})

        assert evicted(plan) == ["p"]
        assert goal_of(plan).sentence.endswith(
            "; node b stays over its target: 1 of 2 pods cannot be evicted (pod default/bare: the pod has no owner"
            " that recreates it)"
        )

    def test_a_node_is_emptied_onto_a_fuller_one(self) -> None:
        chosen, free = both("consolidateNodes", [pod("p", "2", "a"), fixed("q", "6", "b"), fixed("r", "3", "c")])

        assert targets(chosen) == {"p": "b"} or targets(chosen) == {"p": "c"}
        assert (outcome(chosen), outcome(free)) == ((3, 2), (3, 3))

    def test_a_node_under_its_target_makes_room_for_the_pod_of_another(self) -> None:
        """The scheduler would place p on c, which would be over its target then."""
        pods = [
            pod("p", "4", "a"),
            fixed("r", "5", "a"),
            pod("q", "3", "b"),
            fixed("s", "3", "b"),
            fixed("t", "4", "c"),
        ]

        chosen, free = both("balanceUtilization", pods, **UNDER_70)

        assert targets(chosen) == {"q": "c", "p": "b"}
        assert (outcome(chosen), outcome(free)) == ((1, 0), (1, 1))

    def test_room_for_a_pending_pod_is_left_where_a_replacement_would_go(self) -> None:
        """Node c has the most room, of which both pending pods need all."""
        pods = [pod("p", "2", "a"), fixed("r", "2", "a"), fixed("s", "8", "b"), fixed("t", "1", "c")]

        chosen, _ = both("makeRoom", [*pods, pending("x", "8"), pending("y", "8")])

        assert targets(chosen) == {"p": "b"}
        assert outcome(chosen) == (1, 0)

    def test_gpus_are_put_together_on_a_node_that_is_nearly_full(self) -> None:
        def gpus(name: str, number: int, on: str, **facts: Any) -> Pod:
            return pod(name, "1", on, requests={GPU: str(number)}, **facts)

        pods = [gpus("p", 2, "a"), gpus("q", 4, "b", owners=[]), gpus("r", 6, "c", owners=[]), fixed("s", "5", "c")]

        chosen, free = both("reduceFragmentation", [*pods, gpus("large", 8, "d", owners=[])], resource=GPU)

        assert targets(chosen) == {"p": "c"}
        assert outcome(chosen)[1] < outcome(free)[1]

    def test_violations_are_repaired_by_replacements_that_fit_in_one_way_only(self) -> None:
        """The scheduler would place the larger one, which leaves first, on the only node that takes the smaller one."""
        tainted = node("a", taints=["gone=soon:NoSchedule"])
        memory = [fixed("s", "5", "b", memory="1Gi"), fixed("t", "4", "c", memory="5Gi")]
        pods = [pod("p", "4", "a", memory="1Gi"), pod("q", "5", "a", memory="3Gi"), *memory]

        chosen, _ = both("repairViolations", pods, [tainted, *NODES[1:]], strategies=["RemovePodsViolatingNodeTaints"])

        assert outcome(chosen) == (2, 0)
        assert targets(chosen) == {move.pod.name: move.to_node for move in chosen.moves}


class TestPlans:
    """What a plan with chosen nodes says."""

    CHAIN = (pod("p", "4", "a"), fixed("r", "5", "a"), pod("q", "3", "b"), fixed("s", "4", "b"), fixed("t", "5", "c"))
    """Pod q has to leave b before p has room there."""

    def test_what_needs_the_room_of_another_comes_in_the_next_wave(self) -> None:
        decisions = run_choosing("balanceUtilization", NODES, self.CHAIN, args=UNDER_85)

        assert [(move.pod.name, move.held_on, move.wave) for move in decisions.moves] == [("q", "c", 1), ("p", "b", 2)]

    def test_the_same_cluster_gives_the_same_plan(self) -> None:
        plans = [run_choosing("balanceUtilization", NODES, self.CHAIN, args=UNDER_85) for _ in range(2)]

        assert make_plan(plans[0]).moves == make_plan(plans[1]).moves

    def test_the_plan_says_of_each_move_that_its_node_is_chosen(self) -> None:
        chosen, free = (
            run_choosing("consolidateNodes", NODES, [pod("p", "2", "a"), fixed("q", "6", "b")], chooses=chooses)
            for chooses in (True, False)
        )

        assert [(move.to_node, move.holds_target) for move in make_plan(chosen).moves] == [("b", True)]
        assert not any(move.holds_target for move in make_plan(free).moves)

    def test_nothing_is_said_of_a_scheduler_that_should_prefer_other_nodes(self) -> None:
        full = [fixed("q", "9", "b"), fixed("r", "9", "c")]

        decisions = run_choosing("consolidateNodes", NODES, [pod("p", "2", "a"), *full])

        assert "MostAllocated" not in goal_of(decisions).sentence

    def test_what_is_refused_is_planned_around(self) -> None:
        """No room can be held on b, where a pod keeps the replacement away of which the plan does not know."""
        away = required_anti_affinity({"app": "web"})
        guard = fixed("guard", "6", "b", affinity=away)
        pods = [pod("p", "2", "a", labels={"app": "web"}), guard, fixed("r", "1", "c")]

        decisions = run_choosing("consolidateNodes", NODES, pods)

        assert targets(decisions) == {"p": "c"}

    def test_replicas_that_keep_apart_are_not_put_together(self) -> None:
        facts: Object = {"labels": {"app": "web"}, "affinity": required_anti_affinity({"app": "web"})}
        pods = [pod("p", "1", "a", **facts), pod("q", "1", "a2", **facts), fixed("r", "4", "b"), fixed("s", "4", "c")]

        decisions = run_choosing("consolidateNodes", [*NODES, node("a2")], pods)

        assert sorted(targets(decisions)) == ["p", "q"]
        assert sorted(targets(decisions).values()) == ["b", "c"]

    def test_a_node_is_chosen_for_each_replacement_also_where_a_plan_was_refused(self) -> None:
        """Pods p and s would change places, of which neither can be the first."""
        nodes = [make_node("a", cpu="8"), make_node("b", cpu="12"), make_node("c", cpu="12")]
        on_c = [pod(name, "4", "c") for name in ("q", "r", "t")]
        pods = [pod("p", "4", "a"), fixed("u", "4", "a"), pod("s", "1", "b"), *on_c]

        decisions = run_choosing("balanceUtilization", nodes, pods, args=UNDER_70)

        assert evicted(decisions)
        assert all(targets(decisions).values())

    def test_pod_whose_scheduler_is_not_modelled_stays(self) -> None:
        decisions = run_choosing(
            "consolidateNodes", NODES, [pod("p", "2", "a", scheduler="volcano"), fixed("q", "6", "b")]
        )

        assert evicted(decisions) == []


class TestLaterRounds:
    """What was evicted with room held counts on that room in the rounds that follow, and when a plan is applied."""

    PODS = (pod("p", "2", "a"), pod("q", "2", "a"), fixed("r", "6", "b"), fixed("s", "3", "c"))

    def test_moves_of_an_earlier_round_keep_their_nodes(self) -> None:
        first = run_choosing("consolidateNodes", NODES, self.PODS)

        second = run_choosing("consolidateNodes", NODES, self.PODS, prior_moves=first.moves)

        assert targets(first)
        assert targets(second) == targets(first)
        assert [move.to_node for move in second.moves] == [move.to_node for move in first.moves]

    def test_moves_that_were_chosen_before_keep_their_nodes(self) -> None:
        plan = run_choosing("consolidateNodes", NODES, self.PODS)

        applied = run_choosing("consolidateNodes", NODES, self.PODS, chosen=plan.moves)

        assert targets(applied) == targets(plan)
        assert [move.to_node for move in applied.moves] == [move.to_node for move in plan.moves]

    def test_plan_from_a_file_is_applied_with_its_nodes(self, tmp_path: Path) -> None:
        plan = run_choosing("consolidateNodes", NODES, self.PODS)

        def decide_on(chosen: Sequence[Move]) -> Decisions:
            return run_choosing("consolidateNodes", NODES, self.PODS, chosen=chosen)

        chosen, left_out = still_valid(to_apply(plan, tmp_path), plan.snapshot, decide_on)

        assert left_out == ()
        assert {move.pod.uid.removeprefix("default-"): move.held_on for move in chosen} == targets(plan)

    @pytest.mark.parametrize("chooses", [True, False], ids=["room is held", "no room is held"])
    @pytest.mark.parametrize(
        ("later", "told"),
        [
            pytest.param([], "is gone", id="it is gone"),
            pytest.param([fixed("large", "4", "d")], "is scheduled already", id="it has a node"),
        ],
    )
    def test_plan_that_makes_room_for_a_pod_that_waits_no_more_is_refused(
        self, tmp_path: Path, later: list[Pod], told: str, chooses: bool
    ) -> None:
        *others, large = TestRoomForPendingPods.PODS
        plan = run_choosing("makeRoom", NODES, [*others, large], chooses=chooses)
        snapshot = make_snapshot(NODES, [*others, *later])

        with pytest.raises(PlanRefusedError) as refused:
            still_valid(to_apply(plan, tmp_path), snapshot, lambda chosen: plan)

        assert f"\n  pod default/p: pod default/large, for which it makes room, {told}\n" in str(refused.value)

    def test_plan_file_that_holds_room_for_a_pod_twice_is_none(self, tmp_path: Path) -> None:
        plan = run_choosing("makeRoom", NODES, TestRoomForPendingPods.PODS)
        (move,) = plan.moves
        changed = msgspec.structs.replace(plan, moves=(msgspec.structs.replace(move, rooms=move.rooms * 2),))

        with pytest.raises(PlanFileError, match="a pod in roomFor has no UID or is named twice; the file was changed"):
            to_apply(changed, tmp_path)

    def test_plan_is_applied_for_those_of_its_pods_that_still_wait(self) -> None:
        """Room on a is not held for pod second any more, which has a node by now."""
        *others, large = TestRoomForPendingPods.PODS
        pods = [*others, large, fixed("second", "1", "d")]
        rooms = (HeldRoom(pods[-1], "a"), HeldRoom(large, "a"))
        chosen = Move(pods[0], "p", "MigrationPlanner", held_on="b", rooms=rooms)

        (move,) = run_choosing("makeRoom", [*NODES, node("d", unschedulable=True)], pods, chosen=[chosen]).moves

        assert [(room.pod.name, room.node) for room in move.rooms] == [("large", "a")]

    def test_move_onto_a_node_that_is_gone_is_refused(self) -> None:
        (move, *_) = run_choosing("consolidateNodes", NODES, self.PODS).moves
        chosen = [msgspec.structs.replace(move, held_on="gone")]

        applied = run_choosing("consolidateNodes", NODES, self.PODS, chosen=chosen)

        assert [refusal.verdict.message for refusal in applied.refusals] == [
            "no room can be held for the replacement pod on gone: node is not in the snapshot"
        ]


class TestRoomForPendingPods:
    """Reservations for the pods that evictions make room for."""

    PODS = (
        pod("p", "2", "a"),
        fixed("r", "6", "a"),
        fixed("s", "8", "b"),
        fixed("t", "9", "c"),
        pending("large", "4"),
    )
    """Pod large fits on a once p has left for b."""

    def test_room_is_held_for_the_pending_pod_once_the_one_in_its_way_has_left(self) -> None:
        (move,) = run_choosing("makeRoom", NODES, self.PODS).moves

        assert (move.pod.name, move.held_on) == ("p", "b")
        assert [(room.pod.name, room.node) for room in move.rooms] == [("large", "a")]

    def test_the_plan_says_for_which_pods(self) -> None:
        (move,) = make_plan(run_choosing("makeRoom", NODES, self.PODS)).moves

        assert [(room.pod.name, room.node) for room in move.room_for] == [("large", "a")]

    def test_a_plan_without_chosen_nodes_holds_no_room(self) -> None:
        (move,) = run_choosing("makeRoom", NODES, self.PODS, chooses=False).moves

        assert move.rooms == ()

    def test_none_is_held_for_the_pods_of_another_scheduler(self) -> None:
        pods = [*self.PODS[:-1], pending("large", "4", scheduler="koord-scheduler")]

        decisions = run_choosing("makeRoom", NODES, pods)

        assert [room for move in decisions.moves for room in move.rooms] == []

    def test_a_later_round_and_an_applied_plan_hold_the_same_room(self) -> None:
        (move,) = run_choosing("makeRoom", NODES, self.PODS).moves

        later = run_choosing("makeRoom", NODES, self.PODS, prior_moves=[move])
        applied = run_choosing("makeRoom", NODES, self.PODS, chosen=[move])

        assert [each.rooms for each in (*later.moves, *applied.moves)] == [move.rooms, move.rooms]

    @pytest.mark.long
    def test_moves_that_leave_together_are_applied_together(self) -> None:
        """Pod p can go to b only once q has left it."""
        pods = [pod("p", "4", "a"), fixed("r", "5", "a"), pod("q", "2", "b"), fixed("s", "6", "b")]
        pods += [fixed("t", "8", "c"), pending("large", "5")]
        plan = run_choosing("makeRoom", NODES, pods)

        applied = run_choosing("makeRoom", NODES, pods, chosen=plan.moves)

        assert targets(plan) == {"q": "c", "p": "b"}
        assert [(move.pod.name, move.wave, move.bundle) for move in applied.moves] == [("q", 1, 1), ("p", 2, 1)]
        assert [[room.pod.name for room in move.rooms] for move in applied.moves] == [["p"], ["large"]]

    @pytest.mark.long
    def test_chains_that_share_a_node_leave_together_and_hold_room_for_each_other(self) -> None:
        """What p leaves is enough for one of large and small, and for q, which has to leave so that two fit on b."""
        nodes = [make_node(name, cpu="10", labels={"disk": name}) for name in "abc"]
        pods = [pod("p", "6", "a"), fixed("r", "3", "a"), pod("q", "2.5", "b"), fixed("s", "6", "b")]
        pods.append(fixed("t", "4", "c"))
        waiting = {"large": ("4", "a"), "small": ("2.5", "a"), "m1": ("2.1", "b"), "m2": ("1.9", "b")}
        pods += [pending(name, cpu, node_selector={"disk": disk}) for name, (cpu, disk) in waiting.items()]

        first, second = run_choosing("makeRoom", nodes, pods).moves

        assert (first.pod.name, second.pod.name, second.held_on) == ("p", "q", "a")
        assert first.bundle == second.bundle != 0
        assert "q" in [room.pod.name for room in first.rooms]
        assert [room.pod.name for room in second.rooms] == ["m1", "m2"]
