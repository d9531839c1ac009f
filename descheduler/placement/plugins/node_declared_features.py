"""NodeDeclaredFeatures (kube-scheduler 1.36): a pod that uses a young feature needs a node that declares it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from descheduler.placement.configuration.kube_scheduler.plugin_args import ByDefault
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import PASS, SKIP, PreFilterResult, ReasonBits
from descheduler.placement.framework.obstacle import Code, Obstacle, ObstacleReason
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin, own_node
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster


class FeatureReason(ObstacleReason):
    """Why a node takes no pod that needs features."""

    UNDECLARED = 1, "node(s) didn't match Pod's required features", "didn't match Pod's required features"


class NodeDeclaredFeatures:
    """Compares what the pod's spec implies with `status.declaredFeatures` of each node."""

    name = "NodeDeclaredFeatures"
    is_static = True

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._nodes = cluster.table.nodes

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Leaves out pods that need no such feature, which is nearly every pod."""
        return PASS if cycle.pod.spec.required_features else SKIP

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """The nodes that do not declare all of them."""
        required = cycle.pod.spec.required_features
        lacking = [not required <= node.declared_features for node in self._nodes]
        return np.array(lacking, dtype=np.uint32) if any(lacking) else None

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        return Obstacle.of(self.name, Code.UNRESOLVABLE, FeatureReason.UNDECLARED)


def explain_declared_features(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
    """The features that the pod needs and the node does not declare."""
    lacking = refused.pod.spec.required_features - refused.node.declared_features
    yield f"the node does not declare {', '.join(sorted(lacking))}"


ROW = SchedulingPlugin(
    plugin=NodeDeclaredFeatures,
    points=frozenset({"pre_filter", "filter"}),
    by_default=ByDefault(gate="NodeDeclaredFeatures"),
    prepared_for=frozenset({"filter"}),
    interactions=own_node,
    explain=explain_declared_features,
    about=About(
        check="The node must declare the kubelet features that the pod requires.",
        reasons=tuple(reason.reason for reason in FeatureReason),
    ),
)
