"""The snapshot plus the moves booked so far: what strategies and fit checks look at within a cycle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.labels import LabelSelector
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.prior_moves import PriorMove, PriorMoves

__all__ = ["ClusterView"]


class ClusterView:
    """A cluster that answers from `snapshot` and, with `moves_take_effect`, from the evictions booked on it.

    Without it the listing does not change within a cycle: an evicted pod still counts, as upstream's cache has it
    until the deletion is observed. `booked` lists the evictions that took effect, and `arrivals` the pods that are to
    come for them where somebody knows their node, both oldest first, for readers that cache. Arrivals are listed with
    the pods of their node and take room there, but nobody can evict what is not created yet. `prior_moves` were made
    since the snapshot was taken: their pods are listed like all others until they are booked again, and no longer
    count among the pods of their owners.
    """

    def __init__(self, snapshot: Snapshot, *, moves_take_effect: bool, prior_moves: Sequence[PriorMove] = ()) -> None:
        self.snapshot = snapshot
        self.prior_moves = PriorMoves(prior_moves)
        self.booked: list[Pod] = []
        self.arrivals: list[Pod] = []
        self._arrived: set[int] = set()
        self._moves_take_effect = moves_take_effect
        self._nodes = {node.name: node for node in snapshot.nodes}
        self._pods: dict[str, tuple[Pod, ...]] = dict(snapshot.pods_by_node)
        self._active: dict[str, tuple[Pod, ...]] = {}
        self._gone_by_owner: Counter[str] = Counter()
        for move in self.prior_moves:
            self._count_as_gone(move.pod)
        self._ready: dict[LabelSelector, tuple[Node, ...]] = {}

    @property
    def nodes(self) -> Mapping[str, Node]:
        """All nodes by name, ready or not."""
        return self._nodes

    @property
    def version(self) -> int:
        """Grows with every change of what this cluster answers."""
        return len(self.booked) + len(self.arrivals)

    def ready_nodes(self, selector: LabelSelector) -> tuple[Node, ...]:
        """The nodes that `selector` selects and that no Ready condition speaks against, in name order."""
        known = self._ready.get(selector)
        if known is None:
            nodes = (node for node in self.snapshot.nodes if node.is_ready and selector.matches(node.labels))
            known = self._ready[selector] = tuple(nodes)
        return known

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

    def book_eviction(self, pod: Pod, arrival: Pod | None = None) -> None:
        """Takes `pod` off its node and puts `arrival` on the one it is bound to, where moves take effect in the cycle.

        `arrival` is the pod that its owner creates instead; None where nobody can tell which node takes it.
        """
        if not self._moves_take_effect:
            return
        if arrival is not None:
            self._add(arrival)
        self.booked.append(pod)
        self._pods[pod.node_name] = tuple(p for p in self.pods_on(pod.node_name) if p is not pod)
        self._active.pop(pod.node_name, None)
        if not self.prior_moves.have_taken(pod):
            self._count_as_gone(pod)

    def _add(self, arrival: Pod) -> None:
        self.arrivals.append(arrival)
        self._arrived.add(id(arrival))
        pods = (*self.pods_on(arrival.node_name), arrival)
        self._pods[arrival.node_name] = tuple(sorted(pods, key=lambda pod: (pod.namespace, pod.name)))
        self._active.pop(arrival.node_name, None)

    def _count_as_gone(self, pod: Pod) -> None:
        self._gone_by_owner.update({owner.uid for owner in pod.owners})
