"""Taking pods off source nodes while the destinations have room for them.

Mirrors kubernetes-sigs/descheduler 0.36 `evictPodsFromSourceNodes` and `evictPods` in
`pkg/framework/plugins/nodeutilization/nodeutilization.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import msgspec

from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.model.pod import Pod
from descheduler.model.selection.taints import PREFER_NO_SCHEDULE, Taint, Tolerance, Toleration
from descheduler.model.verdict import ACCEPTED, EvictionLimit, LimitReached, Reason, Verdict, limit_reached, refuse
from descheduler.strategies.node_utilization.classify import NodeLoad
from descheduler.strategies.node_utilization.usage import UsageSource
from descheduler.strategies.shared.pods import sort_low_to_high

RemovalOrder: TypeAlias = Callable[[Sequence[Pod]], list[Pod]]
"""Sorts the pods of a node, first the one to leave first."""


class Relief(msgspec.Struct, frozen=True):
    """What one source node is relieved of, and why.

    With `ceilings` the node is done once it uses no more than that of any resource; without, it may be emptied. `order`
    sorts the pods that may leave.
    """

    load: NodeLoad
    sentence: str
    ceilings: Mapping[str, int] | None = None
    order: RemovalOrder = sort_low_to_high

    def is_needed(self, usage: Mapping[str, int]) -> bool:
        """Whether the node, now at `usage`, should give away more."""
        return self.ceilings is None or any(usage[resource] > limit for resource, limit in self.ceilings.items())


class Destinations:
    """The nodes that are to take the pods, as one heap of free resources, and the taints that pods meet there."""

    def __init__(self, loads: Sequence[NodeLoad], free: Mapping[str, int], *, counts_tolerations: bool) -> None:
        self._free = dict(free)
        self._counts_tolerations = counts_tolerations
        self._taint_sets = list(dict.fromkeys(self._deciding(load.node.taints) for load in loads))
        self._tolerable: dict[tuple[Toleration, ...], bool] = {}

    @property
    def have_room(self) -> bool:
        """Whether something of every resource is left."""
        return all(nano > 0 for nano in self._free.values())

    @property
    def short_of(self) -> list[str]:
        """The resources of which nothing is left."""
        return [resource for resource, nano in self._free.items() if nano <= 0]

    def take(self, usage: Mapping[str, int]) -> None:
        """Books the arrival of a pod that uses this."""
        for resource in self._free:
            self._free[resource] -= usage[resource]

    def are_open_to(self, tolerations: tuple[Toleration, ...]) -> bool:
        """Whether a pod with these tolerations is let onto one of the nodes."""
        known = self._tolerable.get(tolerations)
        if known is None:
            tolerance = Tolerance(tolerations)
            known = self._tolerable[tolerations] = any(
                # Upstream refuses a pod with fewer tolerations than the node has taints, even if one covers them all.
                not (self._counts_tolerations and len(tolerations) < len(taints)) and tolerance.tolerates_all(taints)
                for taints in self._taint_sets
            )
        return known

    def _deciding(self, taints: tuple[Taint, ...]) -> tuple[Taint, ...]:
        """The taints that keep pods off; upstream counts mere preferences among them."""
        if self._counts_tolerations:
            return taints
        return tuple(taint for taint in taints if taint.effect != PREFER_NO_SCHEDULE)


class NodeLimit(NamedTuple):
    """The most evictions of one node: a number, or a percentage of the node's pods in `num_pods`."""

    most: int | str
    num_pods: Mapping[str, int]

    def of(self, node: str) -> LimitReached:
        """The limit of a node."""
        return LimitReached.of(EvictionLimit.PLUGIN_NODE, self.most, node, num_pods=self.num_pods.get(node, 0))


