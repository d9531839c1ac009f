"""Laws of sessions, and of a live session in step with the shadow cluster, over random worlds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

import pytest

from descheduler.placement.configuration.volcano import VolcanoConfiguration, load_volcano_configuration
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.placement.volcano.jobs import Job, Status, Task
from descheduler.placement.volcano.plugins.queue_shares import QueueShares
from descheduler.placement.volcano.plugins.table import VOLCANO_PLUGINS
from descheduler.placement.volcano.resources import QUANTUM, added, fits
from descheduler.placement.volcano.session import Eviction, Session, Statement
from tests.conformance.volcano.worlds import RandomChoices
from tests.placement.volcano.cycle.cycle import run_cycle
from tests.placement.volcano.cycle.digest import digest_of
from tests.placement.volcano.worlds import (
    Object,
    group,
    node,
    owned,
    plugin,
    pods,
    priority_class,
    prover_of,
    queue,
    snapshot_of,
)
from tests.series import Part, parts

_SEEDS = range(10_000)
_PARTS = parts(100)
_SYSTEM = "system-node-critical"


def _configuration(*tiers: Sequence[str]) -> VolcanoConfiguration:
    document = {
        "actions": "enqueue, allocate, preempt, reclaim, backfill",
        "tiers": [{"plugins": [plugin(name) for name in tier]} for tier in tiers],
    }
    return load_volcano_configuration(document, modelled=VOLCANO_PLUGINS)


_IN_TWO_TIERS = _configuration(
    ("priority", "gang", "conformance"), ("drf", "predicates", "capacity", "nodeorder", "binpack")
)
_IN_ONE_TIER = _configuration(("priority", "gang", "conformance", "predicates", "proportion", "nodeorder", "binpack"))
"""No later tier gives up what this one spares: Volcano asks the next where all answers of a tier are empty."""


def world(random: Random) -> Iterator[Object]:
    """Some nodes, queues with capabilities, and jobs of some priority that run, are pending or both."""
    idle = {f"n{number}": random.randint(2, 8) for number in range(random.randint(1, 5))}
    for name, cpu in idle.items():
        yield node(name, cpu=str(cpu))
    queues = [f"q{number}" for number in range(random.randint(1, 3))]
    for name in queues:
        capability = {"cpu": str(random.randint(2, 16))}
        yield queue(name, weight=random.randint(1, 4), capability=capability, reclaimable=random.random() < 0.6)
    yield from (priority_class(name, value) for name, value in (("low", 1), ("high", 100)))
    for number in range(random.randint(1, 8)):
        size, name = random.randint(1, 5), f"job{number}"
        is_running = random.random() < 0.5
        phase = "Running" if is_running else random.choice(("Pending", "Inqueue"))
        least, priority = random.randint(1, size), "low" if random.random() < (0.8 if is_running else 0.2) else "high"
        yield group(name, least=least, queue=random.choice(queues), phase=phase, priorityClassName=priority)
        cpu = random.randint(1, 3)
        at = [_place(random, idle, cpu) if is_running else "" for _ in range(size)]
        made = (_stated(random, pod, on) for pod, on in zip(pods(name, size, cpu=str(cpu)), at, strict=True))
        yield from owned(made, owner=name)


def _place(random: Random, idle: dict[str, int], cpu: int) -> str:
    """A node on which a pod runs; now and then one that is full already."""
    name = random.choice([each for each in idle if idle[each] >= cpu or random.random() < 0.1] or [""])
    if name:
        idle[name] -= cpu
    return name


def _stated(random: Random, pod: Object, on: str) -> Object:
    """The pod on this node, with a priority, and some of what makes Volcano spare it."""
    spared = {"volcano.sh/preemptable": "false"} if random.random() < 0.25 else {}
    metadata = {**pod["metadata"], "annotations": {**pod["metadata"]["annotations"], **spared}}
    spec = {**pod["spec"], "priority": random.randint(0, 2)}
    if random.random() < 0.25:
        spec["priorityClassName"] = _SYSTEM
    if not on:
        return {**pod, "metadata": metadata, "spec": spec}
    return {**pod, "metadata": metadata, "spec": {**spec, "nodeName": on}, "status": {"phase": "Running"}}


def _session(seed: int, configuration: VolcanoConfiguration = _IN_TWO_TIERS) -> Session:
    cluster = ShadowCluster(snapshot_of(list(world(Random(seed)))))
    return Session(cluster, configuration, plugins=VOLCANO_PLUGINS, choices=RandomChoices(seed))


def _is_whole(job: Job, num_ready_before: int) -> bool:
    """Whether none of it was bound, or as many as it needs."""
    return job.num_ready == num_ready_before or job.num_ready >= job.min_available


@pytest.mark.long
@pytest.mark.parametrize("part", _PARTS)
def test_gangs_are_bound_whole_and_no_queue_grows_above_its_capability(part: Part) -> None:
    for seed in part.of(_SEEDS):
        _check_bound_jobs_and_queues(seed)


def _check_bound_jobs_and_queues(seed: int) -> None:
    session = _session(seed)
    before = {job.id: job.num_ready for job in session.jobs.values()}
    held = {name: _cpu(session, name) for name in session.queues}

    run_cycle(session)

    bound = {task.job for task, _ in session.binds.values()} - {each.task.job for each in session.evictions}
    assert all(_is_whole(session.jobs[each], before[each]) for each in bound)
    for name, each in session.queues.items():
        most = max(each.capability.get("cpu") or float("inf"), held[name])
        assert _cpu(session, name) <= most + QUANTUM


def _cpu(session: Session, queue_name: str) -> float:
    return sum(job.allocated.get("cpu", 0.0) for job in session.jobs.values() if job.queue == queue_name)


@pytest.mark.long
@pytest.mark.parametrize("part", _PARTS)
def test_actions_evict_nothing_that_a_victim_function_spares(part: Part) -> None:
    """By plain counting; what an action takes from whom is told by the state at the end."""
    num_evicted = sum(map(_num_checked_evictions, part.of(_SEEDS)))

    assert num_evicted > 0


def _num_checked_evictions(seed: int) -> int:
    session = _session(seed, _IN_ONE_TIER)
    waiting = [task for job in session.jobs.values() for task in job.of_status(Status.PENDING)]
    before = {job.id: job.num_ready for job in session.jobs.values()}

    run_cycle(session)

    gone = session.evictions
    assert len({each.task.uid for each in gone}) == len(gone)
    for each in gone:
        assert each.task.is_preemptable
        assert each.task.pod.spec.priority_class_name != _SYSTEM
        assert each.task.status is Status.RELEASING
        may_take = _MAY_TAKE[each.action]
        assert any(may_take(session, task, each.task) for task in waiting)
    for job in session.jobs.values():
        assert job.num_ready >= min(before[job.id], job.min_available)
    for name in session.queues:
        _check_share(session, name, [each for each in gone if session.job_of(each.task).queue == name])
    return len(gone)


def _may_preempt(session: Session, initiator: Task, victim: Task) -> bool:
    """Whether priority lets `initiator` take the room of a task of its queue."""
    own, other = session.job_of(initiator), session.job_of(victim)
    if own is other:
        return victim.priority < initiator.priority
    return own.queue == other.queue and other.priority < own.priority


def _may_reclaim(session: Session, initiator: Task, victim: Task) -> bool:
    """Whether it may take that of a task of another queue."""
    queue_name = session.job_of(victim).queue
    return session.job_of(initiator).queue != queue_name and session.queues[queue_name].is_reclaimable


_MAY_TAKE = {"preempt": _may_preempt, "reclaim": _may_reclaim}


def _check_share(session: Session, queue_name: str, gone: Sequence[Eviction]) -> None:
    """That a queue which others took room of had more than it deserves until one of its tasks was gone."""
    shares = session.accounts["proportion"]
    assert isinstance(shares, QueueShares)
    reclaimed = [each.task for each in gone if each.action == "reclaim"]
    if reclaimed:
        account = shares.by_queue[queue_name]
        assert any(not fits(added(account.allocated, task.request), account.deserved) for task in reclaimed)


@pytest.mark.long
@pytest.mark.parametrize("part", _PARTS)
def test_a_discarded_statement_restores_the_digest(part: Part) -> None:
    for seed in part.of(_SEEDS):
        _check_discarded_statement(seed)


def _check_discarded_statement(seed: int) -> None:
    session, random = _session(seed), Random(seed)
    digest, statement = digest_of(session), Statement(session)

    for job in session.jobs.values():
        for task in list(job.of_status(Status.PENDING, Status.RUNNING)):
            if task.status is Status.RUNNING:
                statement.release(task)
            elif session.nodes.has(session.nodes.idle, at := random.randrange(len(session.node_order)), task.request):
                statement.allocate(task, at)
            else:
                statement.pipeline(task, at)
    statement.discard()

    assert digest_of(session) == digest


@pytest.mark.long
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
