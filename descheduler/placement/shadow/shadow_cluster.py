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
from descheduler.model.pod import Pod, PodSpec
from descheduler.placement.shadow.follower import ChoosyFollower, Follower, Tells
from descheduler.placement.shadow.node_table import Demand, NodeTable
from descheduler.placement.shadow.placement_class import Mark, PlacementClass, class_key
from descheduler.placement.shadow.undo_log import Change, Changes, Entry, Taking, WhatIf

__all__ = [
    "NO_NODE",
    "Company",
    "Cycle",
    "Ledger",
    "Placed",
    "Seen",
    "ShadowCluster",
    "Takings",
    "taken_from",
]

_AS_IT_IS: AbstractContextManager[None] = nullcontext()
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


class Seen(NamedTuple):
    """A pod on a node, where a scheduler counts it although it is none of the cluster's, or does not; see Cycle."""

    pod: Pod
    node: int


class Cycle(msgspec.Struct, eq=False):
    """One pod on its way through the plugins.

    `credit` is room that the pod may use on top of what is free, resource row → amount a node: a plugin that holds
    room for this pod (a reservation) grants it in PreFilter. Placing further pods never makes it grow, on which proofs
    that there is too little room rest. `seen` are pods that the pod's scheduler counts on top of those of the cluster,
    such as what stands for reserved room, and `unseen` are pods of the cluster that it does not count: a transformer
    names them before PreFilter, and plugins are asked about the cycle within `view`. `keeper` is the ledger that notes
    where the pod is put if that is no pod of the cluster, which nobody else sees; None for pods. `notes` are conditions
    under which the answer holds, such as a volume that another node still has attached. `scratch` carries a plugin's
    findings from one point to the next, by plugin name. `company` is None for a pod that is tried alone.
    """

    pod: PlacementClass
    cluster: ShadowCluster
    credit: dict[int, NDArray[np.int64]] = msgspec.field(default_factory=dict)
    notes: list[str] = msgspec.field(default_factory=list)
    scratch: dict[str, object] = msgspec.field(default_factory=dict)
    company: Company | None = None
    seen: tuple[Seen, ...] = ()
    unseen: tuple[Seen, ...] = ()
    keeper: Ledger[Any] | None = None
    is_in_view: bool = False

    def view(self) -> AbstractContextManager[None]:
        """The cluster as the pod's scheduler sees it, in a `with` statement; it is as it was at the end. They nest."""
        return _View(self) if (self.seen or self.unseen) and not self.is_in_view else _AS_IT_IS


