"""TaintToleration (kube-scheduler 1.36): a pod tolerates each `NoSchedule` and `NoExecute` taint of its node.

The score prefers nodes with fewer untolerated `PreferNoSchedule` taints.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from descheduler.model.node import Node
from descheduler.model.selection.taints import PREFER_NO_SCHEDULE, Taint, Tolerance, Toleration
from descheduler.placement.configuration.kube_scheduler.plugin_args import ByDefault
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import PASS, PreFilterResult, ReasonBits, Scores
from descheduler.placement.framework.obstacle import Code, Obstacle, ObstacleReason
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin, own_node
from descheduler.placement.plugins.helper.scores import NormalizedScores
from descheduler.placement.shadow.node_masks import BoolMask, TaintSets, hard_taints
from descheduler.placement.shadow.placement_class import PlacementClass, honoured_tolerations
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster


class _TaintReason(ObstacleReason):
    """Why a tainted node takes no pod."""

    UNTOLERATED = 1, "node(s) had untolerated taint(s)", "untolerated taint"


class TaintToleration:
    """The filter; how long a toleration lasts plays no part in it."""

    name = "TaintToleration"
    is_static = True

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._masks = cluster.table.masks
        self._version = cluster.version
        self._against: dict[tuple[Toleration, ...], ReasonBits | None] = {}

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        return PASS

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """The nodes with a taint that keeps the pod away."""
        tolerations = cycle.pod.spec.tolerations
        if tolerations not in self._against:
            tolerated = self._masks.tolerated(honoured_tolerations(tolerations, self._version))
            self._against[tolerations] = None if tolerated.all() else (~tolerated).astype(np.uint32)
        return self._against[tolerations]

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """That there are such taints; which ones the scheduler keeps to itself since 1.34."""
        return Obstacle.of(self.name, Code.UNRESOLVABLE, _TaintReason.UNTOLERATED)


class TaintTolerationScore:
    """Counts once for each distinct list of tolerations."""

    name = "TaintToleration"

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._version = cluster.version
        self._taints = TaintSets([_soft_taints(node) for node in cluster.table.nodes])
        self._counts: dict[tuple[Toleration, ...], NormalizedScores] = {}
        self._by_class: dict[PlacementClass, NormalizedScores] = {}

    def score(self, cycle: Cycle, feasible: BoolMask) -> Scores | None:
        """100 for the nodes with none, down to 0 for those with the most."""
        known = self._by_class.get(cycle.pod)
        if known is None:
            known = self._by_class[cycle.pod] = self._untolerated(cycle.pod.spec.tolerations)
        return known.among(feasible)

    def _untolerated(self, tolerations: tuple[Toleration, ...]) -> NormalizedScores:
        """The number of taints by node."""
        known = self._counts.get(tolerations)
        if known is None:
            honoured = honoured_tolerations(tolerations, self._version)
            raw = self._taints.num_untolerated(honoured)
            known = self._counts[tolerations] = NormalizedScores(raw, is_reversed=True)
        return known


def _soft_taints(node: Node) -> tuple[Taint, ...]:
    return tuple(taint for taint in node.taints if taint.effect == PREFER_NO_SCHEDULE)


def _explain_taints(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
    """The taints that are not tolerated."""
    tolerance = Tolerance(honoured_tolerations(refused.pod.spec.tolerations, refused.cycle.cluster.version))
    for taint in hard_taints(refused.node):
        if not tolerance.tolerates(taint):
            yield f"untolerated taint {taint_text(taint)}"


def taint_text(taint: Taint) -> str:
    """`key=value:Effect`, as kubectl writes it."""
    return f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"


ROW = SchedulingPlugin(
    plugin=TaintToleration,
    score=TaintTolerationScore,
    points=frozenset({"filter", "pre_score", "score"}),
    by_default=ByDefault(weight=3),
    prepared_for=frozenset({"score"}),
    interactions=own_node,
    explain=_explain_taints,
    about=About(
        check="The pod must tolerate every NoSchedule and NoExecute taint of the node.",
        preference="Nodes with fewer PreferNoSchedule taints that the pod does not tolerate.",
        reasons=tuple(reason.reason for reason in _TaintReason),
    ),
)
