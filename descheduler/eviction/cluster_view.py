"""The snapshot plus the moves booked so far: what strategies and fit checks look at within a cycle.

Limits can be a percentage of the pods that there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.undo import NOTHING_DONE, Undo, undo_all
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.selection.labels import LabelSelector
from descheduler.plan.moves import Move


class PriorMoves:
    """What earlier rounds of a run have evicted, in that order, each pod once, also those whose fate is not known.

    Every round decides over the same snapshot, in which these pods still run. Whoever counts pods, usage or evictions
    looks here for what has left already.
    """

    def __init__(self, moves: Sequence[Move] = ()) -> None:
        self._moves = {move.pod.uid: move for move in moves}

    def __iter__(self) -> Iterator[Move]:
        return iter(self._moves.values())

    def __bool__(self) -> bool:
        return bool(self._moves)

    def have_taken(self, pod: Pod) -> bool:
        """Whether `pod` has left, or may have left."""
        return pod.uid in self._moves


class NodeChange(NamedTuple):
    """A pod that came to its node (`number` 1) or left it (-1). `is_arrival` when the pod is not created yet."""

    pod: Pod
    number: int
    is_arrival: bool


class ClusterView:
    """A cluster that answers from `snapshot` and, with `moves_take_effect`, from the evictions booked on it.

    Without it the listing does not change within a cycle: an evicted pod still counts, as upstream's cache has it
    until the deletion is observed. Where the nodes of their replacements are known, these arrivals are listed with the
    pods of their node and take room there. An arrival cannot be evicted, since it is not created yet.
    `changes` lists what happened and what was taken back again, oldest first, for readers that cache; it only grows.
    `prior_moves` were made since the snapshot was taken: their pods are listed like all others until they are booked
    again, and no longer count among the pods of their owners.
    """

    def __init__(self, snapshot: Snapshot, *, moves_take_effect: bool, prior_moves: Sequence[Move] = ()) -> None:
        self.snapshot = snapshot
        self.prior_moves = PriorMoves(prior_moves)
        self.changes: list[NodeChange] = []
        self._arrived: dict[int, Pod] = {}
        """Identity of a pod that is to come → the one that it comes for, or the pending one that it is now."""
        self._moves_take_effect = moves_take_effect
        self._nodes = {node.name: node for node in snapshot.nodes}
        self._pods: dict[str, tuple[Pod, ...]] = dict(snapshot.pods_by_node)
        self._active: dict[str, tuple[Pod, ...]] = {}
        self._gone_by_owner: Counter[str] = Counter()
        self._count_as_gone((move.pod for move in self.prior_moves), 1)
        self._ready: dict[LabelSelector, tuple[Node, ...]] = {}

    @property
    def nodes(self) -> Mapping[str, Node]:
        """All nodes by name, ready or not."""
        return self._nodes

    @property
    def version(self) -> int:
        """Grows with every change of what this cluster answers."""
        return len(self.changes)

    def net_changes(self, since: int) -> Iterator[NodeChange]:
        """The changes after the first `since` without those that were taken back; each as often as it counts."""
        numbers: Counter[tuple[int, bool]] = Counter()
        pods: dict[tuple[int, bool], Pod] = {}
        for pod, number, is_arrival in self.changes[since:]:
            numbers[id(pod), is_arrival] += number
            pods[id(pod), is_arrival] = pod
        return (NodeChange(pods[key], number, key[1]) for key, number in numbers.items() if number)

    @property
    def has_arrivals(self) -> bool:
        """Whether any pod is to come."""
        return bool(self._arrived)

    def ready_nodes(self, selector: LabelSelector) -> tuple[Node, ...]:
        """The nodes that `selector` selects and that no Ready condition speaks against, in name order; those of the
        shard alone where shards divide the cluster."""
        known = self._ready.get(selector)
        if known is None:
            nodes = (node for node in self.ready_nodes_of_all_shards(selector) if self.snapshot.shard.owns(node))
            known = self._ready[selector] = tuple(nodes)
        return known

    def ready_nodes_of_all_shards(self, selector: LabelSelector) -> tuple[Node, ...]:
        """The same of the whole cluster, for those that count what other shards have."""
        return tuple(node for node in self.snapshot.nodes if node.is_ready and selector.matches(node.labels))

    def pods_on(self, node_name: str) -> tuple[Pod, ...]:
        """The pods of a node in any phase, arrivals among them, in namespace and name order."""
        return self._pods.get(node_name, ())

    def active_pods_on(self, node_name: str) -> tuple[Pod, ...]:
        """The pods of a node that have not finished; terminating ones are among them."""
        known = self._active.get(node_name)
        if known is None:
            known = self._active[node_name] = tuple(p for p in self.pods_on(node_name) if not p.is_terminal)
        return known

    def pods_of_owner(self, uid: str) -> int:
        """How many pods name the owner `uid`, in any namespace, phase or place."""
        return self.snapshot.pods_by_owner[uid] - self._gone_by_owner[uid]

    def is_arrival(self, pod: Pod) -> bool:
        """Whether `pod` is one that is to come for an evicted one: it is no candidate of anybody."""
        return id(pod) in self._arrived

    def evicted_for(self, arrival: Pod) -> Pod | None:
        """The evicted pod that `arrival` comes for, or the pending pod that it is now; None of a pod that is there."""
        return self._arrived.get(id(arrival))

    def book_eviction(self, pod: Pod, arrival: Pod | None = None) -> Undo:
        """Takes `pod` off its node and puts `arrival` on the one it is bound to, where moves take effect in the cycle.

        `arrival` is the pod that its owner creates instead; None where its node is unknown.
        """
        if not self._moves_take_effect:
            return NOTHING_DONE
        came = NOTHING_DONE if arrival is None else self._add(arrival, pod)
        return undo_all([came, self._remove(pod)])

    def book_arrival(self, pod: Pod, arrival: Pod) -> Undo:
        """Puts `arrival`, which is the pending `pod` once it is bound, on its node, where moves take effect."""
        return self._add(arrival, pod) if self._moves_take_effect else NOTHING_DONE

    def _add(self, arrival: Pod, leaving: Pod) -> Undo:
        before = self.pods_on(arrival.node_name)
        self._arrived[id(arrival)] = leaving
        pods = sorted((*before, arrival), key=lambda pod: (pod.namespace, pod.name))
        self._list(NodeChange(arrival, 1, is_arrival=True), tuple(pods))

        def undo() -> None:
            self._arrived.pop(id(arrival), None)
            self._list(NodeChange(arrival, -1, is_arrival=True), before)

        return undo

    def _remove(self, pod: Pod) -> Undo:
        before = self.pods_on(pod.node_name)
        gone = () if self.prior_moves.have_taken(pod) else (pod,)
        self._list(NodeChange(pod, -1, is_arrival=False), tuple(other for other in before if other is not pod))
        self._count_as_gone(gone, 1)

        def undo() -> None:
            self._count_as_gone(gone, -1)
            self._list(NodeChange(pod, 1, is_arrival=False), before)

        return undo

    def _list(self, change: NodeChange, pods: tuple[Pod, ...]) -> None:
        """Has `pods` be those of the node, as they are after `change`."""
        self.changes.append(change)
        self._pods[change.pod.node_name] = pods
        self._active.pop(change.pod.node_name, None)

    def _count_as_gone(self, pods: Iterable[Pod], number: int) -> None:
        for pod in pods:
            for uid in {owner.uid for owner in pod.owners}:
                self._gone_by_owner[uid] += number


class ClusterCounts(msgspec.Struct, frozen=True):
    """Pods that have not finished: in the cluster, by the node that they are bound to, and by namespace."""

    total: int = 0
    by_node: Mapping[str, int] = msgspec.field(default_factory=dict)
    by_namespace: Mapping[str, int] = msgspec.field(default_factory=dict)


NO_PODS = ClusterCounts()


def count_pods(snapshot: Snapshot) -> ClusterCounts:
    """The pods of `snapshot` that are neither Succeeded nor Failed, whether they can be evicted or not."""
    pods = [pod for pod in snapshot.pods if not pod.is_terminal]
    return ClusterCounts(
        total=len(pods),
        by_node=Counter(pod.node_name for pod in pods if pod.node_name),
        by_namespace=Counter(pod.namespace for pod in pods),
    )


def pods_for(limits: Iterable[int | str | None], snapshot: Snapshot) -> ClusterCounts:
    """The counts that `limits` need: none where all of them are numbers."""
    return count_pods(snapshot) if any(isinstance(limit, str) for limit in limits) else NO_PODS