class NodeRelief:
    """Evicts pods from source nodes for one plugin run.

    `node_limit` bounds the evictions per node. Pods of `spared_namespaces` stay, `may_leave` says which other pods are
    worth moving, and `check` is asked before each eviction. Pods whose usage is not known leave only with
    `evicts_unmeasured`, and change no figure then.
    """

    def __init__(
        self,
        evictor: PluginEvictor,
        source: UsageSource,
        destinations: Destinations,
        *,
        node_limit: NodeLimit | None = None,
        spared_namespaces: frozenset[str] = frozenset(),
        may_leave: Callable[[Pod], bool] = lambda _: True,
        check: Callable[[Pod], Verdict] = lambda _: ACCEPTED,
        evicts_unmeasured: bool = False,
    ) -> None:
        self._evictor = evictor
        self._source = source
        self._destinations = destinations
        self._node_limit = node_limit
        self._spared_namespaces = spared_namespaces
        self._may_leave = may_leave
        self._check = check
        self._evicts_unmeasured = evicts_unmeasured
        self.num_selected = 0
        """How many pods of the source nodes it has come to before they were relieved; each was evicted or refused."""

    def why_nothing(self, destinations: str) -> str:
        """Why no pod was selected, as the end of a sentence; `destinations` is what the other nodes are called."""
        if short := self._destinations.short_of:
            return f"but the {destinations} nodes have no room for more: {', '.join(sorted(short))}"
        return "but no pod there can be moved"

    def why_no_more(self, destinations: str) -> str:
        """Why no further pod was selected, as the end of a sentence."""
        if short := self._destinations.short_of:
            return f"but the {destinations} nodes have no room left: {', '.join(sorted(short))}"
        return "and other pods are selected"

    def charge_departed(self, loads: Iterable[NodeLoad]) -> None:
        """Books at the destinations the arrival of what earlier rounds have evicted from the nodes of `loads`."""
        for load in loads:
            for pod in load.departed:
                pod_usage = self._source.of_pod(pod)
                if pod_usage is not None:
                    self._destinations.take(pod_usage)

    def run(self, reliefs: Sequence[Relief]) -> None:
        """Relieves the nodes in order, the least important pods first, until the run's eviction limit is reached."""
        for relief in reliefs:
            usage = self._usage_left(relief.load)
            if usage is not None and self._goes_on(relief, usage) and not self._relieve(relief, usage):
                return

    def _usage_left(self, load: NodeLoad) -> dict[str, int] | None:
        """What the node uses without the pods that have departed; None when that is unknown and they must be enough."""
        usage = dict(load.usage)
        for pod in load.departed:
            pod_usage = self._source.of_pod(pod)
            if pod_usage is not None:
                _subtract(usage, pod_usage)
            elif self._source.measures_pods or self._node_limit is None:
                return None
        return usage

    def _goes_on(self, relief: Relief, usage: Mapping[str, int]) -> bool:
        return relief.is_needed(usage) and self._destinations.have_room

    def _relieve(self, relief: Relief, usage: dict[str, int]) -> bool:
        """Evicts from one node that is at `usage`, which it keeps up to date; returns whether to go on after it."""
        num_evicted = self._evictor.num_taken_before(relief.load.node.name) if relief.load.departed else 0
        limit = None if self._node_limit is None else self._node_limit.of(relief.load.node.name)
        for pod in self._removable(relief):
            self.num_selected += 1
            if limit is not None and num_evicted >= limit.value:
                self._evictor.keep(pod, limit_reached(limit), relief.sentence)
                return True
            if not self._can_go(pod, relief.sentence):
                continue
            pod_usage = self._source.of_pod(pod)
            if pod_usage is None and self._source.measures_pods and not self._evicts_unmeasured:
                verdict = refuse(Reason.USAGE_UNKNOWN, "metrics are missing for a container of the pod", pod.key)
                self._evictor.keep(pod, verdict, relief.sentence)
                continue
            verdict = self._evictor.request(pod, relief.sentence)
            if verdict.limit in (EvictionLimit.NODE, EvictionLimit.TOTAL):
                return verdict.limit is EvictionLimit.NODE
            if not verdict.is_accepted:
                continue
            num_evicted += 1
            if pod_usage is None:
                if self._node_limit is None and not self._evicts_unmeasured:
                    # Nobody can tell how much this pod relieved the node of, so the next run has to look again.
                    return True
                continue
            _subtract(usage, pod_usage)
            self._destinations.take(pod_usage)
            if not self._goes_on(relief, usage):
                return True
        return True

    def _removable(self, relief: Relief) -> list[Pod]:
        selected = [pod for pod in relief.load.pods if self._may_leave(pod)]
        removable = [pod for pod in selected if self._evictor.admits(pod, relief.sentence)]
        self.num_selected += len(selected) - len(removable)
        return relief.order(removable)

    def _can_go(self, pod: Pod, sentence: str) -> bool:
        if not self._destinations.are_open_to(pod.spec.tolerations):
            message = "the pod tolerates the taints of no destination node"
            self._evictor.keep(pod, refuse(Reason.NO_DESTINATION, message), sentence)
            return False
        if pod.namespace in self._spared_namespaces:
            message = f"namespace {pod.namespace} is excluded (evictableNamespaces.exclude)"
            self._evictor.keep(pod, refuse(Reason.NAMESPACE, message, pod.namespace), sentence)
            return False
        verdict = self._check(pod)
        if not verdict.is_accepted:
            self._evictor.keep(pod, verdict, sentence)
            return False
        return self._evictor.admits_now(pod, sentence)


def _subtract(usage: dict[str, int], pod_usage: Mapping[str, int]) -> None:
    for resource in usage:
        usage[resource] -= pod_usage[resource]
