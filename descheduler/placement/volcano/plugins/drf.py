"""Plugin drf: jobs that hold the smaller part of the cluster come first, by their dominant resource."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from descheduler.placement.configuration.volcano import PluginOption
from descheduler.placement.volcano.jobs import Job, Queue, Task
from descheduler.placement.volcano.resources import NOTHING, Amounts, added, named, share, subtracted, total_of
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import Callbacks, Victims

_DELTA = 1e-6
_PATH, _WEIGHTS = "volcano.sh/hierarchy", "volcano.sh/hierarchy-weights"


class QueueTreeNode(msgspec.Struct):
    """A node of the tree. `request` is that of a job, None for all other nodes; a node that is saturated can get no
    more of anything that it wants."""

    weight: float = 1.0
    request: Amounts | None = None
    allocated: Amounts = msgspec.field(default_factory=dict)
    share: float = 0.0
    is_saturated: bool = False
    children: dict[str, QueueTreeNode] = msgspec.field(default_factory=dict)


class _QueueTree:
    """The tree over the jobs of a session, which hold what `allocated` says by job."""

    def __init__(self, session: Session, allocated: Mapping[str, Amounts]) -> None:
        self._session = session
        self._allocated = allocated
        self._total = session.nodes.total
        self._held = total_of(allocated.values())
        self.root = QueueTreeNode()
        for job in session.jobs.values():
            self._node_of(job).request = total_of(task.request for task in job.tasks.values())
            self._node_of(job).allocated = allocated[job.id]
        self._settle(self._held)

    def order(self, left: Queue, right: Queue) -> float:
        """Down both paths: who can still get something first, then the smaller share by weight."""
        here, there = self.root, self.root
        paths = _path_of(left), _path_of(right)
        for depth in range(1, min(map(len, paths)) + 1):
            if here.is_saturated != there.is_saturated:
                return -1 if there.is_saturated else 1
            difference = here.share / here.weight - there.share / there.weight
            if difference:
                return difference
            if depth < min(map(len, paths)):
                here, there = here.children[paths[0][depth]], there.children[paths[1][depth]]
        return 0

    def reclaimable(self, initiator: Task, candidates: Sequence[Task]) -> Victims:
        """Those whose queue still comes after the initiator's once it has what it asks for and they are gone."""
        job = self._session.job_of(initiator)
        queue = self._session.queues[job.queue]
        self._hold(job, added(self._allocated[job.id], initiator.request))
        held = added(self._held, initiator.request)
        victims = []
        for task in candidates:
            other = self._session.job_of(task)
            before = self._node_of(other).allocated
            self._hold(other, subtracted(self._allocated[other.id], task.request))
            self._settle(subtracted(held, task.request))
            if self.order(queue, self._session.queues[other.queue]) < 0:
                victims.append(task)
            self._hold(other, before)
        self._hold(job, self._allocated[job.id])
        self._settle(self._held)
        return Victims(victims)

    def update(self, task: Task) -> None:
        """The job of `task` holds something else by now."""
        job = self._session.job_of(task)
        self._hold(job, self._allocated[job.id])
        self._held = total_of(self._allocated.values())
        self._settle(self._held)

    def _hold(self, job: Job, amounts: Amounts) -> None:
        self._node_of(job).allocated = amounts

    def _node_of(self, job: Job) -> QueueTreeNode:
        node, queue = self.root, self._session.queues[job.queue]
        weights = queue.queue.annotations.get(_WEIGHTS, "").split("/")
        for depth, name in enumerate(_path_of(queue)[1:], start=1):
            if name not in node.children:
                node.children[name] = QueueTreeNode(_weight(weights[depth] if depth < len(weights) else ""))
            node = node.children[name]
        return node.children.setdefault(job.id, QueueTreeNode(request=NOTHING))

    def _settle(self, held: Amounts) -> None:
        """Computes shares and who is saturated, where the cluster has given out `held`."""
        wanted = {name for name in named(self._total) if held.get(name, 0.0) < self._total[name]}
        self._settle_node(self.root, wanted)

    def _settle_node(self, node: QueueTreeNode, wanted: set[str]) -> None:
        if node.request is not None:
            node.share = self._share(node.allocated)
            node.is_saturated = _is_saturated(node.allocated, node.request, wanted)
            return
        for child in node.children.values():
            self._settle_node(child, wanted)
        holding = [child for child in node.children.values() if child.share]
        lowest = min((child.share for child in holding if not child.is_saturated), default=1.0)
        lowest = min(1.0, lowest)
        scaled = [
            child.allocated
            if child.is_saturated
            else {name: amount * lowest / child.share for name, amount in child.allocated.items()}
            for child in holding
        ]
        node.allocated = total_of(scaled)
        node.share = self._share(node.allocated)
        node.is_saturated = all(child.is_saturated for child in node.children.values())

    def _share(self, amounts: Amounts) -> float:
        return max((share(amounts.get(name, 0.0), self._total[name]) for name in named(self._total)), default=0.0)


