from __future__ import annotations

import threading
from datetime import UTC, datetime
from typing import cast

import pytest

from descheduler.kube.client import KubeClient
from descheduler.kube.events import EventRecorder, EventTotals, PodEvent
from descheduler.model.shard import Shard
from descheduler.transport.answer import RawResponse
from descheduler.transport.errors import TransportError
from tests.integration.fake_api import FakeApi
from tests.integration.faults import Drop, failure

EVENTS = "/apis/events.k8s.io/v1/namespaces/shop/events"


def make_event(name: str = "cart", *, note: str = "note") -> PodEvent:
    return PodEvent("shop", name, f"uid-{name}", "Normal", "PodLifeTime", "Descheduled", note)


def make_recorder(client: KubeClient) -> EventRecorder:
    return EventRecorder(client, now=lambda: datetime(2026, 5, 4, 3, 2, 1, 5, tzinfo=UTC), hostname="box")


def test_event_is_written_as_the_events_api_wants_it(fake_api: FakeApi, client: KubeClient) -> None:
    recorder = make_recorder(client)

    recorder.record(make_event())
    totals = recorder.flush(30)

    assert totals == EventTotals(num_written=1, num_failed=0, num_dropped=0, first_fault=None)
    assert [request.body for request in fake_api.sent("POST", EVENTS)] == [
        {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": "cart.18ac3da27d426d88", "namespace": "shop"},
            "eventTime": "2026-05-04T03:02:01.000005Z",
            "type": "Normal",
            "reason": "PodLifeTime",
            "action": "Descheduled",
            "note": "note",
            "regarding": {
                "kind": "Pod",
                "apiVersion": "v1",
                "namespace": "shop",
                "name": "cart",
                "uid": "uid-cart",
            },
            "reportingController": "sigs.k8s.io.descheduler",
            "reportingInstance": "sigs.k8s.io.descheduler-box",
        }
    ]


def test_long_note_is_cut_to_what_the_api_takes(fake_api: FakeApi, client: KubeClient) -> None:
    recorder = make_recorder(client)

    recorder.record(make_event(note="ü" * 1000))
    recorder.flush(30)

    note = fake_api.sent("POST", EVENTS)[0].body["note"]
    assert len(note.encode()) <= 1024
    assert note.endswith("ü...")


@pytest.mark.parametrize(("note", "written"), [("x" * 1024, "x" * 1024), ("x" * 1025, "x" * 1021 + "...")])
def test_note_is_whole_up_to_what_the_api_takes(fake_api: FakeApi, client: KubeClient, note: str, written: str) -> None:
    recorder = make_recorder(client)

    recorder.record(make_event(note=note))
    recorder.flush(30)

    assert fake_api.sent("POST", EVENTS)[0].body["note"] == written


def test_note_of_a_shard_names_it_also_when_it_is_cut(fake_api: FakeApi, client: KubeClient) -> None:
    recorder = EventRecorder(client, shard=Shard(1, 4, label="rack"))

    recorder.record(make_event(note="short"))
    recorder.record(make_event(note="ü" * 1000))
    recorder.flush(30)

    short, long = [request.body["note"] for request in fake_api.sent("POST", EVENTS)]
    assert short == "short (shard 1 of 4 by label rack)"
    assert long.endswith("ü... (shard 1 of 4 by label rack)")
    assert len(long.encode()) <= 1024


def test_refused_and_lost_events_are_counted_and_raise_nothing(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.fail_next("POST", EVENTS, failure(403, "Forbidden", "events is forbidden"), Drop())
    recorder = make_recorder(client)

    for name in ("a", "b", "c"):
        recorder.record(make_event(name))
    totals = recorder.flush(30)

    assert totals == EventTotals(num_written=1, num_failed=2, num_dropped=0, first_fault="events is forbidden")


class _Hanging:
    """An API that answers no event until it is let go."""

    def __init__(self) -> None:
        self.let_go = threading.Event()

    def send(self, method: str, path: str, *, body: bytes | None = None) -> RawResponse:
        self.let_go.wait(timeout=30)
        raise TransportError("too late")


def test_slow_server_costs_dropped_events_and_no_waiting() -> None:
    api = _Hanging()
    recorder = EventRecorder(cast(KubeClient, api), max_queued=2)

    for name in ("a", "b", "c"):
        recorder.record(make_event(name))
    totals = recorder.flush(0)
    api.let_go.set()

    assert totals == EventTotals(num_written=0, num_failed=2, num_dropped=1, first_fault=None)


def test_events_that_were_given_up_stay_so_when_the_recorder_is_asked_again() -> None:
    api = _Hanging()
    recorder = EventRecorder(cast(KubeClient, api))
    for name in ("a", "b", "c"):
        recorder.record(make_event(name))
    first = recorder.flush(0)
    api.let_go.set()

    again = recorder.flush(30)

    assert (first.num_failed, again.num_failed) == (3, 3)
