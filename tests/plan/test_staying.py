"""Which refusal of a pod is told first, and which are told beside it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.cycle.plugins import REGISTRY
from descheduler.model.verdict import EvictionLimit, LimitReached, Reason, Verdict, limit_reached, refuse
from descheduler.plan.decisions import BeyondLimits, Decisions
from descheduler.plan.moves import Move, Refusal
from descheduler.plan.staying import refused_by_plugin, staying_pod, staying_pods
from descheduler.policy.load import load_policy
from tests.builders import NOW, make_pod, make_snapshot
from tests.strategies.runs import policy_with

POD, OTHER = make_pod("cart"), make_pod("till")
LIMIT = limit_reached(LimitReached.of(EvictionLimit.NODE, 1, "a"))
BUDGET = refuse(Reason.DISRUPTION_BUDGET, "the budget allows none")
BARE, CRITICAL = refuse(Reason.BARE_POD, "has no owner"), refuse(Reason.SYSTEM_CRITICAL, "is critical")


def refusal(verdict: Verdict, plugin: str = "A", *, is_attempt: bool = True, pod: Any = POD) -> Refusal:
    return Refusal(pod, "p", plugin, verdict, is_attempt)


def decisions(*refusals: Refusal, **facts: Any) -> Decisions:
    policy = load_policy(policy_with("PodLifeTime", args={"maxPodLifeTimeSeconds": 60}), REGISTRY)
    return Decisions(policy, make_snapshot(pods=[POD, OTHER]), NOW, refusals=refusals, **facts)


def test_each_pod_that_stays_is_told_once_in_the_order_of_the_refusals() -> None:
    found = staying_pods(decisions(refusal(BUDGET), refusal(BARE, pod=OTHER), refusal(BUDGET, "B")))

    assert [each.pod for each in found] == [POD, OTHER]
    assert [each.others for each in found] == [(refusal(BUDGET, "B"),), ()]


def test_pods_that_leave_do_not_stay() -> None:
    refused = (refusal(BUDGET), refusal(BUDGET, pod=OTHER))
    moved = decisions(*refused, moves=(Move(POD, "p", "B"),))
    handed_over = decisions(*refused, background=(Move(POD, "p", "B"),))

    for each in (moved, handed_over):
        assert [staying.pod for staying in staying_pods(each)] == [OTHER]
        assert staying_pod(each, POD) is None
        assert staying_pod(each, OTHER) is not None


@pytest.mark.parametrize(
    ("run", "beyond", "order"),
    [
        pytest.param([refusal(BUDGET), refusal(CRITICAL, "B")], {}, ["A", "B"], id="as they came"),
        pytest.param(
            [refusal(BARE, is_attempt=False), refusal(BUDGET, "B")], {}, ["B", "A"], id="what was asked for goes first"
        ),
        pytest.param(
            [refusal(LIMIT), refusal(BUDGET, "B")], {}, ["B", "A"], id="limits come after what else blocks it"
        ),
        pytest.param(
            [refusal(BARE, is_attempt=False), refusal(LIMIT, "B")],
            {},
            ["B", "A"],
            id="and before what was not asked for",
        ),
        pytest.param(
            [refusal(BUDGET)],
            {"cut_off": (refusal(LIMIT, "B"),)},
            ["B", "A"],
            id="a limit alone goes before everything",
        ),
        pytest.param(
            [refusal(LIMIT)],
            {"refusals": (refusal(BUDGET, "B"),)},
            ["B", "A"],
            id="what would block it beyond the limits goes before these",
        ),
        pytest.param(
            [refusal(LIMIT)],
            {"refusals": (refusal(replace(LIMIT, reached=LimitReached(EvictionLimit.TOTAL, 1)), "B"),)},
            ["B", "A"],
            id="a limit beyond the limits goes before that of the run",
        ),
        pytest.param(
            [refusal(BARE, is_attempt=False)],
            {"refusals": (refusal(CRITICAL, "B", is_attempt=False),)},
            ["A", "B"],
            id="what was not asked for, within the limits first",
        ),
    ],
)
def test_refusal_nearest_to_an_eviction_comes_first(
    run: list[Refusal], beyond: dict[str, Any], order: list[str]
) -> None:
    taken = decisions(*run, beyond=BeyondLimits(**beyond))

    (found,) = staying_pods(taken)

    assert [each.plugin for each in (found.first, *found.others)] == order
    assert staying_pod(taken, POD) == found


@pytest.mark.parametrize(
    ("again", "num_others"),
    [
        pytest.param(refusal(BUDGET), 0, id="the same"),
        pytest.param(refusal(refuse(Reason.DISRUPTION_BUDGET, "another one")), 1, id="another sentence"),
        pytest.param(refusal(BUDGET, "B"), 1, id="of another plugin"),
        pytest.param(replace(refusal(BUDGET), profile="q"), 1, id="of another profile"),
    ],
)
def test_what_says_the_same_of_the_same_plugin_is_told_once(again: Refusal, num_others: int) -> None:
    (found,) = staying_pods(decisions(refusal(BUDGET), again))

    assert len(found.others) == num_others


@pytest.mark.parametrize(
    ("run", "beyond", "is_attempt"),
    [
        pytest.param([refusal(BUDGET)], (), True, id="asked for in the run"),
        pytest.param([refusal(BARE, is_attempt=False)], (), False, id="not asked for"),
        pytest.param([refusal(BARE, is_attempt=False)], (refusal(BUDGET, "B"),), False, id="only beyond the limits"),
        pytest.param([refusal(BARE, is_attempt=False), refusal(BUDGET, "B")], (), True, id="by one of two plugins"),
    ],
)
def test_pod_was_asked_for_where_some_plugin_did_so_in_the_run(
    run: list[Refusal], beyond: tuple[Refusal, ...], is_attempt: bool
) -> None:
    (found,) = staying_pods(decisions(*run, beyond=BeyondLimits(refusals=beyond)))

    assert found.is_attempt is is_attempt


def test_pod_that_only_planning_on_came_to_stays_too() -> None:
    taken = decisions(beyond=BeyondLimits(cut_off=(refusal(LIMIT),)))

    (found,) = staying_pods(taken)

    assert (found.first, found.others, found.is_attempt) == (refusal(LIMIT), (), False)
    assert staying_pod(taken, POD) == found


def test_no_plugin_selected_a_pod_without_refusals() -> None:
    assert staying_pod(decisions(refusal(BUDGET)), OTHER) is None


def test_pods_are_counted_for_each_plugin_by_what_blocks_them() -> None:
    found = staying_pods(
        decisions(
            refusal(BUDGET),
            refusal(BUDGET, "B"),
            refusal(refuse(Reason.DISRUPTION_BUDGET, "another one"), "B"),
            refusal(CRITICAL, "B", pod=OTHER),
            refusal(CRITICAL, "A", pod=OTHER),
        )
    )

    assert refused_by_plugin(found) == {
        ("p", "A"): {"DisruptionBudget": 1, "SystemCritical": 1},
        ("p", "B"): {"DisruptionBudget": 1, "SystemCritical": 1},
    }


def test_pod_leaves_once_however_often_it_was_asked_for() -> None:
    first, again = Move(POD, "p", "A"), Move(POD, "p", "B", is_repeated=True)

    assert decisions(moves=(first, again)).leaving == (first,)
