"""Laws of sessions, and of a live session in step with the shadow cluster, over random worlds."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from descheduler.placement.configuration.volcano import load_volcano_configuration
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.placement.volcano.actions.table import run_cycle
from descheduler.placement.volcano.jobs import Job, Status
from descheduler.placement.volcano.plugins.table import VOLCANO_PLUGINS
from descheduler.placement.volcano.resources import QUANTUM
from descheduler.placement.volcano.session import Session, Statement
from tests.placement.volcano.worlds import Object, group, node, owned, pods, prover_of, queue, snapshot_of
from tests.series import Part, parts

_CONFIGURATION = load_volcano_configuration(
    {
        "actions": "enqueue, allocate, backfill",
        "tiers": [
            {"plugins": [{"name": name} for name in ("priority", "gang", "conformance")]},
            {"plugins": [{"name": name} for name in ("drf", "predicates", "capacity", "nodeorder", "binpack")]},
        ],
    },
    modelled=VOLCANO_PLUGINS,
)
_SEEDS = range(10_000)
_PARTS = parts(100)


def world(random: Random) -> Iterator[Object]:
    """Some nodes, queues with capabilities, and jobs that run, are pending or both."""
    nodes = [f"n{number}" for number in range(random.randint(1, 5))]
    for name in nodes:
        yield node(name, cpu=str(random.randint(2, 8)))
    queues = [f"q{number}" for number in range(random.randint(1, 3))]
    for name in queues:
        yield queue(name, weight=random.randint(1, 4), capability={"cpu": str(random.randint(2, 16))})
    for number in range(random.randint(1, 5)):
        size, name = random.randint(1, 5), f"job{number}"
        is_running = random.random() < 0.4
        phase = "Running" if is_running else random.choice(("Pending", "Inqueue"))
        yield group(name, least=random.randint(1, size), queue=random.choice(queues), phase=phase)
        on = random.choice(nodes) if is_running else ""
        yield from owned(pods(name, size, cpu=str(random.randint(1, 3)), on=on), owner=name)


def _session(seed: int) -> Session:
    snapshot = snapshot_of(list(world(Random(seed))))
    return Session(ShadowCluster(snapshot), _CONFIGURATION, plugins=VOLCANO_PLUGINS)


def _is_whole(job: Job, num_ready_before: int) -> bool:
    """Whether none of it was bound, or as many as it needs."""
    return job.num_ready == num_ready_before or job.num_ready >= job.min_available


@pytest.mark.parametrize("part", _PARTS)
def test_gangs_are_bound_whole_and_no_queue_grows_above_its_capability(part: Part) -> None:
    for seed in part.of(_SEEDS):
        _check_bound_jobs_and_queues(seed)


def _check_bound_jobs_and_queues(seed: int) -> None:
    session = _session(seed)
    before = {job.id: job.num_ready for job in session.jobs.values()}
    held = {name: _cpu(session, name) for name in session.queues}

    run_cycle(session)

    bound = {task.job for task, _ in session.binds.values()}
    assert all(_is_whole(session.jobs[each], before[each]) for each in bound)
    for name, each in session.queues.items():
        most = max(each.capability.get("cpu") or float("inf"), held[name])
        assert _cpu(session, name) <= most + QUANTUM


def _cpu(session: Session, queue_name: str) -> float:
    return sum(job.allocated.get("cpu", 0.0) for job in session.jobs.values() if job.queue == queue_name)


@pytest.mark.parametrize("part", _PARTS)
def test_a_discarded_statement_restores_the_digest(part: Part) -> None:
    for seed in part.of(_SEEDS):
        _check_discarded_statement(seed)


def _check_discarded_statement(seed: int) -> None:
    session, random = _session(seed), Random(seed)
    digest, statement = session.digest(), Statement(session)

    for job in session.jobs.values():
        for task in list(job.of_status(Status.PENDING, Status.RUNNING)):
            if task.status is Status.RUNNING:
                statement.release(task)
            elif session.nodes.has(session.nodes.idle, at := random.randrange(len(session.node_order)), task.request):
                statement.allocate(task, at)
            else:
                statement.pipeline(task, at)
    statement.discard()

    assert session.digest() == digest


@pytest.mark.parametrize("part", _PARTS)
def test_questions_about_landings_leave_no_trace_and_are_answered_alike(part: Part) -> None:
    for seed in part.of(_SEEDS):
        _check_questions(seed)


def _check_questions(seed: int) -> None:
    prover, pod = prover_of(list(world(Random(seed))))
    victims = [each for each in pod.values() if each.node_name][:3]
    asked = [(prover.consider(each).verdict, prover.consider(each).node) for each in victims]
    digest = prover.cluster.digest()

    again = [(prover.consider(each).verdict, prover.consider(each).node) for each in victims]

    assert again == asked
    assert prover.cluster.digest() == digest
