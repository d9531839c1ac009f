"""Taking pods off the abnormal nodes of a pool, in one of two phases: for the load of nodes, or of their prod pods.

Mirrors koordinator-sh/koordinator 1.8 `balancePods` and `evictPods` in
`pkg/descheduler/framework/plugins/loadaware/utilization_util.go`; the order of nodes and of the pods of one node
that of `pkg/descheduler/utils/sorter`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf

import msgspec

from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.model.koordinator.classes import importance
from descheduler.model.pod import Pod
from descheduler.model.quantity import NANO
from descheduler.model.requests import PODS, ResourceList, ceil_amount
from descheduler.model.verdict import Reason, refuse
from descheduler.strategies.low_node_load.headroom import Aspect, Headroom, Targets, prod_load, whole_load
from descheduler.strategies.low_node_load.node_load import Load, MeasuredNode
from descheduler.strategies.low_node_load.pools import LoadThresholds, usage_percent
from descheduler.strategies.shared.selection import Selection

_DRY_RUN = refuse(Reason.DRY_RUN, "LowNodeLoad evicts nothing (dryRun: true)")
_UNMEASURED = refuse(Reason.USAGE_UNKNOWN, "the NodeMetric of the node has no usage of the pod (nodeFit: true)")
_NO_FIT = refuse(
    Reason.NO_NODE_FITS, "no underutilized node fits the pod and stays below its high thresholds (nodeFit: true)"
)


class ReliefPhase(msgspec.Struct, frozen=True):
    """What a phase is about: a load of nodes, under `thresholds`, which `noun` names in reasons."""

    noun: str
    aspect: Aspect
    thresholds: LoadThresholds

    @classmethod
    def of_nodes(cls, thresholds: LoadThresholds) -> ReliefPhase:
        """The phase about the load of nodes."""
        return cls("node", whole_load, thresholds)

    @classmethod
    def of_prod_pods(cls, thresholds: LoadThresholds) -> ReliefPhase:
        """The phase about the load of prod pods, which alone leave."""
        return cls("prod", prod_load, thresholds)

    @property
    def is_of_prod_pods(self) -> bool:
        """Whether only prod pods leave."""
        return self.noun == "prod"

    def pods(self, load: MeasuredNode) -> Sequence[Pod]:
        """The pods of a node that can leave it."""
        return load.prod_pods if self.is_of_prod_pods else load.pods

    def reason(self, load: MeasuredNode) -> str:
        """Why pods leave a node, in the words of Koordinator."""
        side = self.aspect(load)
        percent, over = usage_percent(side.usage, load.capacity), set(side.over)
        parts = (
            f"{self.noun} {name} usage({percent.get(name, 0.0):.2f}%)>threshold({limit:.2f}%)"
            for name, limit in sorted(self.thresholds.high.items())
            if name in over
        )
        return f"node is overutilized, {', '.join(parts)}"


class PoolRelief:
    """Evicts pods of abnormal nodes onto `targets` as long as these have `headroom`."""

    def __init__(
        self,
        phase: ReliefPhase,
        targets: Targets,
        headroom: Headroom,
        evictor: PluginEvictor,
        selection: Selection,
        *,
        fits_nodes: bool,
        is_dry: bool,
    ) -> None:
        self._phase = phase
        self._targets = targets
        self.headroom = headroom
        self._evictor = evictor
        self._selection = selection
        self._fits_nodes = fits_nodes
        self._is_dry = is_dry
        self.relieved: list[MeasuredNode] = []
        """Nodes that are no longer overutilized after the pods that left."""
        self.num_sources = 0
        """Nodes that it was asked to relieve."""
        self.num_not_needed = 0
        """Pods that could have left, and need not or find no room."""

    @property
    def has_targets(self) -> bool:
        """Whether there is any node that can take pods."""
        return len(self._targets) > 0

    def run(self, sources: Sequence[MeasuredNode], weights: Mapping[str, int]) -> None:
        """Relieves the nodes in order; without targets nothing is done."""
        self.num_sources = len(sources)
        if not self.has_targets:
            return
        for load in sources:
            candidates = list(self._candidates(load))
            self._relieve(load, _removal_order(candidates, load, self._phase.aspect, weights))

    def _candidates(self, load: MeasuredNode) -> Iterator[Pod]:
        """The pods that can leave a node: those that the filters accept and that fit a target."""
        reason = self._phase.reason(load)
        for pod in self._selection.of(self._phase.pods(load)):
            if self._evictor.admits(pod, reason) and self._fits(pod, load.usage_of(pod), reason):
                yield pod

    def _fits(self, pod: Pod, usage: ResourceList | None, reason: str) -> bool:
        if not self._fits_nodes:
            return True
        if usage is not None and self._targets.fit(pod, usage):
            return True
        self._evictor.keep(pod, _UNMEASURED if usage is None else _NO_FIT, reason)
        return False

    def _relieve(self, load: MeasuredNode, pods: Sequence[Pod]) -> None:
        side = self._phase.aspect(load)
        for index, pod in enumerate(pods):
            if not side.is_over:
                self.relieved.append(load)
            if not side.is_over or self.headroom.short_of:
                self.num_not_needed += len(pods) - index
                return
            if self._is_gone(pod, self._phase.reason(load)):
                self._book(load, load.usage_of(pod))

    def _is_gone(self, pod: Pod, reason: str) -> bool:
        """Asks for the eviction; whether what the pod uses counts as moved."""
        if not self._evictor.admits(pod, reason):
            return False
        if self._is_dry:
            self._evictor.keep(pod, _DRY_RUN, reason)
            return True
        return self._evictor.request(pod, reason).is_accepted

    def _book(self, load: MeasuredNode, usage: ResourceList | None) -> None:
        """Moves what a pod uses from its node to the targets; nothing of one that was not measured."""
        if usage is None:
            return
        self.headroom.take(usage)
        _subtract(load.whole, usage, self.headroom.left)
        if self._phase.is_of_prod_pods:
            _subtract(load.prod, usage, self.headroom.left)


def _subtract(side: Load, usage: ResourceList, resources: Mapping[str, int]) -> None:
    for name in resources:
        side.usage[name] -= NANO if name == PODS else usage.get(name, 0)


_FULL = 1000


def sort_by_load(loads: Iterable[MeasuredNode], aspect: Aspect, weights: Mapping[str, int]) -> list[MeasuredNode]:
    """The nodes from the most to the least loaded by weighted share of their capacity; ties by name."""
    by_name = sorted(loads, key=lambda load: load.node.name)
    return sorted(by_name, key=lambda load: -_share(aspect(load).usage, load.capacity, weights))


def _removal_order(pods: Iterable[Pod], load: MeasuredNode, aspect: Aspect, weights: Mapping[str, int]) -> list[Pod]:
    """The pods from the one to go first: by importance, then those whose usage is next to what the node has too much.

    Above all the smallest pod that covers it alone, then the largest that does not. Pods whose usage is not known come
    last among equals.
    """
    side = aspect(load)
    excess = {name: side.usage[name] - side.high[name] for name in side.over}
    used_weights = {name: weights.get(name, 0) for name in excess}
    return sorted(
        pods, key=lambda pod: importance(pod, lambda each: -_closeness(load.usage_of(each), excess, used_weights))
    )


def _share(usage: ResourceList, capacity: ResourceList, weights: Mapping[str, int]) -> int:
    """The weighted mean of the shares in use, in thousandths."""
    total = sum(weights.get(name, 0) for name in usage)
    if not total:
        return 0
    shares = {
        name: _thousandths(ceil_amount(name, nano), ceil_amount(name, capacity.get(name, 0)))
        for name, nano in usage.items()
    }
    return sum(share * weights.get(name, 0) for name, share in shares.items()) // total


def _thousandths(used: int, capacity: int) -> int:
    return min(used, capacity) * _FULL // capacity if capacity else 0


def _closeness(usage: ResourceList | None, excess: Mapping[str, int], weights: Mapping[str, int]) -> float:
    """The weighted mean over the exceeded resources; minus infinity for unknown usage."""
    if usage is None:
        return -inf
    total = sum(weights.get(name, 0) for name in usage)
    if not total:
        return 0.0
    scores = {
        name: _cover(ceil_amount(name, nano), ceil_amount(name, excess.get(name, 0))) for name, nano in usage.items()
    }
    return sum(score * weights.get(name, 0) for name, score in scores.items()) / total


def _cover(used: int, excess: int) -> float:
    """How well `used` covers `excess`: best when it is the same, better above than below."""
    if not excess:
        return 0.0
    ratio = used / excess
    return 1 / ratio + 1 if ratio >= 1 else ratio
