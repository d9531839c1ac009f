"""A further cycle of one session: plugins that reopen say what they say when they start."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from descheduler.placement.volcano.jobs import Status
from descheduler.placement.volcano.plugins.drf import DominantShares
from descheduler.placement.volcano.plugins.queue_shares import QueueShares
from descheduler.placement.volcano.resources import total_of
from descheduler.placement.volcano.session import Session, Statement

from .test_session import clusters
from .worlds import Object, group, node, pods, queue, session, tasks_of

_TIERS = (("priority", "gang", "conformance"), ("drf", "predicates", "proportion", "nodeorder", "binpack"))


@pytest.mark.long
@settings(max_examples=40, deadline=None)
@given(clusters(), st.data())
def test_further_cycles_share_out_what_jobs_hold_then(objects: list[Object], data: st.DataObject) -> None:
    made = session(objects, tiers=_TIERS)
    before = _accounts(made)
    statement = Statement(made)
    for task in tasks_of(made).values():
        if task.status is Status.PENDING and data.draw(st.booleans()):
            statement.allocate(task, data.draw(st.integers(0, len(made.cluster.table) - 1)))

    made.open()

    for name, (allocated, request, _, _) in _accounts(made).items():
        jobs = [job for job in made.jobs.values() if job.queue == name]
        assert allocated == total_of(job.allocated for job in jobs)
        assert request == total_of(job.requested for job in jobs)
    statement.discard()
    made.open()
    assert _accounts(made) == before == _accounts(session(objects, tiers=_TIERS))


def _accounts(made: Session) -> dict[str, tuple[object, ...]]:
    shares, dominant = made.accounts["proportion"], made.accounts["drf"]
    assert isinstance(shares, QueueShares)
    assert isinstance(dominant, DominantShares)
    assert dominant.allocated == {job.id: job.allocated for job in made.jobs.values()}
    return {
        name: (account.allocated, account.request, account.deserved, account.inqueue)
        for name, account in shares.by_queue.items()
    }


@pytest.mark.long
@settings(max_examples=40, deadline=None)
@given(clusters(), st.data())
def test_jobs_of_one_state_are_alike(objects: list[Object], data: st.DataObject) -> None:
    made = session(objects, tiers=_TIERS)
    seen: dict[tuple[str, int], frozenset[tuple[str, Status]]] = {}
    statuses = st.sampled_from((Status.PENDING, Status.BOUND, Status.RELEASING))
    for _ in range(30):
        job = data.draw(st.sampled_from(list(made.jobs.values())))
        if job.tasks:
            job.set_status(data.draw(st.sampled_from(list(job.tasks.values()))), data.draw(statuses))
        found = frozenset((uid, task.status) for uid, task in job.tasks.items())
        assert seen.setdefault((job.id, job.state), found) == found


def test_a_job_comes_back_to_its_state() -> None:
    made = session([node("a"), queue("default"), group("j"), *pods("j", 2)], tiers=_TIERS)
    (job,) = made.jobs.values()
    before, tasks = job.state, list(job.tasks.values())

    for task in tasks:
        job.set_status(task, Status.BOUND)
    states = [before, job.state]
    for task in reversed(tasks):
        job.set_status(task, Status.PENDING)

    assert job.state == before
    assert len(set(states)) == 2
