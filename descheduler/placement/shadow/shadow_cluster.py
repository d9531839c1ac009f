"""The cluster as it would be: a snapshot plus moves, each of which can be taken back.

Every change is an entry of the undo log, and `what_if` takes back what was done in it, without copying a column.
Followers keep state that is derived from placed pods (counters of selectors, ports, volumes) and are told of each
change and of its inverse; ledgers keep what plugins reserved. So the invariant is: after a what-if the digest is what
it was before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.annotations import AnnotationKeys
from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.placement.shadow.follower import (
    Change,
    Changes,
    Entry,
    Follower,
    Followers,
    Taking,
    WhatIf,
    concern_of,
)
from descheduler.placement.shadow.node_table import Demand, NodeTable, PodDemands
from descheduler.placement.shadow.placement_class import Mark, PlacementClass, class_key
from descheduler.placement.shadow.views import SeenPod, Tell, Views

_AS_IT_IS: AbstractContextManager[None] = nullcontext()
_TABLE = "table"
NO_NODE = -1
"""Stands for a node that is not in the snapshot: such pods use claims and nothing else."""


class Company(msgspec.Struct, eq=False):
    """The pods that are tried together with one, itself among them: all that exist of their unit without a node.

    `held` are those that were placed before it, and that are not bound until enough of them are. `scratch` carries what
    plugins find out about the company from one of its pods to the next, by plugin name.
    """

    pods: tuple[Pod, ...]
    held: list[Pod] = msgspec.field(default_factory=list)
    scratch: dict[str, object] = msgspec.field(default_factory=dict)


class Cycle(msgspec.Struct, eq=False):
    """One pod on its way through the plugins.

    `credit` is room that the pod may use on top of what is free, resource row → amount a node: a plugin that holds
    room for this pod (a reservation) grants it in PreFilter. Placing further pods never makes it grow, on which proofs
    that there is too little room rest. `seen` are pods that the pod's scheduler counts on top of those of the cluster,
    such as what stands for reserved room, and `unseen` are pods of the cluster that it does not count: a transformer
    names them before PreFilter, and plugins are asked about the cycle within `view`. `keeper` is the ledger that
    alone notes where the pod is put if that is no pod of the cluster; None for pods. `notes` are conditions
    under which the answer holds, such as a volume that another node still has attached. `scratch` carries a plugin's
    findings from one point to the next, by plugin name. `company` is None for a pod that is tried alone.
    """

    pod: PlacementClass
    cluster: ShadowCluster
    credit: dict[int, NDArray[np.int64]] = msgspec.field(default_factory=dict)
    notes: list[str] = msgspec.field(default_factory=list)
    scratch: dict[str, object] = msgspec.field(default_factory=dict)
    company: Company | None = None
    seen: tuple[SeenPod, ...] = ()
    unseen: tuple[SeenPod, ...] = ()
    keeper: Ledger[Any] | None = None
    is_in_view: bool = False

    def view(self) -> AbstractContextManager[None]:
        """The cluster as the pod's scheduler sees it, in a `with` statement; it is as it was at the end. They nest."""
        is_as_seen = self.is_in_view or not (self.seen or self.unseen or self.cluster.has_been_viewed)
        return _AS_IT_IS if is_as_seen else _View(self)


class _View:
    """The pods that a cycle sees are on their nodes, and those that it does not see are not."""

    __slots__ = ("_before", "_cycle", "_trial")

    def __init__(self, cycle: Cycle) -> None:
        self._cycle = cycle

    def __enter__(self) -> None:
        cluster = self._cycle.cluster
        self._before = cluster.open_view(self._cycle.seen)
        self._trial = cluster.what_if()
        for each in self._cycle.unseen:
            cluster.remove(each.pod, each.node)
        self._cycle.is_in_view = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cycle.is_in_view = False
        self._trial.take_back()
        self._cycle.cluster.close_view(self._before)


TakenType = TypeVar("TakenType")


