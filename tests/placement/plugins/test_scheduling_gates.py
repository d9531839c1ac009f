"""Scheduling gates: a pod that has any is not tried."""

from __future__ import annotations

from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.plugins.scheduling_gates import SchedulingGates
from descheduler.placement.shadow.shadow_cluster import Cycle
from tests.builders import make_node, make_pod
from tests.placement.clusters import make_cluster, make_profile


def _verdict(*gates: str) -> Obstacle | None:
    cluster = make_cluster([make_node("a")])
    pod = make_pod("new", node="", spec={"schedulingGates": [{"name": gate} for gate in gates]})
    return SchedulingGates(cluster, make_profile()).pre_enqueue(Cycle(cluster.placement_class(pod), cluster))


def test_gated_pod_does_not_enter_the_queue_and_all_gates_are_named() -> None:
    verdict = _verdict("example.com/wait", "example.com/quota")

    reason = "waiting for scheduling gates: [example.com/wait example.com/quota]"
    assert verdict == Obstacle("SchedulingGates", Code.UNRESOLVABLE, (reason,))


def test_pod_without_gates_enters_the_queue() -> None:
    assert _verdict() is None
