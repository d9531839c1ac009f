"""What actions ask of nodes and of the tasks on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.volcano.jobs import Task
from descheduler.placement.volcano.order import Heap
from descheduler.placement.volcano.resources import total_of
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import OPEN, UNSCHEDULABLE

__all__ = ["FailedNodes", "curable_nodes", "may_suffice", "nodes_in_order", "victims_in_order", "victims_on"]


class FailedNodes:
    """Nodes that have refused a task, for other tasks of its job and role: Volcano does not ask them again.

    Tasks without a role may be of any form, and nothing is kept of them.
    """

    def __init__(self, session: Session) -> None:
        action = session.arguments_of(session.action)
        self._is_kept = action.switch("predicateErrorCacheEnable", default=True)
        self._failed: dict[tuple[str, str], BoolMask] = {}

    def left(self, task: Task, asked: BoolMask, passed: BoolMask) -> BoolMask:
        """The nodes of `passed` without those that have refused before; of `asked` the others refuse now."""
        if not (task.role and self._is_kept):
            return passed
        kind = task.job, task.role
        failed = self._failed.get(kind)
        found = passed if failed is None else passed & ~failed
        now = asked & ~found
        self._failed[kind] = now if failed is None else failed | now
        return found


def curable_nodes(session: Session, task: Task) -> BoolMask:
    """The nodes that may take `task` once pods are gone from them."""
    codes = session.codes(task)
    found: BoolMask = session.nodes.is_there & ((codes == OPEN) | (codes == UNSCHEDULABLE))
    refused = session.job_of(task).refused.get(task.uid, frozenset())
    found[list(refused)] = False
    return found


def nodes_in_order(session: Session, task: Task, nodes: BoolMask) -> Sequence[int]:
    """`nodes` as Volcano lists them: those that are not beyond help come out of a map where some others are."""
    found = [node for node in session.node_order if nodes[node]]
    return session.choices.shuffled(found) if session.job_of(task).refused.get(task.uid) else found


def victims_on(
    session: Session, point: str, task: Task, node: int, is_candidate: Callable[[Task], bool]
) -> Sequence[Task] | None:
    """The tasks on `node` that may go for `task`; None where there is no candidate."""
    candidates = [each for each in session.nodes.tasks[node].values() if is_candidate(each)]
    if not candidates:
        return None
    return session.tiers.victims(point, task, session.choices.shuffled(candidates))


def may_suffice(session: Session, task: Task, node: int, victims: Sequence[Task]) -> bool:
    """Whether `task` has room on `node` once all `victims` are gone."""
    nodes = session.nodes
    return nodes.has(nodes.future_idle, node, task.request, total_of(victim.request for victim in victims))


def victims_in_order(session: Session, victims: Sequence[Task]) -> Heap[Task]:
    """`victims`, the first to go first: the last task of the last job of the last queue."""
    tiers = session.tiers

    def is_less(left: Task, right: Task) -> bool:
        if left.job == right.job:
            return not tiers.task_is_less(left, right)
        jobs = session.job_of(left), session.job_of(right)
        if jobs[0].queue != jobs[1].queue:
            return not tiers.queue_is_less(session.queues[jobs[0].queue], session.queues[jobs[1].queue])
        return not tiers.job_is_less(*jobs)

    return Heap(is_less, victims)
