"""LowNodeLoad: evicts pods from nodes whose measured usage is too high, as long as others have room."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.koordinator.node_reports import NODE_METRIC_KIND, RAW_ALLOCATABLE_ANNOTATION
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.facts import PluginFacts
from descheduler.policy.plugin import Needs
from descheduler.strategies.low_node_load.args import LowNodeLoadArgs
from descheduler.strategies.low_node_load.detector import Detectors
from descheduler.strategies.low_node_load.findings import Findings
from descheduler.strategies.low_node_load.pool_run import PoolRun
from descheduler.strategies.low_node_load.pools import pools_of
from descheduler.strategies.shared.koordinator import PAUSED
from descheduler.strategies.shared.pod_filter import evictable_pods
from descheduler.strategies.shared.selection import Selection


def needs(_args: LowNodeLoadArgs) -> Needs:
    """NodeMetrics, and what nodes say of amplified resources."""
    return Needs(frozenset((NODE_METRIC_KIND,)), annotations=frozenset((RAW_ALLOCATABLE_ANNOTATION,)))


class LowNodeLoad:
    """Mirrors koordinator-sh/koordinator 1.8 `pkg/descheduler/framework/plugins/loadaware/low_node_load.go`.

    What has to outlive a batch job, for how many runs nodes were overutilized, is kept in the memory of the run.
    """

    def __init__(self, args: LowNodeLoadArgs, handle: StrategyHandle) -> None:
        self._args = args
        self._handle = handle
        self._detectors = self._remembered()
        self._findings = Findings((), {}, args, handle, Selection(), self._detectors)

    def balance(self, nodes: Sequence[Node]) -> None:
        """Relieves pool after pool.

        A node above a high threshold is overutilized; once it was so for long enough, its pods leave it from the least
        important to the most important one until it is below, as long as the underutilized nodes of the pool have room
        below their own high thresholds. Then the same for the usage of prod pods alone, of which only prod pods leave.
        """
        args = self._args
        self._detectors = self._remembered()
        selection = Selection(
            evictable_pods(args.evictable_namespaces, [entry.selector for entry in args.pod_selectors])
        )
        view, runs = self._handle.view, []
        num_pods = {
            node.name: sum(not view.is_arrival(pod) for pod in view.active_pods_on(node.name)) for node in nodes
        }
        relieved = frozenset[str]()
        for pool in () if args.paused else pools_of(args):
            members = pool.members(nodes, relieved)
            if not members:
                continue
            run = PoolRun(pool, members, args, self._handle)
            run.run(self._detectors, selection)
            runs.append(run)
            if run.stop is None:
                relieved |= {load.node.name for load in run.high}
        self._findings = Findings(runs, num_pods, args, self._handle, selection, self._detectors)

    def note(self) -> bytes:
        """The detectors, for the next run."""
        return self._detectors.note()

    def facts(self) -> PluginFacts:
        """How many nodes are in which class, how near they are to the thresholds, and what left pods out."""
        if self._args.paused:
            return PluginFacts(why_nothing=PAUSED, pods_examined=0, pods_selected=0)
        return self._findings.facts()

    def why_not(self, pod: Pod) -> str:
        """Why the node of `pod` is not relieved, or not of this pod."""
        return PAUSED if self._args.paused else self._findings.why_not(pod)

    def selects_again(self, pod: Pod, arrival: Pod, after: ClusterView) -> str:
        """Nothing: room below the high thresholds of underutilized nodes is what bounds the plugin, run after run."""
        return ""

    def _remembered(self) -> Detectors:
        handle = self._handle
        timeout = self._args.detector_cache_timeout or timedelta(0)
        return Detectors(handle.memory, handle.now, timeout, handle.policy.descheduling_interval)
