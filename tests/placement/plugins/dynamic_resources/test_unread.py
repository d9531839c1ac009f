"""Resource claims, and extended resources of DeviceClasses, in snapshots without objects of devices."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.kube_version import KubeVersion
from descheduler.placement.configuration.kube_scheduler.configuration import load_scheduler_configuration
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.plugins.dynamic_resources.plugin import DynamicResources
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.prover import LandingProver
from tests.builders import Object, make_node, make_pod, make_snapshot
from tests.placement.clusters import make_cluster, obstacles
from tests.placement.considered import LIKELY, NO, consider

GPU = "example.com/gpu"
UNLISTED = f"no node lists {GPU}; a DeviceClass with extendedResourceName: {GPU} may serve it (DynamicResources)"


@pytest.mark.parametrize(
    "claims",
    [
        pytest.param([{"name": "gpu", "resourceClaimName": "shared-gpu"}], id="claims are named"),
        pytest.param([{"name": "gpu", "resourceClaimTemplateName": "gpu"}], id="claims yet to be made have no name"),
    ],
)
def test_pod_with_claims_is_undecided(claims: list[dict[str, Any]]) -> None:
    pod = make_pod("new", node="", spec={"resourceClaims": claims})

    against = obstacles(DynamicResources, make_cluster([make_node("a")]), pod)

    reason = "uses resource claims, and the snapshot has no ResourceClaim objects"
    assert against == {"*": Obstacle("DynamicResources", Code.UNDECIDED, (reason,))}


def test_pod_without_claims_passes() -> None:
    assert obstacles(DynamicResources, make_cluster([make_node("a")]), make_pod("new", node="")) == {}


class TestExtendedResources:
    """What no device plugin lists may be served by a DeviceClass, which the snapshot does not hold."""

    @pytest.mark.parametrize("listed", [{}, {GPU: "0"}], ids=["no node lists it", "a node lists none of it"])
    def test_resource_that_no_node_has_is_likely_where_all_else_fits(self, listed: dict[str, str]) -> None:
        nodes = [make_node("a", unschedulable=True), make_node("b", allocatable=listed)]

        landing = consider(make_snapshot(nodes, [make_pod("victim", node="a", requests={GPU: "1"})]))

        assert (landing.verdict, landing.node, landing.cause) == (LIKELY, "b", UNLISTED)

    def test_resource_that_a_device_class_has_by_its_name_names_the_class(self) -> None:
        requests = {"deviceclass.resource.kubernetes.io/gpu": "1"}

        landing = consider(make_snapshot([make_node("a")], [make_pod("victim", node="a", requests=requests)]))

        assert landing.cause == (
            "no node lists deviceclass.resource.kubernetes.io/gpu; a DeviceClass named gpu may serve it"
            " (DynamicResources)"
        )

    def test_resource_of_a_device_plugin_is_counted_as_ever(self) -> None:
        nodes = [make_node("a", unschedulable=True, allocatable={GPU: "1"}), make_node("b")]

        landing = consider(make_snapshot(nodes, [make_pod("victim", node="a", requests={GPU: "1"})]))

        assert (landing.verdict, landing.cause) == (NO, "")
        assert landing.obstacles == {f"Insufficient {GPU}": 1, "node(s) were unschedulable": 1}

    def test_other_filters_still_prove_that_no_node_takes_the_pod(self) -> None:
        victim = make_pod("victim", node="a", cpu="8", requests={GPU: "1"})

        landing = consider(make_snapshot([make_node("a", cpu="4")], [victim]))

        assert (landing.verdict, landing.obstacles) == (NO, {"Insufficient cpu": 1})

    @pytest.mark.parametrize(
        "version",
        [
            pytest.param(KubeVersion(1, 35), id="a release in which the gate is off"),
            pytest.param(KubeVersion().with_gates({"DRAExtendedResource": False}), id="the gate switched off"),
        ],
    )
    def test_no_device_class_serves_it_in(self, version: KubeVersion) -> None:
        victim = make_pod("victim", node="a", requests={GPU: "1"})

        landing = LandingProver(make_snapshot([make_node("a")], [victim]), version=version).consider(victim)

        assert (landing.verdict, landing.obstacles) == (NO, {f"Insufficient {GPU}": 1})

    def test_no_device_class_serves_it_without_the_plugin(self) -> None:
        off: Object = {"multiPoint": {"disabled": [{"name": "DynamicResources"}]}}
        configuration = load_scheduler_configuration(
            {
                "apiVersion": "kubescheduler.config.k8s.io/v1",
                "kind": "KubeSchedulerConfiguration",
                "profiles": [{"plugins": off}],
            },
            plugins=PLUGINS,
        )
        victim = make_pod("victim", node="a", requests={GPU: "1"})

        landing = LandingProver(make_snapshot([make_node("a")], [victim]), configuration=configuration).consider(victim)

        assert (landing.verdict, landing.obstacles) == (NO, {f"Insufficient {GPU}": 1})

    def test_pending_pod_is_unknown_and_not_pending(self) -> None:
        pods = [make_pod(f"p{number}", node=None, phase="Pending", requests={GPU: "1"}) for number in range(2)]
        prover = LandingProver(make_snapshot([make_node("a")], pods))

        assert (prover.still_pending(), prover.undecided) == ((), {UNLISTED: 2})
        assert prover.pending_doubt(pods[0]) == UNLISTED
