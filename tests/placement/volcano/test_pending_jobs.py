"""Pending jobs compete in the order of queues and jobs, which is worked out anew after each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pytest

from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.prover import LandingProver
from tests.placement.volcano.worlds import Object, group, node, owned, pods, prover_of, queue


def _document(*tiers: Sequence[str]) -> Mapping[str, object]:
    named = [{"plugins": [{"name": name} for name in tier]} for tier in tiers]
    return {"actions": "enqueue, allocate, backfill", "tiers": named}


CAPACITY = _document(("priority", "gang"), ("drf", "predicates", "capacity", "nodeorder"))


def placed(prover: LandingProver) -> Counter[str]:
    """How many pods of each job have a node."""
    return Counter(pod.name.rpartition("-")[0] for pod, _ in prover.pending_nodes())


def test_jobs_of_a_queue_get_pods_in_turn_by_their_dominant_share() -> None:
    jobs = [group("x"), *pods("x", 4), group("y"), *pods("y", 4)]
    prover, _ = prover_of(node("a", cpu="4"), jobs, configuration=_document(("gang",), ("drf", "predicates")))

    assert placed(prover) == {"x": 2, "y": 2}


def test_queues_get_pods_in_turn_by_what_they_hold_of_what_they_deserve() -> None:
    jobs = [group("x", queue="qa"), *pods("x", 8), group("y", queue="qb"), *pods("y", 8)]
    queues = [queue("qa", deserved={"cpu": "6"}), queue("qb", deserved={"cpu": "2"})]
    prover, _ = prover_of(node("a", cpu="8"), queues, jobs, configuration=CAPACITY)

    assert placed(prover) == {"x": 6, "y": 2}


def test_gangs_of_a_queue_that_has_less_go_before_further_gangs_of_another() -> None:
    jobs: list[Object] = []
    for name, of_queue in (("x", "qa"), ("y", "qa"), ("z", "qb")):
        jobs += [group(name, least=2, queue=of_queue), *pods(name, 2, cpu="2")]
    queues = [queue("qa", deserved={"cpu": "8"}), queue("qb", deserved={"cpu": "8"})]
    prover, _ = prover_of(node("a", cpu="8"), queues, jobs, configuration=CAPACITY)

    assert placed(prover) == {"x": 2, "z": 2}


def nominated(only: Sequence[Object], on: str) -> Object:
    """The one pod of `only`, which an earlier cycle found room for that others had to leave."""
    (found,) = only
    return {**found, "status": {**found["status"], "nominatedNodeName": on}}


def test_pod_that_was_nominated_for_a_node_without_room_waits_on() -> None:
    """Volcano nominates for what the next cycle decides again; the room is not held."""
    objects = [group("x"), *pods("x", 1, cpu="3", on="a"), group("y"), nominated(pods("y", 1, cpu="2"), "a")]
    prover, _ = prover_of(node("a", cpu="4"), objects, configuration=_document(("gang",), ("drf", "predicates")))

    assert placed(prover) == {}


@pytest.mark.parametrize(
    ("deserved", "verdict", "said"),
    [
        pytest.param(
            "8",
            LandingVerdict.NO,
            "pending pod batch/other-0 comes first by its queue and job, and is scheduled onto b",
            id="of a queue that has less of what it deserves",
        ),
        pytest.param(
            "1",
            LandingVerdict.LANDS_IF,
            "pending pod batch/other-0 may be scheduled there first",
            id="of a queue that has more of it",
        ),
    ],
)
def test_a_pending_job_has_the_last_room_before_a_replacement(
    deserved: str, verdict: LandingVerdict, said: str
) -> None:
    """Its pod fits there once the victim has left."""
    queues = [queue("qa", deserved={"cpu": "8"}), queue("qb", deserved={"cpu": deserved})]
    world = [node("b", cpu="4"), *queues, group("job", queue="qa", phase="Running"), *owned(pods("job", 3, on="b"))]
    held = [group("held", queue="qb", phase="Running"), *owned(pods("held", 1, on="b"), owner="held")]
    other = [group("other", queue="qb"), *pods("other", 1)]
    prover, pod = prover_of(world, held, other, configuration=CAPACITY)

    landing = prover.consider(pod["job-0"])

    assert (landing.verdict, said in f"{landing.message} {landing.conditions}") == (verdict, True)
