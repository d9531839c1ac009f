from __future__ import annotations

import pytest
from msgspec.structs import replace

from descheduler.kube.events import PodEvent
from descheduler.migration.announcing import EvictionAnnouncer
from descheduler.model.pod import Owner
from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from tests.migration.stand_ins import make_eviction


class Written(list[PodEvent]):
    """An event sink that keeps what it gets."""

    def record(self, event: PodEvent) -> None:
        self.append(event)


def announce(kind: OutcomeKind, code: OutcomeCode = OutcomeCode.DONE, *, failures: bool = True) -> list[PodEvent]:
    written = Written()
    outcome = Outcome(make_eviction("cart", reason="too old"), kind, code, "text")
    EvictionAnnouncer(written, failures=failures).record(outcome)
    return written


def test_eviction_is_announced_under_the_name_of_its_strategy() -> None:
    assert announce(OutcomeKind.EVICTED) == [
        PodEvent(
            "shop",
            "cart",
            "uid-cart",
            "Normal",
            "PodLifeTime",
            "Descheduled",
            "pod eviction from n1 node by sigs.k8s.io/descheduler",
        )
    ]


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        pytest.param(OutcomeKind.REFUSED, OutcomeCode.BUDGET, id="refused by a budget"),
        pytest.param(OutcomeKind.FAILED, OutcomeCode.NO_ANSWER, id="failed"),
        pytest.param(OutcomeKind.NOT_ATTEMPTED, OutcomeCode.LIMIT, id="stopped by a limit"),
    ],
)
def test_failure_is_announced_only_when_asked_for(kind: OutcomeKind, code: OutcomeCode) -> None:
    note = "pod eviction from n1 node by sigs.k8s.io/descheduler failed: text"
    warning = PodEvent("shop", "cart", "uid-cart", "Warning", "EvictionFailed", "Descheduled", note)

    assert announce(kind, code) == [warning]
    assert announce(kind, code, failures=False) == []


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        pytest.param(OutcomeKind.GONE, OutcomeCode.POD_GONE, id="gone by itself"),
        pytest.param(OutcomeKind.BACKGROUND, OutcomeCode.HANDED_OVER, id="handed over"),
        pytest.param(OutcomeKind.NOT_ATTEMPTED, OutcomeCode.STOPPED, id="never asked for"),
    ],
)
def test_pod_that_was_not_touched_is_not_announced(kind: OutcomeKind, code: OutcomeCode) -> None:
    assert announce(kind, code) == []


def test_eviction_is_announced_at_the_controller_too() -> None:
    written = Written()
    eviction = replace(make_eviction("cart"), controller=Owner("ReplicaSet", "shop", "uid-shop", "apps/v1", True))

    EvictionAnnouncer(written, failures=True).record(Outcome(eviction, OutcomeKind.EVICTED, OutcomeCode.DONE, ""))

    assert [(event.kind, event.api_version, event.name, event.uid) for event in written] == [
        ("Pod", "v1", "cart", "uid-cart"),
        ("ReplicaSet", "apps/v1", "shop", "uid-shop"),
    ]
    assert written[1].note == "pod cart: pod eviction from n1 node by sigs.k8s.io/descheduler"


def test_refused_eviction_is_announced_at_the_pod_alone() -> None:
    written = Written()
    eviction = replace(make_eviction("cart"), controller=Owner("ReplicaSet", "shop", "uid-shop", "apps/v1", True))

    EvictionAnnouncer(written, failures=True).record(Outcome(eviction, OutcomeKind.REFUSED, OutcomeCode.BUDGET, "no"))

    assert [event.kind for event in written] == ["Pod"]


def test_eviction_whose_fate_is_unknown_is_not_announced() -> None:
    assert announce(OutcomeKind.EVICTED, OutcomeCode.OUTCOME_UNKNOWN) == []


def test_eviction_that_no_plugin_has_asked_for_has_a_reason_all_the_same() -> None:
    written = Written()
    eviction = replace(make_eviction("cart"), plugin="")

    EvictionAnnouncer(written, failures=False).record(Outcome(eviction, OutcomeKind.EVICTED, OutcomeCode.DONE, ""))

    assert [event.reason for event in written] == ["NotSet"]


def test_eviction_that_a_limit_has_stopped_is_a_failure_and_one_that_was_not_attempted_is_none() -> None:
    assert len(announce(OutcomeKind.NOT_ATTEMPTED, OutcomeCode.LIMIT)) == 1
    assert announce(OutcomeKind.NOT_ATTEMPTED, OutcomeCode.DEADLINE) == []
