"""SchedulingGates (kube-scheduler 1.36): a pod with gates is not tried until somebody has taken them off."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.placement.configuration.kube_scheduler.plugin_args import ByDefault
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin, own_node
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster

_NAME = "SchedulingGates"


def waiting_for_gates(gates: Sequence[str]) -> Obstacle | None:
    """What keeps a pod with `gates` out of the queue of any scheduler; None without gates."""
    if not gates:
        return None
    return Obstacle(_NAME, Code.UNRESOLVABLE, (f"waiting for scheduling gates: [{' '.join(gates)}]",))


class SchedulingGates:
    """Keeps gated pods out of the queue."""

    name = _NAME

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        """Neither is read: only the pod counts."""

    def pre_enqueue(self, cycle: Cycle) -> Obstacle | None:
        """The gates that the pod still has, or None."""
        return waiting_for_gates(cycle.pod.spec.scheduling_gates)


ROW = SchedulingPlugin(
    plugin=SchedulingGates,
    points=frozenset({"pre_enqueue"}),
    by_default=ByDefault(),
    interactions=own_node,
    about=About(
        check="A pod with scheduling gates is not scheduled until they are removed.",
        reasons=("waiting for scheduling gates: [<gates>]",),
    ),
)