class Ledger(Protocol[TakenType]):
    """What a plugin reserved for placed pods: devices, quota, volumes. All that can be told from a pod and its node
    alone belongs to a follower instead."""

    def reserve(self, cycle: Cycle, node: int) -> TakenType | None:
        """Takes what the pod needs on `node`; returns what `release` needs to give exactly that back.

        None where nothing is taken, so that there is nothing to give back either.
        """

    def release(self, taken: TakenType) -> None:
        """Gives back what one `reserve` took, whatever else was taken and given back since."""

    def restore(self, taken: TakenType) -> None:
        """Takes exactly `taken` again, which was given back; so a what-if that gave it back is undone."""

    def fingerprint(self) -> object:
        """A value whose `repr` differs when the state does, independent of the order of changes."""


Takings = tuple[tuple[Ledger[Any], object], ...]
"""What was taken for one pod, ledger by ledger; those that gave nothing are left out."""
Patch = Callable[[Takings], Mapping[str, str]]
"""The annotations that are written on a pod for which all that was taken."""


def taken_from(takings: Takings, ledger: Ledger[TakenType]) -> TakenType | None:
    """What `ledger` gave; None for nothing."""
    return next((taken for each, taken in takings if each is ledger), None)  # type: ignore[return-value] # its own


class Placed(NamedTuple):
    """A pod that was put on a node of the shadow cluster, with what was taken for it.

    `pod` has the annotations of `patch`, which its scheduler writes before it is bound; it has no node name. It is not
    among the cluster's pods unless `is_pod`; see Cycle.
    """

    pod: Pod
    node: int
    takings: Takings
    is_pod: bool = True
    patch: Mapping[str, str] = {}


FollowerType = TypeVar("FollowerType", bound=Follower)
LedgerType = TypeVar("LedgerType", bound=Ledger[Any])


