"""The next job to be created is the one that a search through the whole queue would find."""

from __future__ import annotations

from random import Random

import pytest

from descheduler.migration.dispatch.waves import Waiting
from descheduler.migration.roads.job_task import JobTask
from descheduler.model.pod import Owner
from descheduler.plan.planned import PlannedEviction


def task(name: str, workload: str = "", bundle: int = 0) -> JobTask:
    owner = Owner("ReplicaSet", workload, workload, controller=True) if workload else None
    return JobTask(PlannedEviction("shop", name, name, "n1", "p", "Plugin", controller=owner, bundle=bundle))


def searched(queue: list[JobTask], active: list[JobTask], *, is_full: bool) -> JobTask | None:
    """The plain version: every queued task is compared with every active one."""
    for each in queue:
        bundle = each.eviction.bundle
        together = [other for other in active if bundle and other.eviction.bundle == bundle]
        busy = {other.eviction.workload for other in active if other not in together}
        if (not is_full or together) and each.eviction.workload not in busy:
            return each
    return None


def test_workloads_take_turns() -> None:
    first, second, other = task("web-1", "web"), task("web-2", "web"), task("db-1", "db")
    waiting = Waiting([first, second, other])

    waiting.remove(first)
    waiting.began(first)

    assert waiting.next(is_full=False) is other
    waiting.ended(first)
    assert waiting.next(is_full=False) is second


def test_gang_begins_together_although_all_is_full() -> None:
    first, alone, second = task("g-1", "gang", 1), task("a"), task("g-2", "gang", 1)
    waiting = Waiting([first, alone, second])

    waiting.remove(first)
    waiting.began(first)

    assert waiting.next(is_full=True) is second
    assert waiting.next(is_full=False) is alone


@pytest.mark.parametrize("seed", range(200))
def test_choice_is_that_of_a_search(seed: int) -> None:
    random = Random(seed)
    most = random.randint(1, 6)
    workloads = ["", *(f"w{number}" for number in range(random.randint(1, 5)))]
    queue = [
        task(f"p{number}", random.choice(workloads), random.choice((0, 0, 1, 2)))
        for number in range(random.randint(0, 30))
    ]
    active = [task(f"adopted-{number}", random.choice(workloads)) for number in range(random.randint(0, 2))]
    waiting = Waiting(queue)
    for each in active:
        waiting.began(each)

    while queue:
        expected = searched(queue, active, is_full=len(active) >= most)
        assert waiting.next(is_full=len(active) >= most) is expected
        if expected is not None and random.random() < 0.8:
            queue.remove(expected)
            waiting.remove(expected)
            active.append(expected)
            waiting.began(expected)
        elif active and random.random() < 0.8:
            ending = active.pop(random.randrange(len(active)))
            waiting.ended(ending)
        else:
            left_out = queue.pop(random.randrange(len(queue)))
            waiting.remove(left_out)
        assert list(waiting) == queue
