"""The cluster as it would be: a snapshot plus moves, each of which can be taken back.

Every change is an entry of the undo log; `mark`, `rollback` and `commit` give nested what-ifs without copying a
column. Followers keep state of their own about placed pods (counters of selectors, ports, volumes) and are told of
each change and of its inverse, so the invariant is: after a rollback every digest is what it was at the mark.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.placement.framework import Cycle, ReservePlugin
from descheduler.placement.incoming import Incoming, class_key
from descheduler.placement.node_table import Demand, NodeTable

__all__ = ["NO_NODE", "Follower", "ShadowCluster"]

NO_NODE = -1
"""Stands for a node that the snapshot does not hold: such pods use claims and nothing else."""


class Follower(Protocol):
    """State about placed pods that is derived from them one at a time."""

    def pod_added(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """`pod` is on `node` (`NO_NODE` for one that the snapshot does not hold)."""

    def pod_removed(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """The exact inverse of `pod_added`."""

    def fingerprint(self) -> object:
        """A value whose `repr` differs when the state does, independent of the order of changes."""


class _Change(NamedTuple):
    """A pod that came (`sign` 1) or left (-1)."""

    pod: Pod
    node: int
    is_terminating: bool
    sign: int


class _Reservation(NamedTuple):
    """What a plugin took for the pod of `cycle` on `node`."""

    plugin: ReservePlugin
    cycle: Cycle
    node: int
    taken: object


Changes = tuple["_Change | _Reservation", ...]
"""Entries of the undo log, oldest first."""


FollowerType = TypeVar("FollowerType", bound=Follower)


class ShadowCluster:
    """Nodes and the pods on them, with undo.

    Pods of the snapshot that have a node and have not finished are placed from the start. `incoming` makes placement
    classes; `follow` builds a follower at its first use and keeps it up to date from then on.
    """

    def __init__(self, snapshot: Snapshot, *, version: KubeVersion | None = None) -> None:
        self.snapshot = snapshot
        self.version = version or KubeVersion()
        self.table = NodeTable(snapshot.nodes)
        self._classes: dict[object, Incoming] = {}
        self._demands: dict[int, tuple[object, Demand]] = {}
        self._followers: dict[type[Follower], Follower] = {}
        self._log: list[_Change | _Reservation] = []
        self._floor = 0
        self._ended: set[int] = set()
        index = self.table.index
        self.placed_pods = tuple(
            (pod, index.get(pod.node_name, NO_NODE)) for pod in snapshot.pods if pod.node_name and not pod.is_terminal
        )
        """Pods that the snapshot has on a node and that have not finished, with the node's index or `NO_NODE`."""
        self._load()

    def follow(self, kind: Callable[[ShadowCluster], FollowerType]) -> FollowerType:
        """The follower of this class, which `kind(self)` builds; all callers share it."""
        known = self._followers.get(kind)  # type: ignore[call-overload]
        if known is None:
            known = kind(self)
            for pod, node in self.placed_pods:
                known.pod_added(pod, node, is_terminating=pod.deleted_at is not None)
            for change in self._log:
                if isinstance(change, _Change):
                    _tell(known, change, change.sign)
            self._followers[kind] = known  # type: ignore[index]
        return known  # type: ignore[no-any-return]

    def incoming(self, pod: Pod) -> Incoming:
        """The placement class of a pod that looks for a node."""
        key = class_key(pod)
        known = self._classes.get(key)
        if known is None:
            spec = pod.spec
            known = Incoming(pod, self.table.demand(spec.requests, spec.incoming_scoring_requests))
            self._classes[key] = known
        return known

    def add(self, pod: Pod, node: int) -> None:
        """Puts `pod` on `node`, where it takes room at once."""
        self._change(_Change(pod, node, False, 1))

    def remove(self, pod: Pod, node: int | None = None) -> None:
        """Takes a pod off `node`, by default the one that the snapshot has it on: the pod is gone."""
        node = self._node_of(pod) if node is None else node
        self._change(_Change(pod, node, pod.is_terminating or id(pod) in self._ended, -1))

    def terminate(self, pod: Pod) -> None:
        """Marks a pod of the snapshot as being deleted: it keeps its room, and spread constraints ignore it."""
        if not pod.is_terminating and id(pod) not in self._ended:
            node = self._node_of(pod)
            self._change(_Change(pod, node, False, -1))
            self._change(_Change(pod, node, True, 1))

    def reserve(self, plugin: ReservePlugin, cycle: Cycle, node: int) -> None:
        """Lets `plugin` take what the cycle's pod needs on `node`."""
        self._log.append(_Reservation(plugin, cycle, node, plugin.reserve(cycle, node)))

    def mark(self) -> int:
        """The present moment, for `rollback`."""
        return len(self._log)

    def rollback(self, mark: int) -> None:
        """Takes back everything since `mark`. Raises ValueError for a moment before the last commit."""
        if mark < self._floor:
            raise ValueError("what was committed cannot be rolled back")
        while len(self._log) > mark:
            change = self._log.pop()
            if isinstance(change, _Reservation):
                change.plugin.unreserve(change.taken)
            else:
                self._apply(change, -change.sign)

    def changes_since(self, mark: int) -> Changes:
        """What was done since `mark`, for `repeat`."""
        return tuple(self._log[mark:])

    def repeat(self, changes: Changes) -> None:
        """Does again what was rolled back, from the same state as the first time."""
        for change in changes:
            if isinstance(change, _Reservation):
                self.reserve(change.plugin, change.cycle, change.node)
            else:
                self._change(change)

    def commit(self) -> None:
        """Makes everything so far permanent."""
        self._floor = len(self._log)

    def digest(self) -> str:
        """A hash of all columns and counters."""
        state = hashlib.sha256()
        # A resource that a what-if was the first to ask for leaves a row of zeros, which changes nothing.
        for name, row in zip(self.table.resources, self.table.requested, strict=True):
            if row.any():
                state.update(name.encode() + row.tobytes())
        state.update(self.table.scoring.tobytes())
        for kind, follower in sorted(self._followers.items(), key=lambda item: item[0].__name__):
            state.update(f"{kind.__name__}={follower.fingerprint()!r}".encode())
        return state.hexdigest()

    def _change(self, change: _Change) -> None:
        self._log.append(change)
        self._apply(change, change.sign)

    def _apply(self, change: _Change, sign: int) -> None:
        if change.node != NO_NODE:
            self.table.take(change.node, self._demand(change.pod), sign)
        if change.is_terminating:
            (self._ended.add if sign > 0 else self._ended.discard)(id(change.pod))
        for follower in self._followers.values():
            _tell(follower, change, sign)

    def _node_of(self, pod: Pod) -> int:
        return self.table.index.get(pod.node_name, NO_NODE)

    def _demand(self, pod: Pod) -> Demand:
        """What a placed pod takes; in-place resizing may make that more than its spec says."""
        if pod.resized is not None:
            return self.table.demand(pod.resized.requests, pod.resized.scoring_requests)
        known = self._demands.get(id(pod.spec))
        if known is None:
            demand = self.table.demand(pod.spec.requests, pod.spec.scoring_requests)
            known = self._demands[id(pod.spec)] = (pod.spec, demand)
        return known[1]

    def _load(self) -> None:
        nodes_by_demand: dict[Demand, list[int]] = {}
        for pod, node in self.placed_pods:
            if node != NO_NODE:
                nodes_by_demand.setdefault(self._demand(pod), []).append(node)
        for demand, nodes in nodes_by_demand.items():
            self.table.take_all(demand, np.array(nodes, dtype=np.intp))


def _tell(follower: Follower, change: _Change, sign: int) -> None:
    tell = follower.pod_added if sign > 0 else follower.pod_removed
    tell(change.pod, change.node, is_terminating=change.is_terminating)
