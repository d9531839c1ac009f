from __future__ import annotations

import pytest

from descheduler.eviction.checks.limits import RunLimits
from descheduler.migration.dispatch.limits import LimitLedger, MayStart
from tests.migration.stand_ins import make_eviction


def test_eviction_in_flight_may_still_make_room() -> None:
    ledger = LimitLedger(RunLimits(total=1))
    ledger.book(make_eviction("a"))

    assert ledger.room_for(make_eviction("b"))[0] is MayStart.AWAITED


def test_first_of_two_limits_is_named_whichever_call_ends_first() -> None:
    ledger = LimitLedger(RunLimits(total=2, per_node=1))
    ledger.book(make_eviction("a", node="n1"))
    ledger.book(make_eviction("b", node="n2"))
    ledger.settle(make_eviction("a", node="n1"), counts=True)

    early = ledger.room_for(make_eviction("c", node="n1"))
    ledger.settle(make_eviction("b", node="n2"), counts=True)

    assert early[0] is MayStart.AWAITED
    assert ledger.room_for(make_eviction("c", node="n1")) == (
        MayStart.FULL,
        "maxNoOfPodsToEvictTotal (2) reached",
    )


@pytest.mark.parametrize(("counts", "room"), [(True, MayStart.FULL), (False, MayStart.FREE)])
def test_only_what_counts_uses_a_limit_up(counts: bool, room: MayStart) -> None:
    ledger = LimitLedger(RunLimits(total=1))
    ledger.book(make_eviction("a"))

    ledger.settle(make_eviction("a"), counts=counts)

    assert ledger.room_for(make_eviction("b"))[0] is room


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        pytest.param(RunLimits(total=0), "maxNoOfPodsToEvictTotal (0) reached", id="all"),
        pytest.param(RunLimits(per_node=0), "maxNoOfPodsToEvictPerNode (0) reached for node n1", id="node"),
        pytest.param(
            RunLimits(per_namespace=0),
            "maxNoOfPodsToEvictPerNamespace (0) reached for namespace shop",
            id="namespace",
        ),
    ],
)
def test_limit_is_named_by_its_key_in_the_policy(limits: RunLimits, text: str) -> None:
    assert LimitLedger(limits).room_for(make_eviction("a")) == (MayStart.FULL, text)


def test_pod_bound_nowhere_meets_no_node_limit() -> None:
    ledger = LimitLedger(RunLimits(per_node=0))

    assert ledger.room_for(make_eviction("a", node=""))[0] is MayStart.FREE


@pytest.mark.parametrize(
    ("num_done", "num_in_flight", "may"),
    [
        (0, 1, MayStart.FREE),
        (1, 0, MayStart.FREE),
        (1, 1, MayStart.AWAITED),
        (0, 2, MayStart.AWAITED),
        (2, 0, MayStart.FULL),
    ],
)
def test_limit_counts_what_is_done_and_what_is_in_flight(num_done: int, num_in_flight: int, may: MayStart) -> None:
    ledger = LimitLedger(RunLimits(total=2))
    for _ in range(num_done + num_in_flight):
        ledger.book(make_eviction("a"))
    for _ in range(num_done):
        ledger.settle(make_eviction("a"), counts=True)

    assert ledger.room_for(make_eviction("b"))[0] is may


def test_awaited_limit_is_named_if_it_comes_before_a_full_one() -> None:
    ledger = LimitLedger(RunLimits(total=2, per_node=1))
    ledger.book(make_eviction("a", node="n1"))
    ledger.book(make_eviction("b", node="n2"))

    assert ledger.room_for(make_eviction("c", node="n1")) == (
        MayStart.AWAITED,
        "maxNoOfPodsToEvictTotal (2) reached",
    )
