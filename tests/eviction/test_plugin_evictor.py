"""The evictor as one plugin of one profile uses it: the profile's filters, and requests in the plugin's name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.eviction.evictor import Evictor
from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.eviction.request_check import BundlingCheck, PodByPod
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.moves import Move
from tests.builders import make_node, make_pod, make_view
from tests.eviction.evictors import UNLIMITED, make_evictor

ONE, TWO, THREE = (make_pod(name) for name in ("one", "two", "three"))
BARE, YOUNG = refuse(Reason.BARE_POD, "has no owner"), refuse(Reason.TOO_YOUNG, "is young", "a pod")


class Filter:
    """Refuses pods by name, in the filter or in the pre-eviction filter."""

    def __init__(self, refused: str = "", refused_now: str = "", verdict: Verdict = BARE) -> None:
        self.asked: list[str] = []
        self._refused, self._refused_now, self._verdict = refused, refused_now, verdict

    def filter(self, pod: Pod) -> Verdict:
        self.asked.append(pod.name)
        return self._verdict if pod.name in self._refused.split() else ACCEPTED

    def pre_eviction_filter(self, pod: Pod) -> Verdict:
        self.asked.append(f"{pod.name} now")
        return self._verdict if pod.name in self._refused_now.split() else ACCEPTED


class Mates(PodByPod, BundlingCheck):
    """Has pod two leave with pod one."""

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        del candidate, bundle
        return ACCEPTED

    def mates(self, bundle: Bundle) -> Sequence[Pod]:
        return [TWO] if ONE in bundle.pods and TWO not in bundle.pods else []


class PluginOfBook(PluginEvictor):
    """The evictor of a plugin, with the book that reports are made from."""

    def __init__(self, inner: Evictor, **facts: Any) -> None:
        super().__init__(inner, **facts)
        self.book = inner.book


def evictor(*filters: Filter, prior: Sequence[Pod] = (), mates: bool = False) -> PluginOfBook:
    """The evictor of plugin q over three pods, of which earlier rounds have evicted some."""
    view = make_view([make_node("a")], [ONE, TWO, THREE])
    moves = [Move(pod, "p", "q") for pod in prior]
    view = type(view)(view.snapshot, moves_take_effect=False, prior_moves=moves)
    inner = make_evictor(view, UNLIMITED, *([Mates()] if mates else []))
    return PluginOfBook(inner, profile="p", plugin="q", filters=filters, pre_eviction_filters=filters)


def noted(plugin: PluginOfBook) -> list[tuple[str, Reason | None, str]]:
    """Pod, reason code and sentence of each refusal in the book."""
    refusals = plugin.book.refusals
    return [(each.pod.name, each.verdict.reason, each.reason) for each in refusals]


@pytest.mark.parametrize(
    ("first", "second", "verdict", "asked"),
    [
        pytest.param(Filter(), Filter(), ACCEPTED, (["one"], ["one"]), id="none refuses"),
        pytest.param(Filter("one"), Filter("one", verdict=YOUNG), BARE, (["one"], []), id="the first refuses"),
        pytest.param(Filter(), Filter("one", verdict=YOUNG), YOUNG, (["one"], ["one"]), id="the second refuses"),
    ],
)
def test_first_refusal_of_the_filters_counts(
    first: Filter, second: Filter, verdict: Verdict, asked: tuple[list[str], list[str]]
) -> None:
    plugin = evictor(first, second)

    assert plugin.filter(ONE) == verdict
    assert (first.asked, second.asked) == asked
    assert noted(plugin) == []


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        pytest.param(Filter(), Filter(), ACCEPTED, id="none refuses"),
        pytest.param(Filter("", "one"), Filter("", "one", YOUNG), BARE, id="the first refuses"),
        pytest.param(Filter(), Filter("", "one", YOUNG), YOUNG, id="the second refuses"),
    ],
)
def test_first_refusal_of_the_pre_eviction_filters_counts(first: Filter, second: Filter, verdict: Verdict) -> None:
    assert evictor(first, second).pre_eviction_filter(ONE) == verdict


def test_filters_are_not_asked_about_what_has_left_already() -> None:
    judge = Filter("one", "one")
    plugin = evictor(judge, prior=[ONE])

    assert (plugin.filter(ONE), plugin.pre_eviction_filter(ONE)) == (ACCEPTED, ACCEPTED)
    assert judge.asked == []
    plugin.request(ONE)
    assert (plugin.filter(ONE), plugin.pre_eviction_filter(ONE)) == (BARE, BARE)


@pytest.mark.parametrize(
    ("judge", "lets_go", "admits", "admits_now", "asked"),
    [
        pytest.param(Filter(), True, True, True, ["one", "one now", "one", "one now"], id="both accept"),
        pytest.param(Filter("one"), False, False, True, ["one", "one", "one now"], id="the filter refuses"),
        pytest.param(
            Filter("", "one"), False, True, False, ["one", "one now", "one", "one now"], id="the other refuses"
        ),
    ],
)
def test_refusal_of_a_selected_pod_is_noted_with_the_plugin_s_reason(
    judge: Filter, lets_go: bool, admits: bool, admits_now: bool, asked: list[str]
) -> None:
    plugin = evictor(judge)

    assert plugin.lets_go(ONE, lambda pod: f"{pod.name} is old") is lets_go
    assert (plugin.admits(ONE, "is old"), plugin.admits_now(ONE, "is old")) == (admits, admits_now)
    assert judge.asked == asked
    assert noted(plugin) == ([] if lets_go else [("one", Reason.BARE_POD, "one is old")])


def test_sentence_of_a_plugin_is_not_asked_for_where_the_pod_may_go() -> None:
    def reason(pod: Pod) -> str:
        raise AssertionError(pod.name)

    assert evictor(Filter()).lets_go(ONE, reason)


def test_pods_that_leave_with_others_are_counted_each_once() -> None:
    plugin = evictor(prior=[THREE], mates=True)
    one, two, three = (Candidate(pod) for pod in (ONE, TWO, THREE))

    before = [plugin.num_leaving_with(found) for found in ([], [one], [two], [one, two])]
    plugin.request(TWO)
    after = [plugin.num_leaving_with(found) for found in ([one], [two])]

    assert before == [1, 3, 2, 3]
    assert (after, plugin.num_leaving, plugin.has_booked(TWO), plugin.has_booked(ONE)) == ([3, 2], 2, True, False)
    assert plugin.num_leaving_with([three]) == 3


def test_pods_leave_with_those_that_they_have_to_leave_with() -> None:
    plugin = evictor(Filter(), mates=True)

    assert plugin.request(ONE, "is old").is_accepted
    moves = plugin.book.moves
    assert [(move.pod.name, move.reason) for move in moves] == [
        ("one", "is old"),
        ("two", "has to leave together with default/one, which is of the same gang"),
    ]


@pytest.mark.parametrize("judge", [Filter("two", verdict=YOUNG), Filter("", "two", YOUNG)], ids=["filter", "the other"])
def test_pod_that_a_filter_keeps_keeps_those_that_would_leave_with_it(judge: Filter) -> None:
    plugin = evictor(judge, mates=True)

    verdict = plugin.request(ONE, "is old")

    assert (verdict.reason, verdict.subject) == (Reason.TOO_YOUNG, "a pod")
    assert verdict.message == "pod default/two has to stay: is young"
    assert noted(plugin) == [("one", Reason.TOO_YOUNG, "is old")]


def test_plugin_s_own_refusal_is_noted() -> None:
    plugin = evictor()

    plugin.keep(ONE, YOUNG, "is old")

    assert noted(plugin) == [("one", Reason.TOO_YOUNG, "is old")]


def test_what_is_tried_leaves_nothing() -> None:
    plugin = evictor()

    with plugin.what_if():
        plugin.request_all([Candidate(ONE, wave=3), Candidate(TWO, wave=3)])
        assert plugin.last_wave == 3
        assert [pod for pod, _ in plugin.arrivals()] == []

    assert (plugin.last_wave, plugin.has_booked(ONE), plugin.num_taken_before("a")) == (0, False, 0)
