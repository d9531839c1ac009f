"""Moves of a bundle of which one goes where another has left: its room is asked for before it is there.

Otherwise a pod that waits for a node is scheduled there once the first pod has left, and there is no room for the next.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from msgspec.structs import replace

from descheduler.migration.dispatch.bundles import Bundles
from descheduler.migration.roads.job_task import JobTask
from descheduler.migration.store.journal import NewJob


def hold_ahead(tasks: Sequence[JobTask]) -> None:
    """Has the jobs of a bundle begin with its first wave where the nodes of all its replacements are chosen.

    Notes in `waves_ahead` of each of the others how many waves of `tasks` that is before its own. A bundle keeps to the
    waves where another pod of a workload is to move in between: of a workload one pod moves at a time, so that each
    would wait for the other.
    """
    numbers = sorted({task.eviction.wave for task in tasks})
    of_workload, of_bundle = defaultdict[str, list[JobTask]](list), defaultdict[int, list[JobTask]](list)
    for task in tasks:
        of_workload[task.eviction.workload].append(task)
        if task.eviction.bundle:
            of_bundle[task.eviction.bundle].append(task)
    for members in of_bundle.values():
        first = min(task.eviction.wave for task in members)
        later = [task for task in members if task.eviction.wave > first]
        has_nodes = all(task.eviction.held_on for task in members)
        if has_nodes and not any(_is_busy(task, first, of_workload[task.eviction.workload]) for task in later):
            for task in later:
                task.waves_ahead = numbers.index(task.eviction.wave) - numbers.index(first)


def with_time_for_waves(new: NewJob, task: JobTask) -> NewJob:
    """`new` with its time limit once more for each wave that it waits for."""
    return replace(new, ttl=new.ttl * (1 + task.waves_ahead)) if new.ttl else new


def bundle_is_ready(task: JobTask, bundles: Bundles[JobTask], at_turn: Collection[JobTask], now: float) -> bool:
    """Whether `task` may leave: it is alone, one of its bundle has left, or it is the turn of all of its wave.

    Those of later waves find room only once it has left. Where they hold room ahead, and where room is held for
    pending pods, the Reservations are tried next at `now`.
    """
    members = () if bundles.is_leaving(task.eviction) else bundles.members(task)
    if not members:
        return not task.eviction.rooms or _is_next(task, at_turn, now)
    together = {each for each in members if each.eviction.wave == task.eviction.wave}
    ahead = [each for each in members if each.waves_ahead or (each in together and each.eviction.rooms)]
    return together.issubset(at_turn) and all(_is_next(each, at_turn, now) for each in ahead)


def _is_next(task: JobTask, at_turn: Collection[JobTask], now: float) -> bool:
    """Whether the Reservations of its job are tried next; one whose turn has come without any has none to wait for."""
    return task.is_next_for_room(now) or (task.room_asked_at is None and task in at_turn)


def _is_busy(task: JobTask, first: int, of_workload: Collection[JobTask]) -> bool:
    """Whether another bundle, or a pod for itself, moves a pod of the workload from the wave `first` on, before `task`.

    That of a bundle that holds room ahead is under way all the time.
    """
    others: Iterable[JobTask] = (other for other in of_workload if not _go_together(other, task))
    return any(other.waves_ahead or first <= other.eviction.wave < task.eviction.wave for other in others)


def _go_together(one: JobTask, other: JobTask) -> bool:
    return one is other or 0 != one.eviction.bundle == other.eviction.bundle
