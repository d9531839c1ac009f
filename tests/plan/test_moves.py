"""What moves, candidates and planned evictions say of themselves."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from descheduler.model.held_room import NOTHING_HELD, HeldRoom, HeldRooms
from descheduler.model.pod import Owner
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.moves import Move, identity_of
from tests.builders import make_pod
from tests.migration.stand_ins import make_eviction

POD, OTHER = make_pod("cart"), make_pod("till")
ROOM = HeldRoom(OTHER, "b")


@pytest.mark.parametrize(
    ("profile", "plugin", "is_of"), [("p", "A", True), ("p", "B", False), ("q", "A", False), ("q", "B", False)]
)
def test_move_is_of_the_plugin_of_a_profile_that_asked_for_it(profile: str, plugin: str, is_of: bool) -> None:
    assert Move(POD, "p", "A").is_of(profile, plugin) is is_of


def test_move_says_what_is_held_and_where_the_replacement_lands() -> None:
    move = Move(POD, "p", "A", held_on="c", rooms=(ROOM,))

    assert move.held == HeldRooms("c", (ROOM,))
    assert move.to_node is None
    assert Move(POD, "p", "A").held == NOTHING_HELD


def test_candidate_has_room_on_its_target_only_where_that_is_held() -> None:
    candidate = Candidate(POD, target_node="b")

    assert candidate.held_on == ""
    assert replace(candidate, holds_target=True).held_on == "b"


def test_candidate_takes_over_what_is_held_for_it() -> None:
    candidate = Candidate(POD, "is old", "b")

    assert candidate.holding(HeldRooms("c", (ROOM,))) == Candidate(POD, "is old", "c", holds_target=True, rooms=(ROOM,))
    assert candidate.holding(HeldRooms("", (ROOM,))) is candidate


def test_mates_leave_with_a_bundle_in_their_own_name() -> None:
    bundle = Bundle("p", "A", (Candidate(POD, "is old"),)).with_mates([OTHER], "its gang leaves")

    assert bundle.pods == (POD, OTHER)
    assert bundle.candidates[1] == Candidate(OTHER, "its gang leaves", is_mate=True)


def test_bundle_of_different_pods_is_sound() -> None:
    assert Bundle("p", "A", (Candidate(POD), Candidate(OTHER))).pods == (POD, OTHER)


def test_pods_of_one_name_are_told_apart_by_their_uid() -> None:
    assert identity_of(POD) == ("default-cart", "default", "cart")
    assert identity_of(make_pod("cart", uid="later")) != identity_of(POD)


def test_workload_of_an_eviction_is_its_controller_or_else_the_pod() -> None:
    alone = make_eviction("cart")

    assert (alone.controller_uid, alone.workload) == ("", "uid-cart")
    owned = replace(alone, controller=Owner("ReplicaSet", "cart", "rs"))
    assert (owned.controller_uid, owned.workload) == ("rs", "rs")
