"""Evictions of a bundle, such as those of a gang, go together in a live run."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from descheduler.eviction.checks.limits import RunLimits
from descheduler.kube.evict import EvictionResponse
from descheduler.migration.dispatch.bundles import Bundles
from descheduler.migration.dispatch.task import EvictionTask
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from descheduler.plan.planned import PlannedEviction
from tests.migration.stand_ins import FAST, Clock, ScriptedApi, codes, make_eviction, no_disruption, run, wait_told

DONE, BUDGET, BUNDLE = OutcomeCode.DONE, OutcomeCode.BUDGET, OutcomeCode.BUNDLE


def gang(*names: str, bundle: int = 1) -> list[PlannedEviction]:
    """Pods that leave together."""
    return [make_eviction(name, bundle=bundle) for name in names]


def test_all_of_a_bundle_are_evicted() -> None:
    assert codes(run(gang("a", "b", "c"), ScriptedApi())) == [("a", DONE), ("b", DONE), ("c", DONE)]


def test_none_goes_where_the_first_is_refused_and_others_go_on() -> None:
    api = ScriptedApi(a=[no_disruption()])

    outcomes = run([*gang("a", "b", "c"), make_eviction("d")], api)

    assert codes(outcomes) == [("a", BUDGET), ("b", BUNDLE), ("c", BUNDLE), ("d", DONE)]
    assert outcomes[1].message == "pod shop/a, with which it has to leave together, was not evicted"
    assert sorted(api.names) == ["a", "d"]


def test_others_wait_for_the_answer_to_the_first() -> None:
    clock = Clock()
    api = ScriptedApi(clock, a=[wait_told(3)])

    outcomes = run(gang("a", "b"), api, clock=clock)

    assert codes(outcomes) == [("a", DONE), ("b", DONE)]
    assert api.names == ["a", "a", "b"]


def test_once_one_has_left_the_others_are_asked_for_whatever_is_refused() -> None:
    api = ScriptedApi(b=[no_disruption()])

    assert codes(run(gang("a", "b", "c"), api)) == [("a", DONE), ("b", BUDGET), ("c", DONE)]


def test_pod_that_is_gone_already_says_nothing_about_the_next() -> None:
    api = ScriptedApi(a=[EvictionResponse(404)], b=[no_disruption()])

    assert codes(run(gang("a", "b", "c"), api)) == [("a", OutcomeCode.POD_GONE), ("b", BUDGET), ("c", BUNDLE)]


def test_bundles_do_not_hang_on_each_other() -> None:
    api = ScriptedApi(a=[no_disruption()])

    outcomes = run([*gang("a", "b"), *gang("c", "d", bundle=3)], api)

    assert codes(outcomes) == [("a", BUDGET), ("b", BUNDLE), ("c", DONE), ("d", DONE)]


def test_bundle_that_a_limit_keeps_stays_whole() -> None:
    settings = replace(FAST, limits=RunLimits(total=1))

    outcomes = run([make_eviction("x"), *gang("a", "b")], ScriptedApi(), settings)

    assert codes(outcomes) == [("x", DONE), ("a", OutcomeCode.LIMIT), ("b", BUNDLE)]


def task(name: str, bundle: int = 1) -> EvictionTask:
    return EvictionTask(make_eviction(name, bundle=bundle))


LEFT, REFUSED = (OutcomeKind.EVICTED, DONE), (OutcomeKind.REFUSED, BUDGET)
HANDED_OVER = (OutcomeKind.BACKGROUND, OutcomeCode.HANDED_OVER)
GONE = (OutcomeKind.GONE, OutcomeCode.POD_GONE)
DRY = (OutcomeKind.NOT_ATTEMPTED, OutcomeCode.DRY_RUN)
REPEATED = (OutcomeKind.NOT_ATTEMPTED, OutcomeCode.REPEATED)


@pytest.mark.parametrize(
    ("ending", "is_leaving", "is_broken"),
    [
        pytest.param(LEFT, True, False, id="it has left"),
        pytest.param(HANDED_OVER, True, False, id="another controller evicts it"),
        pytest.param(REFUSED, False, True, id="it stays"),
        pytest.param((OutcomeKind.FAILED, OutcomeCode.SERVER_ERROR), False, True, id="its call has failed"),
        pytest.param(GONE, False, False, id="it was gone by itself"),
        pytest.param(DRY, False, False, id="its eviction is not sent at all"),
        pytest.param(REPEATED, False, False, id="its eviction is that of another"),
    ],
)
def test_first_of_a_bundle_decides_for_the_others(
    ending: tuple[OutcomeKind, OutcomeCode], *, is_leaving: bool, is_broken: bool
) -> None:
    first, second, third = task("a"), task("b"), task("c")
    bundles = Bundles([first, second, third])
    bundles.goes_ahead(first)

    bundles.ended(first, *ending)

    assert set(bundles.members(second)) == {second, third}
    assert bundles.is_leaving(second.eviction) is is_leaving
    assert (bundles.has_left_overs, bool(bundles.why_broken(second.eviction))) == (is_broken, is_broken)


def test_others_wait_for_the_first_until_one_leaves() -> None:
    first, second = task("a"), task("b")
    bundles = Bundles([first, second])
    waits = [bundles.awaits(second)]

    bundles.goes_ahead(first)
    waits += [bundles.awaits(first), bundles.awaits(second)]
    bundles.goes_ahead(second)  # the first stays the one that is ahead
    waits.append(bundles.awaits(second))
    bundles.leaves(first.eviction)

    assert [*waits, bundles.awaits(second)] == [False, False, True, True, False]


def test_pod_that_was_gone_lets_another_go_ahead() -> None:
    first, second, third = task("a"), task("b"), task("c")
    bundles = Bundles([first, second, third])
    bundles.goes_ahead(first)

    bundles.ended(first, *GONE)
    assert not bundles.awaits(second)
    bundles.goes_ahead(second)
    assert bundles.awaits(third)


def test_pod_that_stays_breaks_no_bundle_of_which_one_has_left() -> None:
    first, second, third = task("a"), task("b"), task("c")
    bundles = Bundles([first, second, third])
    bundles.ended(first, *LEFT)
    bundles.ended(second, *REFUSED)

    assert (bundles.has_left_overs, bundles.why_broken(third.eviction)) == (False, "")


def test_nothing_is_left_over_once_all_have_ended() -> None:
    first, second = task("a"), task("b")
    bundles = Bundles([first, second])
    bundles.ended(first, *REFUSED)
    bundles.ended(first, *LEFT)  # what has ended does not end again
    assert bundles.has_left_overs

    bundles.ended(second, *REFUSED)
    assert not bundles.has_left_overs


def test_evictions_without_a_bundle_do_not_hang_on_each_other() -> None:
    first, second = task("a", bundle=0), task("b", bundle=0)
    bundles = Bundles([first, second])
    bundles.goes_ahead(first)
    bundles.leaves(first.eviction)
    bundles.ended(first, *REFUSED)

    assert not bundles.members(second)
    assert not bundles.awaits(second)
    assert not bundles.is_leaving(second.eviction)
    assert not bundles.has_left_overs
