"""Requests with room held for the replacements, on nodes that a plan has chosen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from descheduler.eviction.placement_verification.landing_book import LandingBook
from descheduler.eviction.placement_verification.scheduling_settings import SchedulingSettings
from descheduler.eviction.placement_verification.together import judge_together
from descheduler.model.groups.workloads import Workload
from descheduler.model.held_room import HeldRooms
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.moves import Move
from tests.builders import Object, make_node, make_pod, make_snapshot
from tests.eviction.runs import Run, make_run
from tests.planner.choosing import choosing_policy

SMALL, LARGE = make_pod("small", node="a", cpu="1"), make_pod("large", node="a", cpu="3")
NODES = [make_node("a", cpu="8"), make_node("b"), make_node("c")]
"""Nodes b and c have 4 cores."""


def run_of(*pods: Pod, nodes: list[Node] = NODES, policy: Object | None = None, **options: Any) -> Run:
    """A run of the policy of a plan that chooses nodes; the scheduler would leave every pod on node a."""
    workloads = {"replicaset-web": Workload("ReplicaSet", "default", "web", "replicaset-web", len(pods))}
    snapshot = make_snapshot(nodes, pods, workloads=workloads)
    return make_run(policy or choosing_policy({"consolidateNodes": {}}), snapshot, **options)


def bundle(*targets: tuple[Pod, str], profile: str = "p", index: int = 0) -> Bundle:
    """Pods with the nodes on which room is held for them, "" where the scheduler chooses."""
    return Bundle(
        profile, "MigrationPlanner", tuple(Candidate(pod).holding(HeldRooms(node)) for pod, node in targets), index
    )


def held_moves(run: Run) -> list[tuple[str, str, str | None]]:
    """Each move with the node that was chosen, and the one where its replacement lands."""
    landings = run.evictor.landings
    found = []
    for move in run.evictor.book.moves:
        landing = landings.landing_of(move.pod)
        found.append((move.pod.name, move.held_on, None if landing is None else landing.node))
    return found


class TestBundles:
    """Pods that leave together."""

    def test_pods_of_a_bundle_land_where_room_is_held_for_each(self) -> None:
        run = run_of(SMALL, LARGE)

        verdict = run.evictor.request(bundle((SMALL, "b"), (LARGE, "c")))

        assert verdict.is_accepted
        assert held_moves(run) == [("small", "b", "b"), ("large", "c", "c")]

    def test_bundle_is_refused_whole_where_one_node_has_no_room_for_two(self) -> None:
        run, other = run_of(SMALL, LARGE, more := make_pod("more", node="a", cpu="2")), run_of(SMALL, LARGE, more)
        before = run.state()

        verdicts = [
            each.evictor.request(bundle((more, "b"), (LARGE, node))) for each, node in ((run, "b"), (other, "c"))
        ]

        assert [verdict.reason for verdict in verdicts] == [Reason.NO_LANDING, None]
        assert "no room can be held for the replacement pod on b: insufficient cpu" in verdicts[0].message
        assert run.state() == before

    def test_mate_for_which_no_room_is_held_has_to_land_by_itself(self) -> None:
        """The scheduler would leave it on node a, which refuses the bundle."""
        run = run_of(SMALL, LARGE)

        verdict = run.evictor.request(bundle((SMALL, "b"), (LARGE, "")))

        assert verdict.reason is Reason.RETURNS_TO_SOURCE
        assert run.evictor.book.moves == []


class TestLaterRounds:
    """What an earlier round evicted counts on the room that was held for it."""

    @pytest.mark.parametrize(("node", "is_accepted"), [("b", False), ("c", True)])
    def test_prior_move_takes_the_room_that_was_held(self, node: str, *, is_accepted: bool) -> None:
        prior = Move(LARGE, "p", "MigrationPlanner", held_on="b")
        run = run_of(LARGE, more := make_pod("more", node="a", cpu="2"), prior_moves=[prior])

        assert run.evictor.request(bundle((more, node))).is_accepted is is_accepted

    def test_prior_move_is_booked_again_with_its_node(self) -> None:
        prior = Move(LARGE, "p", "MigrationPlanner", held_on="b")
        run = run_of(LARGE, SMALL, prior_moves=[prior])

        run.evictor.end_turn(profile="p", plugin="MigrationPlanner")

        assert held_moves(run) == [("large", "b", "b")]


class TestUndoing:
    """Held requests leave nothing behind."""

    def test_trial_is_taken_back(self) -> None:
        run = run_of(SMALL, LARGE)
        before = run.state()

        with run.evictor.what_if():
            run.evictor.request(bundle((SMALL, "b"), (LARGE, "c")))
            run.evictor.request(bundle((SMALL, "c")))

        assert run.state() == before


class TestSeveralSchedulers:
    """Profiles that verify by schedulers of their own."""

    def test_each_scheduler_has_the_room_that_was_held_under_another(self, blind: Path) -> None:
        """The taint of c keeps everything off it, but not by the scheduler of the second profile."""
        policy, second = choosing_policy({"consolidateNodes": {}}), choosing_policy({"consolidateNodes": {}})
        (other,) = second["profiles"]
        other["name"] = "blind"
        other["pluginConfig"].append({"name": "PlacementVerification", "args": {"schedulerConfigFile": str(blind)}})
        policy["profiles"].append(other)
        nodes = [*NODES[:2], make_node("c", taints=["closed=yes:NoSchedule"])]
        more = make_pod("more", node="a", cpu="2")
        run = run_of(LARGE, SMALL, more, nodes=nodes, policy=policy)

        answers = [
            run.evictor.request(asked).is_accepted
            for asked in (
                bundle((LARGE, "b")),
                bundle((more, "b"), profile="blind", index=1),
                bundle((more, "c")),
                bundle((more, "c"), profile="blind", index=1),
            )
        ]

        assert answers == [True, False, False, True]
        assert held_moves(run) == [("large", "b", "b"), ("more", "c", "c")]


class TestBook:
    """The landings of one run."""

    def test_scheduler_that_is_asked_later_has_the_held_rooms(self) -> None:
        book = LandingBook(make_snapshot(NODES, [SMALL, LARGE]))
        book.book(LARGE, SchedulingSettings(), held=HeldRooms("c"))

        landing = book.consider(SMALL, SchedulingSettings(names=("other",)), only_proven=True, held=HeldRooms("c"))
        full = book.consider(
            make_pod("wide", node="a", cpu="2"), SchedulingSettings(), only_proven=True, held=HeldRooms("c")
        )

        assert (landing.node, full.node) == ("c", None)

    def test_question_about_another_node_is_another_question(self) -> None:
        book, settings = LandingBook(make_snapshot(NODES, [SMALL])), SchedulingSettings()

        nodes = [book.consider(SMALL, settings, only_proven=True, held=HeldRooms(node)).node for node in ("b", "c", "")]

        assert nodes == ["b", "c", "a"]

    def test_replacements_with_chosen_nodes_are_not_judged_in_any_order(self) -> None:
        book = LandingBook(make_snapshot(NODES, [SMALL, LARGE]))
        book.book(SMALL, SchedulingSettings())
        judged = judge_together(book, 100)
        book.book(LARGE, SchedulingSettings(), held=HeldRooms("b"))

        assert judged is not None
        assert judge_together(book, 100) is None
