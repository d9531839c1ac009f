"""The turn of one pool: its nodes in classes, whether there is anything to do, and the two phases.

Mirrors koordinator-sh/koordinator 1.8 `processOneNodePool` and `evictPodsFromSourceNodes` in
`pkg/descheduler/framework/plugins/loadaware`, gate by gate.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.strategies.low_node_load.args import LowNodeLoadArgs
from descheduler.strategies.low_node_load.detector import Detectors, DetectorSet
from descheduler.strategies.low_node_load.headroom import Aspect, Headroom, Targets, prod_load, whole_load
from descheduler.strategies.low_node_load.node_load import MeasuredNode, NodeClass, classify, measure
from descheduler.strategies.low_node_load.pools import NodePool, usage_percent
from descheduler.strategies.low_node_load.relief import PoolRelief, ReliefPhase, sort_by_load
from descheduler.strategies.node_utilization.classify import NodeLoad
from descheduler.strategies.shared.selection import Selection


class PoolStop(Enum):
    """The gate at which a pool's turn ended without any pod being looked at."""

    NONE_OVER = auto()
    NONE_ABNORMAL = auto()
    NONE_UNDER = auto()
    TOO_FEW_UNDER = auto()
    ALL_UNDER = auto()


class PoolRun:
    """One pool in one run. `stop` is None where its pods are looked at."""

    def __init__(self, pool: NodePool, nodes: Sequence[Node], args: LowNodeLoadArgs, handle: StrategyHandle) -> None:
        self.pool = pool
        self.nodes = nodes
        self.measured = measure(
            pool, nodes, handle.view, now=handle.now, expiration_seconds=args.node_metric_expiration_seconds
        )
        self.levels = {
            aspect: {load.node.name: _level(load, aspect) for load in self.measured.loads}
            for aspect in (whole_load, prod_load)
        }
        """The loads by node name as they were found, for words; those of `measured` change with what is booked."""
        self.classes = classify(self.measured.loads)
        self.high = self.classes.of(NodeClass.HIGH)
        self.prod_high = self.classes.of(NodeClass.PROD_HIGH)
        self.over_names = frozenset(_names([*self.high, *self.prod_high]))
        """The overutilized nodes, of both phases."""
        self.unmeasured_names = frozenset(node.name for node in self.measured.unmeasured)
        self.abnormal = frozenset[str]()
        """Names of the overutilized nodes that are so for long enough, of both phases."""
        self.stop: PoolStop | None = None
        self.reliefs: tuple[PoolRelief, ...] = ()
        self._args = args
        self._handle = handle

    def run(self, detectors: Detectors, selection: Selection) -> None:
        """Goes through the gates, and relieves the abnormal nodes behind the last."""
        self.stop = self._pass_gates(detectors)
        if self.stop is not None:
            return
        node_phase, prod_phase = self._phases(selection)
        self.reliefs = (node_phase, prod_phase)
        detectors.node.reset(_names(node_phase.relieved))
        detectors.prod.reset(_names(prod_phase.relieved))
        detectors.node.mark_normal(_names(self._abnormal(self.high)), self.pool.condition)
        detectors.prod.mark_normal(_names(self._abnormal(self.prod_high)), self.pool.condition)

    def _pass_gates(self, detectors: Detectors) -> PoolStop | None:
        if not self.high and not self.prod_high:
            return PoolStop.NONE_OVER
        self.abnormal = self._marked(detectors.node, self.high) | self._marked(detectors.prod, self.prod_high)
        if not self.abnormal:
            return PoolStop.NONE_ABNORMAL
        if not self.classes.num_low:
            return PoolStop.NONE_UNDER
        detectors.node.reset(_names(self.classes.of(NodeClass.LOW, NodeClass.BOTH_LOW)))
        detectors.prod.reset(_names(self.classes.of(NodeClass.PROD_LOW)))
        if self.classes.num_low <= self._args.number_of_nodes:
            return PoolStop.TOO_FEW_UNDER
        return PoolStop.ALL_UNDER if self.classes.num_low == len(self.nodes) else None

    def _marked(self, detectors: DetectorSet, loads: Sequence[MeasuredNode]) -> frozenset[str]:
        return frozenset(detectors.abnormal(_names(loads), self.pool.condition))

    def _abnormal(self, loads: Sequence[MeasuredNode]) -> list[MeasuredNode]:
        return [load for load in loads if load.node.name in self.abnormal]

    def _phases(self, selection: Selection) -> tuple[PoolRelief, PoolRelief]:
        """The node phase, then the prod phase, which has what the other leaves of the nodes that both can use."""
        low, both, prod_low = (
            self.classes.of(each) for each in (NodeClass.LOW, NodeClass.BOTH_LOW, NodeClass.PROD_LOW)
        )
        resources, weights = self.measured.resources, self.pool.weights
        for_both = Headroom.of(both, whole_load, resources)
        for_prod = Headroom.of(prod_low, prod_load, resources)
        for_both_prod = Headroom.of(both, prod_load, resources)
        sources = sort_by_load(self._abnormal(self.high), whole_load, weights)
        prod_sources = sort_by_load(self._abnormal(self.prod_high), prod_load, weights)

        phase = ReliefPhase.of_nodes(self.measured.whole)
        headroom = Headroom.of(low, whole_load, resources) + for_both
        node_phase = self._relief(phase, [*low, *both], headroom, selection)
        node_phase.run(sources, weights)

        left = for_both.at_most(node_phase.headroom)
        phase = ReliefPhase.of_prod_pods(self.measured.prod)
        prod_phase = self._relief(phase, [*prod_low, *both], for_prod + for_both_prod.at_most(left), selection)
        prod_phase.run(prod_sources, weights)
        return node_phase, prod_phase

    def _relief(
        self, phase: ReliefPhase, targets: Sequence[MeasuredNode], headroom: Headroom, selection: Selection
    ) -> PoolRelief:
        return PoolRelief(
            phase,
            Targets(targets, phase.aspect, self._handle.node_fit),
            headroom,
            self._handle.evictor,
            selection,
            fits_nodes=self._args.node_fit,
            is_dry=self._args.dry_run,
        )


def _names(loads: Sequence[MeasuredNode]) -> list[str]:
    return [load.node.name for load in loads]


def _level(load: MeasuredNode, aspect: Aspect) -> NodeLoad:
    usage = dict(aspect(load).usage)
    return NodeLoad(load.node, load.pods, usage, usage_percent(usage, load.capacity))
