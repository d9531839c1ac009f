"""Proofs that a batch cannot land hold with the room that plugins grant on top of what is free."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec.structs import replace

from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import PreFilterResult, ReasonBits
from descheduler.placement.framework.obstacle import Obstacle
from descheduler.placement.framework.scheduling_plugin import SchedulingPlugin
from descheduler.placement.landings.landing import JointVerdict, LandingVerdict
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.prover import LandingProver
from descheduler.placement.shadow.node_table import CPU_ROW, PODS_ROW
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from tests.builders import make_node, make_pod, make_snapshot, required_anti_affinity
from tests.placement.default_scheduler import DEFAULT_CONFIGURATION

PROFILE = DEFAULT_CONFIGURATION.profiles[0]


class HeldRoom:
    """Grants every pod three cores and two places on node a, which it holds for them."""

    name = "HeldRoom"
    is_static = False

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        """Neither is read."""

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Grants the room; everything else is left alone."""
        on_a = np.array([node.name == "a" for node in cycle.cluster.table.nodes], dtype=np.int64)
        cycle.credit.update({CPU_ROW: 3000 * on_a, PODS_ROW: 2 * on_a})
        return PreFilterResult(is_skipped=True)

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """Nothing."""
        return None

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """Never asked."""
        raise NotImplementedError


def prove_with_held_room(**facts: Any) -> JointVerdict:
    """The verdict on two replicas with these facts, where the one open node is full but for what the plugin holds."""
    filters = ("HeldRoom", *PROFILE.filters)
    profile = replace(PROFILE, pre_filters=("HeldRoom", *PROFILE.pre_filters), filters=filters)
    victims = [make_pod(name, node="c", labels={"app": "web"}, owners=["ReplicaSet/web"], **facts) for name in "pq"]
    nodes = [make_node("a", cpu="4", pods="2"), make_node("c", unschedulable=True)]
    snapshot = make_snapshot(nodes, [make_pod("full", node="a", cpu="4"), *victims])
    prover = LandingProver(
        snapshot,
        configuration=replace(DEFAULT_CONFIGURATION, profiles=(profile,)),
        plugins={**PLUGINS, "HeldRoom": SchedulingPlugin(plugin=HeldRoom, points=frozenset({"pre_filter", "filter"}))},
    )
    return prover.prove([pod for pod in snapshot.pods if pod.name != "full"])


def test_room_that_a_plugin_holds_for_the_replicas_counts_in_the_proof_that_it_is_too_little() -> None:
    joint = prove_with_held_room(cpu="1600m")

    assert joint.verdict is LandingVerdict.NO
    assert (
        joint.certificate
        == "2 replacement pods like that of default/p are created, and the eligible nodes have room for 1"
    )


def test_replicas_that_keep_apart_are_not_said_to_lack_the_room_that_a_plugin_holds_for_them() -> None:
    joint = prove_with_held_room(cpu="1", affinity=required_anti_affinity({"app": "web"}))

    assert joint.verdict is LandingVerdict.NO
    assert (
        joint.certificate == "no assignment of all replacement pods to nodes exists (all orders and nodes were tried)"
    )