class _View:
    """The pods that a cycle sees are on their nodes, and those that it does not see are not."""

    __slots__ = ("_cycle", "_trial")

    def __init__(self, cycle: Cycle) -> None:
        self._cycle = cycle

    def __enter__(self) -> None:
        self._trial = self._cycle.cluster.what_if()
        for each in self._cycle.seen:
            self._cycle.cluster.add(each.pod, each.node)
        for each in self._cycle.unseen:
            self._cycle.cluster.remove(each.pod, each.node)
        self._cycle.is_in_view = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cycle.is_in_view = False
        self._trial.take_back()


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
    builds a ledger at its first use. Pods that differ in
    `reads_annotations` are not alike; see AnnotationKeys. Nor are those of which one of `marks` says different things.
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
        self.read_annotations = AnnotationKeys(reads_annotations)
        self._marks = tuple(marks)
        self._classes: dict[object, PlacementClass] = {}
        self._demands: dict[int, tuple[object, Demand]] = {}
        self._followers: dict[object, Follower] = {}
        self._choosy: dict[object, ChoosyFollower] = {}
        self._tells_of_all = Tells([], [])
        # The spec is kept as well: an identity stands for it only as long as it lives.
        self._tells_by_spec: dict[int, tuple[PodSpec, Tells]] = {}
        self._ledgers: dict[object, Ledger[Any]] = {}
        self._log: list[Entry] = []
        self._ended: set[int] = set()
        index = self.table.index
        self.placed_pods = tuple(
            (pod, index.get(pod.node_name, NO_NODE)) for pod in snapshot.pods if pod.node_name and not pod.is_terminal
        )
        """Pods that the snapshot has on a node and that have not finished, with the node's index or `NO_NODE`."""
        self._load()

    def follow(self, kind: Callable[[ShadowCluster], FollowerType]) -> FollowerType:
        """The follower of this class, which `kind(self)` builds; all callers share it."""
        known = self._followers.get(kind)
        if known is None:
            known = kind(self)
            for pod, node in self.placed_pods:
                known.pod_added(pod, node, is_terminating=pod.deleted_at is not None)
            for change in self._log:
                if isinstance(change, Change):
                    tell = known.pod_added if change.sign > 0 else known.pod_removed
                    tell(change.pod, change.node, is_terminating=change.is_terminating)
            self._followers[kind] = known
            self._tells_of_all.added.append(known.pod_added)
            self._tells_of_all.removed.append(known.pod_removed)
            self._tells_by_spec.clear()
            if isinstance(known, ChoosyFollower):
                self._choosy[kind] = known
        return known  # type: ignore[return-value] # what `kind` built

    def ledger(self, kind: Callable[[ShadowCluster], LedgerType]) -> LedgerType:
        """The ledger of this class, which `kind(self)` builds; the profiles of all schedulers share it."""
        known = self._ledgers.get(kind)
        if known is None:
            known = self._ledgers[kind] = kind(self)
        return known  # type: ignore[return-value] # what `kind` built

    def placement_class(self, pod: Pod) -> PlacementClass:
        """The placement class of a pod that looks for a node."""
        key = class_key(pod, self.read_annotations, self._marks)
        known = self._classes.get(key)
        if known is None:
            spec = pod.spec
            known = PlacementClass(pod, self.table.demand(spec.requests, spec.incoming_scoring_requests))
            self._classes[key] = known
        return known

    def add(self, pod: Pod, node: int) -> None:
        """Puts `pod` on `node`, where it takes room at once."""
        self._do(Change(pod, node, False, 1))

    def remove(self, pod: Pod, node: int | None = None) -> None:
        """Takes a pod off `node`, by default the one that the snapshot has it on: the pod is gone."""
        node = self._node_of(pod) if node is None else node
        self._do(Change(pod, node, pod.is_terminating or id(pod) in self._ended, -1))

    def terminate(self, pod: Pod) -> None:
        """Marks a pod of the snapshot as being deleted: it keeps its room, and spread constraints ignore it."""
        if not pod.is_terminating and id(pod) not in self._ended:
            node = self._node_of(pod)
            self._do(Change(pod, node, False, -1, takes_room=False))
            self._do(Change(pod, node, True, 1, takes_room=False))

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

    def digest(self) -> str:
        """A hash of all columns and counters."""
        state = hashlib.sha256()
        # A resource that a what-if was the first to ask for leaves a row of zeros, which changes nothing.
        for name, row in zip(self.table.resources, self.table.requested, strict=True):
            if row.any():
                state.update(name.encode() + row.tobytes())
        state.update(self.table.scoring.tobytes())
        keepers: list[Follower | Ledger[Any]] = [*self._followers.values(), *self._ledgers.values()]
        for keeper in sorted(keepers, key=lambda each: type(each).__name__):
            state.update(f"{type(keeper).__name__}={keeper.fingerprint()!r}".encode())
        return state.hexdigest()

    def ledger_digest(self) -> bytes:
        """A hash of what all ledgers hold, which may hang on the order in which pods were placed as well."""
        found = (f"{type(ledger).__name__}={ledger.fingerprint()!r}" for ledger in self._ledgers.values())
        return hashlib.sha256("\n".join(sorted(found)).encode()).digest()

    def _undo_to(self, start: int) -> None:
        """Takes back the entries of the log from `start` on, the last ones first."""
        while len(self._log) > start:
            entry = self._log.pop()
            self._apply(entry, -entry.sign)

    def _do(self, entry: Entry) -> None:
        self._log.append(entry)
        self._apply(entry, entry.sign)

    def _apply(self, entry: Entry, sign: int) -> None:
        if isinstance(entry, Change):
            self._apply_change(entry, sign)
        elif sign > 0:
            entry.ledger.restore(entry.taken)
        else:
            entry.ledger.release(entry.taken)

    def _apply_change(self, change: Change, sign: int) -> None:
        if change.takes_room and change.node != NO_NODE:
            self.table.take(change.node, self._demand(change.pod), sign)
        if change.is_terminating:
            (self._ended.add if sign > 0 else self._ended.discard)(id(change.pod))
        tells = self._tells_of(change.pod)
        for tell in tells.added if sign > 0 else tells.removed:
            tell(change.pod, change.node, is_terminating=change.is_terminating)

    def _tells_of(self, pod: Pod) -> Tells:
        """Those that `pod` concerns."""
        if pod.claim_names or pod.ephemeral_volumes:
            return self._tells_of_all
        known = self._tells_by_spec.get(id(pod.spec))
        if known is None:
            concerned = [
                each
                for kind, each in self._followers.items()
                if kind not in self._choosy or self._choosy[kind].concerns(pod.spec)
            ]
            tells = Tells([each.pod_added for each in concerned], [each.pod_removed for each in concerned])
            known = self._tells_by_spec[id(pod.spec)] = pod.spec, tells
        return known[1]

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