class ShadowCluster:
    """Nodes and the pods on them, with undo.

    Pods of the snapshot that have a node and have not finished are placed from the start. `placement_class` gives pods
    that are alike one class; `follow` builds a follower at its first use and keeps it up to date from then on; `ledger`
    builds a ledger at its first use. Pods that differ in `reads_annotations` are not alike; see AnnotationKeys. Nor are
    those of which one of `marks` says different things.

    What cycles see beside its pods is there within their views alone: outside of them `follow` has to be asked again.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        *,
        version: KubeVersion | None = None,
        reads_annotations: Iterable[str] = (),
        marks: Iterable[Mark] = (),
    ) -> None:
        self.snapshot = snapshot
        self.version = version or KubeVersion()
        self.table = NodeTable(snapshot.nodes)
        self.demands = PodDemands(self.table, sums_resized=self.version.gate("sums_resized_requests"))
        self.read_annotations = AnnotationKeys(reads_annotations)
        self._marks = tuple(marks)
        self._classes: dict[object, PlacementClass] = {}
        self._last_class: tuple[Pod, PlacementClass] | None = None
        self._followers = Followers()
        self._ledgers: dict[object, Ledger[Any]] = {}
        self._log: list[Entry] = []
        self._views = Views()
        self._ended: set[int] = set()
        index = self.table.index
        self.placed_pods = tuple(
            (pod, index.get(pod.node_name, NO_NODE)) for pod in snapshot.pods if pod.node_name and not pod.is_terminal
        )
        """Pods that the snapshot has on a node and that have not finished, with the node's index or `NO_NODE`."""
        self._load()
        self._views.join(_TABLE, self._tell_table)

    def follow(self, kind: Callable[[ShadowCluster], FollowerType]) -> FollowerType:
        """The follower of this class, which `kind(self)` builds; all callers share it."""
        known = self._followers.by_kind.get(kind)
        if known is None:
            known = kind(self)
            for pod, node in self.placed_pods:
                known.pod_added(pod, node, is_terminating=pod.deleted_at is not None)
            for change in self._log:
                if isinstance(change, Change):
                    tell = known.pod_added if change.sign == 1 else known.pod_removed
                    tell(change.pod, change.node, is_terminating=change.is_terminating)
            self._followers.add(kind, known)
            self._views.join(kind, self._tell_of(known))
        elif not self._views.is_settled:
            self._views.catch_up(kind)
        return known  # type: ignore[return-value] # what `kind` built

    def ledger(self, kind: Callable[[ShadowCluster], LedgerType]) -> LedgerType:
        """The ledger of this class, which `kind(self)` builds; the profiles of all schedulers share it."""
        known = self._ledgers.get(kind)
        if known is None:
            known = self._ledgers[kind] = kind(self)
        return known  # type: ignore[return-value] # what `kind` built

    def placement_class(self, pod: Pod) -> PlacementClass:
        """The placement class of a pod that looks for a node."""
        # One pod is asked about several times in a row.
        if self._last_class is not None and self._last_class[0] is pod:
            return self._last_class[1]
        key = class_key(pod, self.read_annotations, self._marks)
        known = self._classes.get(key)
        if known is None:
            known = self._classes[key] = PlacementClass(pod, self.demands.incoming(pod.spec))
        self._last_class = pod, known
        return known

    def add(self, pod: Pod, node: int) -> None:
        """Puts `pod` on `node`, where it takes room at once."""
        self._change(Change(pod, node, False, 1))

    def remove(self, pod: Pod, node: int | None = None) -> None:
        """Takes a pod off `node`, by default the one that the snapshot has it on: the pod is gone."""
        node = self._node_of(pod) if node is None else node
        self._change(Change(pod, node, pod.is_terminating or id(pod) in self._ended, -1))

    def terminate(self, pod: Pod) -> None:
        """Marks a pod of the snapshot as being deleted: it keeps its room, and spread constraints ignore it."""
        if not pod.is_terminating and id(pod) not in self._ended:
            node = self._node_of(pod)
            self._change(Change(pod, node, False, -1, takes_room=False))
            self._change(Change(pod, node, True, 1, takes_room=False))

    def place(self, cycle: Cycle, node: int, ledgers: Iterable[Ledger[Any]] = (), patch: Patch | None = None) -> Placed:
        """Puts the cycle's pod on `node`: what it takes out of `ledgers` first, in this order, then its room.

        `patch` is asked about what was taken, before the pod is there.
        """
        is_pod = cycle.keeper is None
        asked = ledgers if cycle.keeper is None else (*ledgers, cycle.keeper)
        with cycle.view():
            found = [(ledger, ledger.reserve(cycle, node)) for ledger in asked]
        # The view is gone from the log by now, and what was taken stays.
        takings = tuple([(ledger, taken) for ledger, taken in found if taken is not None])
        self._log += [Taking(ledger, taken, 1) for ledger, taken in takings]
        pod = cycle.pod.pod
        written = patch(takings) if is_pod and patch is not None else {}
        if written:
            pod = msgspec.structs.replace(pod, annotations={**pod.annotations, **written})
        if is_pod:
            self.add(pod, node)
        return Placed(pod, node, takings, is_pod, written)

    def take_off(self, placed: Placed) -> None:
        """Takes a pod that was placed off its node again, and gives back what was taken for it."""
        if placed.is_pod:
            self.remove(placed.pod, placed.node)
        for ledger, taken in reversed(placed.takings):
            self._do(Taking(ledger, taken, -1))

    def what_if(self) -> WhatIf:
        """What follows can be taken back; see WhatIf. They nest, the inner one ending first."""
        return WhatIf(self._log, self._undo_to)

    def repeat(self, changes: Changes) -> None:
        """Does again what was taken back, from the same state as the first time."""
        for entry in changes:
            self._do(entry)

    @property
    def has_been_viewed(self) -> bool:
        """Whether somebody may still count pods that are none of the cluster's."""
        return not self._views.is_settled

    def open_view(self, seen: tuple[SeenPod, ...]) -> tuple[SeenPod, ...]:
        """Puts `seen` on their nodes until `close_view`, which is given what this returns; see Cycle.view."""
        self.table.before_reading = None
        return self._views.open(seen)

    def close_view(self, before: tuple[SeenPod, ...]) -> None:
        """Ends the view that was opened last."""
        self._views.close(before)
        if not self._views.is_open and self.has_been_viewed:
            self.table.before_reading = self._table_as_it_is

    def digest(self) -> str:
        """A hash of all columns and counters."""
        self._views.settle()
        state = hashlib.sha256()
        # A resource that a what-if was the first to ask for leaves a row of zeros, which changes nothing.
        for name, row in zip(self.table.resources, self.table.requested, strict=True):
            if row.any():
                state.update(name.encode() + row.tobytes())
        state.update(self.table.scoring.tobytes())
        keepers: list[Follower | Ledger[Any]] = [*self._followers.by_kind.values(), *self._ledgers.values()]
        for keeper in sorted(keepers, key=lambda each: type(each).__name__):
            state.update(f"{type(keeper).__name__}={keeper.fingerprint()!r}".encode())
        return state.hexdigest()

    def ledger_digest(self) -> bytes:
        """A hash of what all ledgers hold, which may hang on the order in which pods were placed as well."""
        self._views.settle()
        found = (f"{type(ledger).__name__}={ledger.fingerprint()!r}" for ledger in self._ledgers.values())
        return hashlib.sha256("\n".join(sorted(found)).encode()).digest()

    def _undo_to(self, start: int) -> None:
        """Takes back the entries of the log from `start` on, the last ones first."""
        while len(self._log) > start:
            entry = self._log.pop()
            self._apply(entry, -entry.sign)

    def _change(self, change: Change) -> None:
        self._log.append(change)
        self._apply_change(change, change.sign)

    def _do(self, entry: Entry) -> None:
        self._log.append(entry)
        self._apply(entry, entry.sign)

    def _apply(self, entry: Entry, sign: int) -> None:
        if isinstance(entry, Change):
            self._apply_change(entry, sign)
        elif sign == 1:
            entry.ledger.restore(entry.taken)
        else:
            entry.ledger.release(entry.taken)

    def _apply_change(self, change: Change, sign: int) -> None:
        if change.takes_room and change.node != NO_NODE:
            self.table.take(change.node, self.demands.placed(change.pod), sign)
        if change.is_terminating:
            (self._ended.add if sign == 1 else self._ended.discard)(id(change.pod))
        tells = self._followers.tells_of(change.pod)
        for tell in tells.added if sign == 1 else tells.removed:
            tell(change.pod, change.node, is_terminating=change.is_terminating)

    def _tell_table(self, seen: SeenPod, by: int) -> None:
        if seen.node != NO_NODE:
            self.table.take(seen.node, self.demands.placed(seen.pod), by)

    def _tell_of(self, follower: Follower) -> Tell:
        """Tells `follower` of what is seen, if that concerns it."""
        concerns = concern_of(follower)

        def tell(seen: SeenPod, by: int) -> None:
            if concerns(seen.pod):
                (follower.pod_added if by == 1 else follower.pod_removed)(seen.pod, seen.node, is_terminating=False)

        return tell

    def _table_as_it_is(self) -> None:
        self.table.before_reading = None
        self._views.catch_up(_TABLE)

    def _node_of(self, pod: Pod) -> int:
        return self.table.index.get(pod.node_name, NO_NODE)

    def _load(self) -> None:
        nodes_by_demand: dict[Demand, list[int]] = {}
        for pod, node in self.placed_pods:
            if node != NO_NODE:
                nodes_by_demand.setdefault(self.demands.placed(pod), []).append(node)
        for demand, nodes in nodes_by_demand.items():
            self.table.take_all(demand, np.array(nodes, dtype=np.intp))
