"""Evictions of a bundle, such as those of a gang, go together in a live run."""

from __future__ import annotations

from msgspec.structs import replace

from descheduler.eviction.checks.limits import RunLimits
from descheduler.kube.evict import EvictionResponse
from descheduler.plan.outcome import OutcomeCode
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
