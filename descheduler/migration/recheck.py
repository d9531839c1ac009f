"""Whether planned moves still hold: their footprint in the plan is compared with the cluster as it is now.

The footprint is the pod (owner, labels), the node that it leaves (what had it leave: cordon and taints) and the node of
its replacement (whether that may run there and has room). A Reservation is a proof for pods of its own scheduler; what
others have placed on its node since shows in the pods that are there. A wave of moves is rechecked at once: one call
for each node that it touches, and one list of the pods of each node that is looked at for room. With room held there is
one of these a move, else `MOST_LOOKED_AT` at most, and as long as all of them are closed `MOST_EXCHANGED` more.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

import msgspec
from msgspec.structs import replace

from descheduler.cluster.decoding.decode import Decoding, node_decoder
from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.node_fit import NodeFit
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.pods import decode_pod
from descheduler.migration.room.labels import placeholder_name_of
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.planned import DueMove

MOST_LOOKED_AT = 5
"""Nodes that had room in the plan and are looked at for a move without a known target."""
MOST_EXCHANGED = 20
"""Nodes on which other replacements were expected, and that are looked at as well: one of those has come here."""


class _FreshNodes:
    """What is read for one wave: a list of the one node, for which the right to list nodes does, and one of its pods.

    `arriving` are pods that are on their way to the nodes of these names, and not listed there yet: where a pod that is
    not `known` by its UID has come of the same owner, that is the one. What is `leaving` takes no room. Raises
    ExchangeError.
    """

    def __init__(
        self,
        objects: ObjectCalls,
        arriving: Mapping[str, Sequence[Pod]],
        leaving: Container[str],
        known: Container[str],
    ) -> None:
        self._objects = objects
        self._nodes: dict[str, Node | None] = {}
        self._pods: dict[str, list[Pod]] = {}
        self._arriving = arriving
        self._leaving = leaving
        self._known = known
        self._newcomers = Counter[str]()
        """How many pods of each controller have come since the plan, on the nodes that were read."""

    def node(self, name: str) -> Node | None:
        """The node, None when it is gone."""
        if name not in self._nodes:
            decode = node_decoder(Decoding())
            found = self._objects.list("/api/v1/nodes", decode, field_selector=f"metadata.name={name}")
            self._nodes[name] = next(iter(found), None)
        return self._nodes[name]

    def obstacle(self, pod: Pod, name: str, *, job_uid: str = "", without: Container[str] = ()) -> str | None:
        """What keeps a successor of `pod` off the node now, None for nothing.

        A placeholder that holds room for the job of this UID makes way for it; pods of UIDs in `without` count as gone.
        """
        node = self.node(name)
        if node is None:
            return "node does not exist any more"
        if not node.is_ready:
            return "node is not ready"
        placeholder = (pod.namespace, placeholder_name_of(job_uid)) if job_uid else None
        pods = tuple(
            other
            for other in self._pods_on(name)
            if (other.namespace, other.name) != placeholder and other.uid not in without
        )
        view = ClusterView(Snapshot(nodes=(node,), pods=pods), moves_take_effect=True)
        return NodeFit(view, spares_namesakes=False).obstacle(pod, node)

    def take(self, pod: Pod, name: str) -> None:
        """From now on the successor of `pod` takes room on the node."""
        self._pods_on(name).append(pod)

    def _pods_on(self, name: str) -> list[Pod]:
        if name not in self._pods:
            listed = self._objects.list("/api/v1/pods", decode_pod, field_selector=f"spec.nodeName={name}")
            self._newcomers.update(_owner(pod) for pod in listed if pod.uid not in self._known)
            arriving = [pod for pod in self._arriving.get(name, ()) if not self._has_come(pod)]
            self._pods[name] = [pod for pod in (*listed, *arriving) if pod.uid not in self._leaving]
        return self._pods[name]

    def _has_come(self, pod: Pod) -> bool:
        """Whether one of the newcomers is `pod`, which is none for another then."""
        owner = _owner(pod)
        if not owner or not self._newcomers[owner]:
            return False
        self._newcomers[owner] -= 1
        return True


class Rechecked(msgspec.Struct, frozen=True):
    """What is found of a wave: UID of each pod whose move no longer holds → why, in a sentence.

    Those that are `waiting` may have room once others of the wave leave.
    """

    objections: Mapping[str, str] = {}
    waiting: frozenset[str] = frozenset()


class Footprints:
    """Rechecks the waves of one run, whose plan was made over `snapshot`. One wave at a time, on whatever thread.

    With `leaving_make_room` the plan may count on the room of pods that leave before in the same wave.
    """

    def __init__(self, objects: ObjectCalls, snapshot: Snapshot, *, leaving_make_room: bool = False) -> None:
        self._objects = objects
        self._snapshot = snapshot
        self._leaving_make_room = leaving_make_room
        self._fit: NodeFit | None = None
        self._arriving: dict[str, tuple[str, Pod]] = {}
        """UID of a pod that may leave → the node that has room for its successor, and that successor."""
        self._expected: dict[str, None] = {}
        """The nodes on which the replacements of the moves rechecked so far were expected, the latest last."""
        self._mates: set[str] = set()
        """UIDs of pods that leave before the one that is looked at, unless their evictions are refused."""

    @cached_property
    def _planned_nodes(self) -> Mapping[str, Node]:
        return {node.name: node for node in self._snapshot.nodes}

    @cached_property
    def _planned_pods(self) -> Mapping[str, Pod]:
        return {pod.uid: pod for pod in self._snapshot.pods}

    def recheck(self, wave: Sequence[DueMove], under_way: Collection[str], granted: Collection[str] = ()) -> Rechecked:
        """What is found of `wave`. Raises ExchangeError.

        `under_way` are the UIDs of pods that may leave, and whose successors may not be listed yet. Those `granted`
        leave for certain, and take no room.
        """
        self._arriving = {uid: found for uid, found in self._arriving.items() if uid in under_way}
        arriving: dict[str, list[Pod]] = defaultdict(list)
        for name, pod in self._arriving.values():
            arriving[name].append(pod)
        self._mates = set(under_way).difference(granted) if self._leaving_make_room else set[str]()
        nodes = _FreshNodes(self._objects, arriving, set(granted), self._planned_pods)
        objections, waiting = dict[str, str](), set[str]()
        for asked in wave:
            why = self._objection(asked, nodes)
            self._expect(asked)
            if why is None:
                waiting.add(asked.eviction.uid)
            elif why:
                objections[asked.eviction.uid] = why
            if not why and self._leaving_make_room:
                self._mates.add(asked.eviction.uid)
        return Rechecked(objections, frozenset(waiting))

    def _objection(self, asked: DueMove, nodes: _FreshNodes) -> str | None:
        """Why the move does not hold, "" where it does; None where that depends on mates."""
        why = self._pod_has_changed(asked) or self._source_has_changed(asked, nodes)
        return why if why or asked.has_landed else self._no_room(asked, nodes)

    def _pod_has_changed(self, asked: DueMove) -> str:
        planned, pod = self._planned_pods.get(asked.eviction.uid), asked.pod
        if planned is None:
            return ""
        if pod.labels != planned.labels:
            return f"the labels of pod {pod.key} have changed since the plan"
        if _owner(pod) != _owner(planned):
            return f"pod {pod.key} has another owner since the plan"
        return ""

    def _source_has_changed(self, asked: DueMove, nodes: _FreshNodes) -> str:
        """What had the pod leave may be over; what keeps more pods away from the node than before is none of that."""
        planned = self._planned_nodes.get(asked.eviction.node)
        if planned is None:
            return ""
        node = nodes.node(planned.name)
        if node is None:
            return f"node {planned.name}, which the pod was to leave, does not exist any more"
        if planned.unschedulable and not node.unschedulable:
            return f"node {node.name}, which the pod was to leave, is not cordoned any more"
        for taint in planned.taints:
            if taint not in node.taints and not taint.key.startswith("node.kubernetes.io/"):
                return f"node {node.name}, which the pod was to leave, has lost the taint {taint.key}"
        return ""

    def _no_room(self, asked: DueMove, nodes: _FreshNodes) -> str | None:
        """What closes every node that comes into question; "" where one is left, or none is known.

        None where mates have to leave first.
        """
        if asked.room_node:
            why = nodes.obstacle(_successor(asked.pod), asked.room_node, job_uid=asked.job_uid)
            return "" if why is None else f"node {asked.room_node}, where room is held: {why}"
        first = ""
        for name in self._candidates(asked):
            successor = asked.pod if name == asked.pod.node_name else _successor(asked.pod)
            why = nodes.obstacle(successor, name)
            if why is None:
                if name != asked.pod.node_name:
                    nodes.take(_successor(asked.pod, name), name)
                    self._arriving[asked.eviction.uid] = name, _successor(asked.pod, name)
                return ""
            if self._mates and nodes.obstacle(successor, name, without=self._mates) is None:
                return None
            first = first or f"node {name}: {why}"
        return f"no node that fitted the pod in the plan fits it now; {first}" if first else ""

    def _expect(self, asked: DueMove) -> None:
        """Takes note of where the replacement is expected."""
        if asked.eviction.landing is not None and asked.eviction.landing.node:
            self._expected.pop(asked.eviction.landing.node, None)
            self._expected[asked.eviction.landing.node] = None

    def _candidates(self, asked: DueMove) -> Iterator[str]:
        """The nodes to look at, the most promising first."""
        eviction = asked.eviction
        landing = eviction.landing
        names = []
        if landing is not None and landing.node:
            names.append(landing.node)
        elif eviction.node in self._planned_nodes:
            names.append(eviction.node)
        yield from names
        if eviction.node in self._planned_nodes:
            others = (name for name in self._fitting(asked.pod) if name not in names and name != eviction.node)
            looked_at = [*names, *islice(others, MOST_LOOKED_AT - len(names))]
            yield from looked_at[len(names) :]
            exchanged = (name for name in reversed(self._expected) if name not in looked_at and name != eviction.node)
            yield from islice(exchanged, MOST_EXCHANGED)

    def _fitting(self, pod: Pod) -> Iterator[str]:
        """The other nodes that the pod fits on in the plan's snapshot, those with the fewest pods first."""
        if self._fit is None:
            self._fit = NodeFit(ClusterView(self._snapshot, moves_take_effect=True), spares_namesakes=False)
        for node in sorted(self._snapshot.nodes, key=self._num_pods):
            if node.is_ready and self._fit.obstacle(_successor(pod), node) is None:
                yield node.name

    def _num_pods(self, node: Node) -> int:
        by_node: Mapping[str, Sequence[Pod]] = self._snapshot.pods_by_node
        return len(by_node.get(node.name, ()))


def _owner(pod: Pod) -> str:
    return "" if pod.controller is None else pod.controller.uid


def _successor(pod: Pod, node: str = "") -> Pod:
    """A pod like `pod`, which has nothing to do with it."""
    return replace(pod, name=f"{pod.name}-", uid=f"{pod.uid}-", node_name=node)
