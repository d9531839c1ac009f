"""Plugin nodegroup: queues take nodes of the groups that their affinity names."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from descheduler.model.groups.volcano import QUEUE_NAME_ANNOTATION, NodeGroups
from descheduler.model.pod import Pod
from descheduler.placement.configuration.volcano import PluginOption
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.volcano.jobs import Task
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import OPEN, UNRESOLVABLE, Callbacks, NodeCodes

__all__ = ["start"]

_GROUP = "volcano.sh/nodegroup-name"
_QUEUE = "volcano.sh/queue-name"
_REQUIRED, _PREFERRED, _AVOIDED = 100.0, 50.0, -1.0


def start(session: Session, option: PluginOption) -> Callbacks:
    """The filter and the score of nodes by their group; a task that names no queue is free to go anywhere.

    A queue that names no group takes no node at all, as in Volcano 1.10.
    """
    groups = session.kept("nodegroup", lambda: [node.labels.get(_GROUP, "") for node in session.cluster.table.nodes])

    def mask(names: Collection[str]) -> BoolMask:
        return np.array([group in names for group in groups], dtype=bool)

    def predicate(task: Task) -> NodeCodes:
        queue = _queue_of(task.pod)
        named = _named(session, queue)
        is_open = mask(named.required | named.preferred) & ~mask(named.excluded) | mask(named.avoided)
        return np.where(is_open | (not queue), OPEN, UNRESOLVABLE).astype(np.int8)

    def score(task: Task, among: BoolMask) -> NDArray[np.float64]:
        named = _named(session, _queue_of(task.pod))
        found = _REQUIRED * mask(named.required) + _PREFERRED * mask(named.preferred)
        return np.where(mask(named.avoided), _AVOIDED, found)

    return Callbacks(predicate=predicate, node_order=score)


def _named(session: Session, queue: str) -> NodeGroups:
    known = session.queues.get(queue)
    return NodeGroups() if known is None else known.queue.node_groups


def _queue_of(pod: Pod) -> str:
    """The queue that a pod names, whatever the queue of its job is."""
    stated = (pod.labels.get(_QUEUE), pod.annotations.get(_QUEUE), pod.annotations.get(QUEUE_NAME_ANNOTATION))
    return next((name for name in stated if name is not None), "")
