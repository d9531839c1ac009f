"""Landings that cannot be proven: likely ones, proven refusals beside what is not modelled, and unknown ones."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.kube_version import KubeVersion
from descheduler.placement.configuration.kube_scheduler.configuration import load_scheduler_configuration
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.prover import LandingProver
from tests.builders import make_node, make_pod, make_snapshot, pod_object, required_anti_affinity
from tests.placement.clusters import ZONE
from tests.placement.considered import LANDS, LIKELY, NO, UNKNOWN, consider
from tests.placement.workloads import cluster_of, pod_named, workload_object

UNMODELLED = pytest.mark.parametrize(
    ("facts", "cause"),
    [
        pytest.param({"scheduler": "volcano"}, "scheduler volcano is not modelled", id="foreign scheduler"),
        pytest.param(
            {"spec": {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu-7"}]}},
            "uses resource claims, and the snapshot has no ResourceClaim objects (DynamicResources)",
            id="resource claims",
        ),
        pytest.param(
            {"spec": {"schedulingGroup": {"podGroupName": "g"}}},
            "scheduling groups are not modelled (GangScheduling)",
            id="scheduling group",
        ),
        pytest.param(
            {"labels": {"quota.scheduling.koordinator.sh/name": "q"}},
            "scheduler default-scheduler does not check elastic quotas (ElasticQuota)",
            id="elastic quota",
        ),
    ],
)


class TestLikely:
    """What is not modelled is never a silent yes; nor does it hide a no."""

    @UNMODELLED
    def test_pod_is_likely_on_a_node_that_all_modelled_filters_pass(self, facts: dict[str, Any], cause: str) -> None:
        nodes = [make_node("a", unschedulable=True), make_node("b")]

        landing = consider(make_snapshot(nodes, [make_pod("victim", node="a", **facts)]))

        assert (landing.verdict, landing.node, landing.cause) == (LIKELY, "b", cause)
        assert landing.message == f"likely scheduled onto b; {cause}"

    @UNMODELLED
    def test_pod_that_no_node_has_room_for_is_a_no(self, facts: dict[str, Any], cause: str) -> None:
        nodes = [make_node("a", unschedulable=True), make_node("b", cpu="1")]

        landing = consider(make_snapshot(nodes, [make_pod("victim", node="a", cpu="2", **facts)]))

        assert (landing.verdict, landing.node, landing.cause) == (NO, None, "")

    def test_pod_that_would_stay_near_others_is_unknown_under_a_foreign_scheduler(self) -> None:
        """It may do without the rules between pods, which nobody but the scheduler enforces."""
        affinity = required_anti_affinity({"app": "web"}, key=ZONE)
        pods = [
            make_pod("guard", node="b", labels={"app": "web"}, owners=["ReplicaSet/guard"]),
            make_pod("victim", node="a", affinity=affinity, scheduler="volcano"),
        ]
        nodes = [make_node(name, labels={ZONE: "east"}) for name in ("a", "b")]

        landing = LandingProver(snapshot := make_snapshot(nodes, pods)).consider(pod_named(snapshot, "victim"))

        assert (landing.verdict, landing.cause) == (UNKNOWN, "scheduler volcano is not modelled")

    @pytest.mark.parametrize(
        ("listed", "verdict"),
        [
            pytest.param({}, UNKNOWN, id="that no node lists"),
            pytest.param({"vendor.com/gpu-memory": "0"}, NO, id="that a node lists"),
        ],
    )
    def test_extended_resource_under_a_foreign_scheduler(self, listed: dict[str, str], verdict: LandingVerdict) -> None:
        """Its extender may share one out that no node lists, and the kubelet does not ask for it there; before 1.36, as
        no DeviceClass may then."""
        nodes = [make_node("a", allocatable=listed), make_node("b")]
        victim = make_pod("victim", node="a", requests={"vendor.com/gpu-memory": "1"}, scheduler="volcano")

        prover = LandingProver(make_snapshot(nodes, [victim]), version=KubeVersion(1, 35))

        assert prover.consider(victim).verdict is verdict

    def test_booked_victim_keeps_its_room_unless_the_book_is_an_estimate(self) -> None:
        gpu = {"scheduler": "volcano", "node_selector": {"kubernetes.io/hostname": "b"}}
        pods = [
            make_pod("gpu", node="a", cpu="2", owners=["ReplicaSet/gpu"], **gpu),
            make_pod("next", node="c", cpu="2", owners=["ReplicaSet/next"]),
        ]
        nodes = [make_node("a", cpu="2"), make_node("b", cpu="2"), make_node("c", cpu="2", unschedulable=True)]
        snapshot = make_snapshot(nodes, pods)

        found = []
        for books_likely in (False, True):
            prover = LandingProver(snapshot, books_likely=books_likely)
            found.append([prover.book(pod_named(snapshot, name)).node for name in ("gpu", "next")])

        assert found == [["b", "b"], ["b", "a"]]

    def test_claims_that_were_not_read_are_named(self) -> None:
        pods = [make_pod("victim", claims=["data"])]

        landing = consider(make_snapshot([make_node("a")], pods, kinds=frozenset({"Pod", "Node"})))

        assert landing.verdict is LIKELY
        plugins = "VolumeRestrictions, VolumeBinding, VolumeZone"
        assert landing.cause == f"the snapshot holds no PersistentVolumeClaim objects ({plugins})"


class TestUndecided:
    """What a snapshot cannot tell is unknown."""

    def test_plugin_of_somebody_else_may_refuse(self) -> None:
        configuration = load_scheduler_configuration(
            {
                "apiVersion": "kubescheduler.config.k8s.io/v1",
                "kind": "KubeSchedulerConfiguration",
                "profiles": [{"plugins": {"filter": {"enabled": [{"name": "Rack"}]}}}],
            },
            plugins=PLUGINS,
        )
        snapshot = make_snapshot([make_node("a")], [make_pod("victim")])

        landing = LandingProver(snapshot, configuration=configuration).consider(snapshot.pods[0])

        assert (landing.verdict, landing.cause) == (LIKELY, "scheduler plugin Rack is not modelled")

    def test_rollout_lands_when_the_revision_of_the_pod_fits(self) -> None:
        snapshot = cluster_of(
            pod_object("victim", cpu="1"),
            workload_object("ReplicaSet/web", deployment="s", revision=1, template=pod_object("t", cpu="1")),
            workload_object("ReplicaSet/new", deployment="s", revision=2, template=pod_object("t", cpu="9")),
        )

        assert consider(snapshot).verdict is LANDS

    def test_rollout_lands_when_both_revisions_fit(self) -> None:
        snapshot = cluster_of(
            pod_object("victim", cpu="1"),
            workload_object("ReplicaSet/web", deployment="s", revision=1, template=pod_object("t", cpu="1")),
            workload_object("ReplicaSet/new", deployment="s", revision=2, template=pod_object("t", cpu="2")),
        )

        assert consider(snapshot).verdict is LANDS