class DominantShares:
    """What each job holds, as plugins are told of it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.total = session.nodes.total
        self.tree: _QueueTree | None = None
        """With `enableHierarchy`."""
        self.allocated: dict[str, Amounts] = {}
        self.begin()

    def begin(self) -> None:
        """Begins a cycle."""
        self.allocated.clear()
        self.allocated.update((job.id, job.allocated) for job in self._session.jobs.values())

    def share_of(self, amounts: Amounts) -> float:
        """The largest part of a resource of the cluster that `amounts` is."""
        return max((share(amounts.get(name, 0.0), self.total[name]) for name in named(self.total)), default=0.0)

    def of(self, job: Job) -> float:
        """The share of a job."""
        return self.share_of(self.allocated[job.id])

    def add(self, task: Task) -> None:
        """`task` holds room."""
        self.allocated[task.job] = added(self.allocated[task.job], task.request)

    def remove(self, task: Task) -> None:
        """It does no longer."""
        self.allocated[task.job] = subtracted(self.allocated[task.job], task.request)

    def preemptable(self, initiator: Task, candidates: Sequence[Task]) -> Victims:
        """Those whose job, without them and the candidates before, still has the larger share, or the same."""
        own = self.share_of(added(self.allocated[initiator.job], initiator.request))
        held: dict[str, Amounts] = {}
        victims = []
        for task in candidates:
            held[task.job] = subtracted(held.get(task.job, self.allocated[task.job]), task.request)
            if own - self.share_of(held[task.job]) <= _DELTA:
                victims.append(task)
        return Victims(victims)


def start(session: Session, option: PluginOption) -> Callbacks:
    """The order of jobs and victims within a queue; with `enableHierarchy` the order of queues and victims across."""
    shares = DominantShares(session)
    tree = shares.tree = _QueueTree(session, shares.allocated) if option.is_hierarchical else None
    session.accounts["drf"] = shares

    def allocated(task: Task) -> None:
        shares.add(task)
        if tree is not None:
            tree.update(task)

    def deallocated(task: Task) -> None:
        shares.remove(task)
        if tree is not None:
            tree.update(task)

    return Callbacks(
        job_order=lambda left, right: shares.of(left) - shares.of(right),
        preemptable=shares.preemptable,
        queue_order=None if tree is None else tree.order,
        reclaimable=None if tree is None else tree.reclaimable,
        allocated=allocated,
        deallocated=deallocated,
        reopen=shares.begin if tree is None else None,
    )


def _is_saturated(allocated: Amounts, request: Amounts, wanted: set[str]) -> bool:
    """Whether a job has all that it asks for of something, or asks for something of which there is no more."""
    for name in named(allocated):
        asked = request.get(name, 0.0)
        if asked and (allocated[name] >= asked or name not in wanted):
            return True
    return False


def _path_of(queue: Queue) -> list[str]:
    return queue.queue.annotations.get(_PATH, "").split("/")


def _weight(text: str) -> float:
    try:
        return max(1.0, float(text))
    except ValueError:
        return 1.0
