"""Replacements of gang members (koordinator.md 8.3 and 8.4), and pending pods of gangs beside them (8.2)."""

from __future__ import annotations

from random import Random

import pytest

from descheduler.model.koordinator.gang_settings import POD_GROUP_LABEL
from descheduler.placement.landings.landing import LandingVerdict
from tests.placement.plugins.coscheduling.random_joint import faults_of, make_world
from tests.placement.plugins.coscheduling.worlds import group_of, member, nodes_of, prover_of

LANDS, LANDS_IF, NO = LandingVerdict.LANDS, LandingVerdict.LANDS_IF, LandingVerdict.NO
UNKNOWN = LandingVerdict.UNKNOWN


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        pytest.param("once-satisfied", LANDS, id="which was satisfied once, is bound alone"),
        pytest.param("waiting-and-running", LANDS, id="is bound beside the running members"),
        pytest.param("only-waiting", NO, id="waits for a whole gang to wait"),
    ],
)
def test_replacement_of_one_member(policy: str, expected: LandingVerdict) -> None:
    pods = [member(f"m{index}") for index in range(4)]
    prover = prover_of(nodes_of(8), pods, [group_of("train", 4, policy)])

    landing, joint = prover.consider(pods[0]), prover.prove(pods[:1])

    assert (landing.verdict, joint.verdict) == (expected, expected)


def test_refusal_names_the_gang_and_how_many_of_it_are_there() -> None:
    pods = [member(f"m{index}") for index in range(4)]
    prover = prover_of(nodes_of(8), pods, [group_of("train", 4, "only-waiting")])

    landing = prover.consider(pods[0])

    assert landing.message == (
        "the scheduler rejects the replacement pod: "
        "too few pods of gang default/train (1 of 4) can be scheduled together"
    )


@pytest.mark.parametrize("policy", ["once-satisfied", "waiting-and-running", "only-waiting"])
def test_whole_gang_lands_together_where_there_is_room_for_all(policy: str) -> None:
    pods = [member(f"m{index}") for index in range(4)]
    groups = [group_of("train", 4, policy)]

    assert prover_of(nodes_of(4), pods, groups).prove(pods).verdict is LANDS
    assert prover_of(nodes_of(3), pods, groups).prove(pods).verdict is NO


def test_gang_below_its_minimum_gets_no_member_bound_again() -> None:
    pods = [member(f"m{index}") for index in range(3)]
    prover = prover_of(nodes_of(8), pods, [group_of("train", 4, "waiting-and-running")])

    landing = prover.consider(pods[0])

    assert landing.verdict is NO
    assert landing.message == (
        "the scheduler rejects the replacement pod: too few pods of gang default/train (3 of 4) exist"
    )


def test_nobody_can_tell_of_more_replacements_than_fill_whole_gangs() -> None:
    """By only-waiting four are bound as soon as they wait; the fifth is too, if it has found a node by then."""
    pods = [member(f"m{index}") for index in range(5)]
    prover = prover_of(nodes_of(8), pods, [group_of("train", 4, "only-waiting")])

    assert prover.prove(pods[:4]).verdict is LANDS
    assert prover.prove(pods).verdict is UNKNOWN


def test_gangs_of_a_group_are_bound_together() -> None:
    both = ("one", "two")
    first = [member(f"a{index}", "one") for index in range(2)]
    second = [member(f"b{index}", "two") for index in range(2)]
    groups = [group_of(name, 2, "only-waiting", groups=both) for name in both]

    prover = prover_of(nodes_of(8), [*first, *second], groups)

    assert prover.prove(first).verdict is NO
    assert prover.prove([*first, *second]).verdict is LANDS


def test_part_of_a_gang_that_fits_takes_no_room_from_others() -> None:
    """Two of three find a node, so none is bound, and the other pod has the room for itself."""
    gang = [member(f"m{index}", cpu="2") for index in range(3)]
    other = member("other", "", cpu="4")
    prover = prover_of(nodes_of(4), [*gang, other], [group_of("train", 3, "only-waiting")])

    joint = prover.prove([*gang, other])

    assert [landing.verdict for landing in joint.landings] == [NO, NO, NO, LANDS]


def test_pod_of_a_group_that_does_not_exist_is_not_bound() -> None:
    pod = member("alone", "nobody")
    prover = prover_of(nodes_of(8), [pod])

    landing = prover.consider(pod)

    assert landing.verdict is NO
    assert "gang default/nobody has no PodGroup and no valid minMember" in landing.message


def test_pending_gang_competes_only_if_enough_of_it_fit() -> None:
    waiting = [member(f"w{index}", "waiting", node="", cpu="2") for index in range(3)]
    victim = member("victim", "", cpu="2")
    groups = [group_of("waiting", 3)]

    crowded = prover_of(nodes_of(4), [victim, *waiting], groups).consider(victim)
    roomy = prover_of(nodes_of(6), [victim, *waiting], groups).consider(victim)

    assert crowded.verdict is LANDS
    assert (roomy.verdict, roomy.conditions) == (LANDS_IF, ("pending pod default/w2 may be scheduled there first",))


def test_booked_eviction_of_a_gang_member_is_taken_back_without_a_trace() -> None:
    pods = [member(f"m{index}") for index in range(4)]
    waiting = [member(f"w{index}", "late", node="") for index in range(2)]
    groups = [group_of("train", 4, "only-waiting"), group_of("late", 2)]
    prover = prover_of(nodes_of(8), [*pods, *waiting], groups)
    digest = prover.cluster.digest()

    for pod in pods:
        prover.book(pod)
    for _ in pods:
        prover.take_back()

    assert prover.cluster.digest() == digest


def test_pods_that_follow_a_gang_find_what_it_left() -> None:
    """A pending gang by labels alone is placed as a whole before the victims of its priority."""
    labels = {f"{POD_GROUP_LABEL}/name": "light", f"{POD_GROUP_LABEL}/min-available": "2"}
    waiting = [member(f"w{index}", "", node="", cpu="2", labels=labels) for index in range(2)]
    victims = [member(f"v{index}", "", cpu="2") for index in range(2)]
    prover = prover_of(nodes_of(6), [*victims, *waiting])

    landings = [prover.book(victim) for victim in victims]

    assert [landing.verdict for landing in landings] == [LANDS, LANDS_IF]


@pytest.mark.long
def test_verdicts_on_small_batches_are_those_of_brute_force() -> None:
    worlds = [make_world(Random(f"suite/{number}")) for number in range(60)]

    assert {number: faults for number, world in enumerate(worlds) if (faults := faults_of(world))} == {}


def test_members_that_were_placed_are_not_counted_twice_when_the_others_are_tried() -> None:
    both = ("one", "two")
    groups = [
        group_of("one", 2, "waiting-and-running", groups=both),
        group_of("two", 1, "only-waiting", groups=both),
    ]
    pods = [
        member("first", "one", cpu="1"),
        member("second", "two", cpu="3"),
        member("third", "one", cpu="1"),
        member("stays", "two", cpu="1"),
    ]

    assert prover_of(nodes_of(1, 4), pods, groups).prove(pods[:3]).verdict is not NO


def test_members_that_do_not_all_fit_are_said_to_need_each_other() -> None:
    pods = [member(f"m{index}") for index in range(2)]
    joint = prover_of(nodes_of(1), pods, [group_of("train", 2, "only-waiting")]).prove(pods)

    assert {landing.message for landing in joint.landings} == {
        "the replacement pods of its gang can only be scheduled together, and not all of them find a node"
    }
