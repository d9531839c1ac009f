"""The search of the optimizer without the order of moves, which the challenge does not ask for."""

from __future__ import annotations

from descheduler.optimizer import Limits
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.search import Search, SearchTask
from descheduler.optimizer.workers import search_in_processes
from tests.bench.roadef.files import Instance


def find_assignment(instance: Instance, limits: Limits, *, seed: int = 0, num_workers: int = 1) -> Ints:
    """int64[P], the best assignment found; no order of moves may lead there."""
    task = SearchTask(instance.problem, instance.objective, limits, seed)
    if num_workers > 1:
        found, _, _ = search_in_processes(
            task, num_workers=num_workers, is_cancelled=lambda: False, on_incumbent=lambda _: None
        )
        return found.assignment
    search = Search(task)
    search.start()
    search.improve(search.budget)
    return search.incumbent.assignment
