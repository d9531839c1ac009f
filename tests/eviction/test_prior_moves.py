"""What earlier rounds of a run have evicted: it counts from the start, and is booked once more in its own name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.eviction.checks.limits import RunLimits
from descheduler.eviction.evictor import NOT_CREATED
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, EvictionLimit, Reason, refuse
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.moves import Move
from tests.builders import make_node, make_pod, make_view
from tests.eviction.evictors import UNLIMITED, Setting, ask, make_setting

ONE, TWO, THREE = (make_pod(name, node=node) for name, node in (("one", "a"), ("two", "a"), ("three", "b")))
MINE, OTHERS = {"profile": "p", "plugin": "q"}, {"profile": "p", "plugin": "other"}


def setting(*prior: Pod, limits: RunLimits = UNLIMITED, plugin: str = "q", takes_effect: bool = False) -> Setting:
    """An evictor after rounds in which `plugin` has evicted these."""
    moves = [Move(pod, "p", plugin, "before", wave=2, bundle=1) for pod in prior]
    view = make_view([make_node("a"), make_node("b")], [ONE, TWO, THREE], moves_take_effect=takes_effect)
    view = type(view)(view.snapshot, moves_take_effect=takes_effect, prior_moves=moves)
    return make_setting(view, limits)


def booked(found: Setting) -> list[tuple[str, str, str, bool]]:
    """Pod, plugin and reason of each move, and whether it is a further request."""
    return [(move.pod.name, move.plugin, move.reason, move.is_repeated) for move in found.evictor.book.moves]


def test_pod_that_was_evicted_before_is_granted_at_no_charge() -> None:
    found = setting(ONE, limits=RunLimits(total=2))

    verdicts = [ask(found.evictor, pod, reason="now") for pod in (ONE, TWO, THREE)]

    assert [verdict.limit for verdict in verdicts] == [None, None, EvictionLimit.TOTAL]
    assert booked(found) == [("one", "q", "before", False), ("two", "q", "now", False)]
    assert found.counters.total == 2


def test_pod_that_was_evicted_before_counts_once_it_is_asked_for_a_second_time() -> None:
    found = setting(ONE, limits=RunLimits(total=2))

    verdicts = [ask(found.evictor, ONE) for _ in range(3)]

    assert [verdict.limit for verdict in verdicts] == [None, None, EvictionLimit.TOTAL]
    assert [is_repeated for _, _, _, is_repeated in booked(found)] == [False, True]


def test_pod_that_another_plugin_has_evicted_is_granted_and_not_booked_for_this_one() -> None:
    found = setting(ONE, plugin="other")

    assert ask(found.evictor, ONE) is ACCEPTED
    assert booked(found) == []

    found.evictor.end_turn(profile="p", plugin="q")
    assert booked(found) == []

    found.evictor.end_turn(profile="other", plugin="other")
    assert booked(found) == []

    found.evictor.end_turn(profile="p", plugin="other")
    assert booked(found) == [("one", "other", "before", False)]


def test_turn_of_a_plugin_books_what_it_has_not_asked_for_again_once() -> None:
    found = setting(ONE, TWO)

    ask(found.evictor, TWO)
    found.evictor.end_turn(profile="p", plugin="q")
    found.evictor.end_turn(profile="p", plugin="q")

    assert [name for name, _, _, _ in booked(found)] == ["two", "one"]
    assert {(move.wave, move.bundle) for move in found.evictor.book.moves} == {(2, 0)}


def test_filters_are_not_asked_about_what_has_left_until_it_is_booked_again() -> None:
    evictor = setting(ONE).evictor

    before = [evictor.settled(pod) for pod in (ONE, TWO)]
    ask(evictor, ONE)

    assert before == [ACCEPTED, None]
    assert [evictor.settled(pod) for pod in (ONE, TWO)] == [None, None]
    assert [setting().evictor.settled(pod) for pod in (ONE, TWO)] == [None, None]


@pytest.mark.parametrize(
    ("node", "name", "number"),
    [("a", MINE, 2), ("b", MINE, 1), ("a", OTHERS, 0), ("a", {"profile": "other", "plugin": "q"}, 0)],
)
def test_pods_that_a_plugin_has_taken_from_a_node_are_counted(node: str, name: dict[str, str], number: int) -> None:
    assert setting(ONE, TWO, THREE).evictor.num_taken_before(node, **name) == number


def test_pods_of_a_plugin_that_leave_are_those_of_before_and_those_of_now_each_once() -> None:
    evictor = setting(ONE).evictor

    numbers = [evictor.num_leaving(**MINE)]
    for pod in (ONE, TWO):
        ask(evictor, pod)
        numbers.append(evictor.num_leaving(**MINE))

    assert (numbers, evictor.num_leaving(**OTHERS)) == ([1, 1, 2], 0)


def test_bundle_asks_for_the_pods_that_are_still_there() -> None:
    found = setting(ONE, limits=RunLimits(total=2))

    assert ask(found.evictor, ONE, TWO) is ACCEPTED
    assert [(move.pod.name, move.bundle) for move in found.evictor.book.moves] == [("one", 0), ("two", 1)]
    assert found.counters.total == 2


@pytest.mark.parametrize("takes_effect", [False, True])
def test_grant_of_what_left_before_can_be_taken_back(takes_effect: bool) -> None:
    found = setting(ONE, takes_effect=takes_effect)

    with found.evictor.what_if():
        ask(found.evictor, ONE)
        assert not found.evictor.awaits(ONE)

    assert found.evictor.awaits(ONE)
    assert booked(found) == []


def arrived(*pods: Pod) -> tuple[Setting, Sequence[Pod]]:
    """An evictor in whose cluster these pods have left for node b, and the pods that come for them."""
    view = make_view([make_node("a"), make_node("b")], [ONE, TWO, THREE], moves_take_effect=True)
    arrivals = [make_pod(f"{pod.name}+", node="b", uid="") for pod in pods]
    for pod, arrival in zip(pods, arrivals, strict=True):
        view.book_eviction(pod, arrival)
    return make_setting(view), arrivals


def test_pod_that_is_not_created_yet_cannot_leave_and_is_not_noted() -> None:
    found, (arrival,) = arrived(ONE)
    evictor = found.evictor

    evictor.keep(arrival, profile="p", plugin="q", verdict=refuse(Reason.BARE_POD, "no owner"))

    assert (evictor.settled(arrival), evictor.is_to_come(arrival), evictor.is_to_come(ONE)) == (
        NOT_CREATED,
        True,
        False,
    )
    assert ask(evictor, arrival) == ask(evictor, TWO, arrival) == NOT_CREATED
    assert (evictor.book.refusals, evictor.book.moves) == ((), [])
    assert evictor.mates_of(Bundle("p", "q", (Candidate(arrival),))) == ()


def request(evictor: Any, *candidates: Candidate) -> None:
    assert evictor.request(Bundle("p", "q", candidates)).is_accepted


def test_waves_do_not_go_back() -> None:
    evictor = setting().evictor

    for pod, wave in ((ONE, 1), (TWO, 3), (THREE, 2)):
        request(evictor, Candidate(pod, wave=wave))

    assert [move.wave for move in evictor.book.moves] == [1, 3, 3]


def test_pods_of_a_bundle_have_one_number_and_others_none() -> None:
    evictor = setting().evictor

    request(evictor, Candidate(ONE))
    request(evictor, Candidate(TWO), Candidate(THREE))

    assert [move.bundle for move in evictor.book.moves] == [0, 2, 2]


def test_pod_that_came_along_is_no_repeated_request_until_that_is_taken_back() -> None:
    found = setting(limits=RunLimits(total=2))
    request(found.evictor, Candidate(ONE), Candidate(TWO, is_mate=True))

    assert ask(found.evictor, TWO) is ACCEPTED
    assert ask(found.evictor, ONE).limit is EvictionLimit.TOTAL
    assert ask(found.evictor, ONE, TWO).limit is EvictionLimit.TOTAL
    found.evictor.undo()
    assert ask(found.evictor, TWO) is ACCEPTED
    assert [move.pod.name for move in found.evictor.book.moves] == ["two"]


def test_refusal_is_noted_for_what_the_plugin_has_selected_alone() -> None:
    found = setting(limits=RunLimits(total=1))

    found.evictor.request(Bundle("p", "q", (Candidate(ONE, "is old"), Candidate(TWO, is_mate=True))))

    (refusal,) = found.evictor.book.refusals
    assert (refusal.pod, refusal.reason) == (ONE, "is old")
    assert refusal.verdict.message.startswith("none of the 2 pods that have to leave together is evicted: ")


def test_number_of_undone_grants_is_that_of_grants() -> None:
    evictor = setting().evictor
    ask(evictor, ONE)
    evictor.undo()

    with pytest.raises(IndexError):
        evictor.undo()
