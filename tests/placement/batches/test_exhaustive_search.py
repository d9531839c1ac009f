"""Searches over small batches tell states apart by all that may decide what comes next."""

from __future__ import annotations

import numpy as np

from descheduler.placement.configuration.kube_scheduler.configuration import load_scheduler_configuration
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import PASS, PreFilterResult, ReasonBits
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.framework.scheduling_plugin import SchedulingPlugin
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.prover import LandingProver
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from tests.builders import make_node, make_pod, make_snapshot


class ArrivalLedger:
    """The apps that were placed, in the order in which they came."""

    def __init__(self, cluster: ShadowCluster) -> None:
        del cluster
        self.apps: list[str] = []

    def reserve(self, cycle: Cycle, node: int) -> str:
        """Notes the app."""
        del node
        app = cycle.pod.pod.labels["app"]
        self.restore(app)
        return app

    def restore(self, taken: str) -> None:
        """Notes it last."""
        self.apps.append(taken)

    def release(self, taken: str) -> None:
        """Forgets it."""
        self.apps.remove(taken)

    def fingerprint(self) -> object:
        """The apps in their order."""
        return self.apps


class FirstComers:
    """Takes the app `late` unless `second` came before `first`."""

    name = "FirstComers"
    is_static = False

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        del profile
        self.ledger = cluster.ledger(ArrivalLedger)

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Passes every pod."""
        del cycle
        return PASS

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """Every node, or none."""
        is_refused = cycle.pod.pod.labels["app"] == "late" and self.ledger.apps == ["second", "first"]
        return np.ones(len(cycle.cluster.table), dtype=np.uint32) if is_refused else None

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """That the others came in the wrong order."""
        del cycle, node, bits
        return Obstacle(self.name, Code.UNSCHEDULABLE, ("wrong order",))


ROW = SchedulingPlugin(plugin=FirstComers, points=frozenset({"pre_filter", "filter", "reserve"}))


def test_order_that_a_ledger_remembers_is_looked_at_although_the_same_pods_are_on_the_same_nodes() -> None:
    table = {**PLUGINS, "FirstComers": ROW}
    configuration = load_scheduler_configuration(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "FirstComers"}]}}}],
        },
        plugins=table,
    )
    pods = [
        make_pod(app, node="old", labels={"app": app}, owners=[f"ReplicaSet/{app}"])
        for app in ("first", "second", "late")
    ]
    snapshot = make_snapshot([make_node("old", unschedulable=True), make_node("new")], pods)

    joint = LandingProver(snapshot, configuration=configuration, plugins=table).prove(pods)

    assert joint.verdict is LandingVerdict.LANDS_IF
