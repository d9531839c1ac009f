"""Whom Volcano would evict for a replacement that no node takes: told, and never a landing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from descheduler.model.pod import Pod
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.prover import LandingProver
from tests.placement.volcano.worlds import Object, group, node, owned, pods, priority_class, prover_of, queue

_PLUGINS = (("priority", "gang", "conformance"), ("predicates", "proportion", "nodeorder"))
CLOSED = {**node("closed", cpu="4"), "spec": {"unschedulable": True}}
HIGH = priority_class("high", 100)


def _document(actions: str) -> Mapping[str, object]:
    tiers = [{"plugins": [{"name": name} for name in tier]} for tier in _PLUGINS]
    return {"actions": f"enqueue, allocate, {actions}", "tiers": tiers}


def _said(actions: str, *objects: Object | list[Object]) -> tuple[LandingVerdict, str]:
    """The verdict on the pod `job-0`, and whom Volcano would evict for it."""
    prover, by_name = prover_of([CLOSED, HIGH], *objects, configuration=_document(actions))
    found = _asked(prover, by_name["job-0"])
    digest = prover.cluster.digest()
    assert _asked(prover, by_name["job-0"]) == found
    assert prover.cluster.digest() == digest
    return found


def _asked(prover: LandingProver, pod: Pod) -> tuple[LandingVerdict, str]:
    landing = prover.consider(pod)
    return landing.verdict, landing.preemption


def _job(of_queue: str = "default", **spec: Any) -> list[Object]:
    """A job of one pod, which runs on the closed node."""
    return [group("job", queue=of_queue, phase="Running", **spec), *owned(pods("job", 1, cpu="2", on="closed"))]


def _others(number: int, of_queue: str = "default", **spec: Any) -> list[Object]:
    """A job that fills node a."""
    return [
        node("a", cpu="4"),
        group("other", queue=of_queue, phase="Running", **spec),
        *owned(pods("other", number, cpu="2", on="a"), owner="other"),
    ]


def test_preempt_takes_the_room_of_a_job_of_lower_priority_of_the_queue() -> None:
    found = _said("preempt", _job(priorityClassName="high"), _others(2))

    assert found == (
        LandingVerdict.NO,
        "it would be scheduled onto a if pod batch/other-0 (priority 0) is preempted there",
    )


def test_preempt_takes_no_room_of_a_gang_at_its_minimum() -> None:
    found = _said("preempt", _job(priorityClassName="high"), _others(2, least=2))

    assert found == (LandingVerdict.NO, "")


def test_reclaim_takes_the_room_of_a_queue_that_holds_more_than_it_deserves() -> None:
    queues = [queue("small", weight=1), queue("large", weight=4)]

    found = _said("preempt, reclaim", queues, _job("large"), _others(2, "small"))

    assert found == (
        LandingVerdict.NO,
        "it would be scheduled onto a if pod batch/other-0 (priority 0) is reclaimed there",
    )


def test_a_queue_that_is_not_reclaimable_loses_nothing() -> None:
    queues = [queue("small", weight=1, reclaimable=False), queue("large", weight=4)]

    found = _said("preempt, reclaim", queues, _job("large"), _others(2, "small"))

    assert found == (LandingVerdict.NO, "")


def test_nothing_is_evicted_by_an_action_that_is_not_configured() -> None:
    found = _said("backfill", _job(priorityClassName="high"), _others(2))

    assert found == (LandingVerdict.NO, "")


def test_a_landing_that_needs_no_room_of_others_evicts_none() -> None:
    found = _said("preempt, reclaim", _job(priorityClassName="high"), _others(1))

    assert found == (LandingVerdict.LANDS, "")
