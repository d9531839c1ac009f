from __future__ import annotations

import pytest
from msgspec.structs import replace

from descheduler.kube.client import KubeClient
from descheduler.kube.events import EventRecorder
from descheduler.kube.evict import EvictionClient
from descheduler.migration.announcing import EvictionAnnouncer
from descheduler.migration.roads.plain import execute
from descheduler.migration.settings import DispatchSettings
from descheduler.plan.outcome import Outcome, OutcomeCode
from tests.integration.fake_api import FakeApi
from tests.integration.faults import (
    Drop,
    EvictThenDrop,
    budget_refusal,
    budget_unobserved,
    evacuation,
    failure,
    several_budgets,
)
from tests.migration.stand_ins import around, make_eviction

FAST = DispatchSettings(qps=1000.0, burst=1000)


def carry_out(
    fake_api: FakeApi, client: KubeClient, *names: str, settings: DispatchSettings = FAST
) -> dict[str, OutcomeCode]:
    plan = [make_eviction(name) for name in names]
    outcomes = execute(plan, EvictionClient(client), settings, around(settings))
    return {outcome.eviction.name: outcome.code for outcome in outcomes}


def test_every_answer_of_a_real_server_ends_in_its_outcome(fake_api: FakeApi, client: KubeClient) -> None:
    names = ["ok", "budget", "later", "several", "missing", "forbidden", "successor", "dropped", "lost"]
    for name in names:
        if name not in ("missing", "successor"):
            fake_api.add_pod(name)
    fake_api.add_pod("successor", uid="another")
    fake_api.on_eviction("budget", budget_refusal("shop/b"))
    fake_api.on_eviction("later", budget_unobserved("shop/b"), budget_unobserved("shop/b"))
    fake_api.on_eviction("several", several_budgets())
    fake_api.on_eviction("forbidden", failure(403, "Forbidden", "pods is forbidden"))
    fake_api.on_eviction("dropped", Drop())
    fake_api.on_eviction("lost", EvictThenDrop())

    found = carry_out(fake_api, client, *names)

    assert found == {
        "ok": OutcomeCode.DONE,
        "budget": OutcomeCode.BUDGET,
        "later": OutcomeCode.DONE,
        "several": OutcomeCode.SEVERAL_BUDGETS,
        "missing": OutcomeCode.POD_GONE,
        "forbidden": OutcomeCode.FORBIDDEN,
        "successor": OutcomeCode.POD_GONE,
        "dropped": OutcomeCode.DONE,
        "lost": OutcomeCode.LEFT_WITHOUT_ANSWER,
    }
    assert sorted(fake_api.pods()) == ["budget", "forbidden", "several", "successor"]


def test_pod_recreated_under_its_old_name_after_a_lost_answer_is_left_alone(
    fake_api: FakeApi, client: KubeClient
) -> None:
    """A StatefulSet brings the name back at once; the eviction must not hit it, however often it is tried."""
    fake_api.add_pod("db-0", uid="uid-of-successor")
    fake_api.on_eviction("db-0", Drop())

    found = carry_out(fake_api, client, "db-0")

    assert found == {"db-0": OutcomeCode.LEFT_WITHOUT_ANSWER}
    assert fake_api.pods() == ["db-0"]
    assert len(fake_api.sent("POST")) == 1


def test_evacuation_is_handed_over_when_the_gate_is_on(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.add_pod("vm")
    fake_api.on_eviction("vm", evacuation())
    settings = replace(FAST, evictions_in_background=True)

    plan = [make_eviction("vm", request_evict_only=True)]
    (outcome,) = execute(plan, EvictionClient(client), settings, around(settings))

    assert outcome.code is OutcomeCode.HANDED_OVER


def test_hundreds_of_evictions_are_each_sent_once(fake_api: FakeApi, client: KubeClient) -> None:
    names = [f"p{number:03}" for number in range(300)]
    for name in names:
        fake_api.add_pod(name)

    found = carry_out(fake_api, client, *names)

    assert set(found.values()) == {OutcomeCode.DONE}
    assert len(fake_api.sent("POST")) == 300
    assert fake_api.pods() == []


def test_each_eviction_leaves_an_event(fake_api: FakeApi, client: KubeClient) -> None:
    for name in ("a", "b"):
        fake_api.add_pod(name)
    fake_api.on_eviction("b", budget_refusal("shop/b"))
    recorder = EventRecorder(client)

    there = around(FAST, sink=EvictionAnnouncer(recorder, failures=True))
    execute([make_eviction("a"), make_eviction("b")], EvictionClient(client), FAST, there)
    recorder.flush(30)

    written = {
        event["regarding"]["name"]: (event["type"], event["reason"])
        for event in fake_api.objects["/apis/events.k8s.io/v1/events"]
    }
    assert written == {"a": ("Normal", "PodLifeTime"), "b": ("Warning", "EvictionFailed")}


@pytest.mark.parametrize("events_status", [403, 500])
def test_events_that_cannot_be_written_change_no_outcome(
    fake_api: FakeApi, client: KubeClient, events_status: int
) -> None:
    fake_api.add_pod("a")
    fake_api.fail_always("POST", "/apis/events.k8s.io/v1/namespaces/shop/events", failure(events_status, "", "no"))
    recorder = EventRecorder(client)

    there = around(FAST, sink=EvictionAnnouncer(recorder, failures=True))
    outcomes: tuple[Outcome, ...] = execute([make_eviction("a")], EvictionClient(client), FAST, there)

    assert [outcome.code for outcome in outcomes] == [OutcomeCode.DONE]
    assert recorder.flush(30).num_failed == 1
