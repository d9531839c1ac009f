"""The base's roles allow what runs do, all of it and nothing else."""

from __future__ import annotations

import base64
from datetime import timedelta

import pytest
from msgspec.structs import replace

from descheduler.cluster.kinds import KINDS
from descheduler.kube.client import KubeClient
from descheduler.migration.lease_settings import LeaseOptions
from tests.builders import NOW, Object, node_object, pod_object
from tests.cronjob.manifests import base_documents, named
from tests.cronjob.rbac import EVICT, LIST_ALL, Grant, grants_of, lease_grants, memory_grants, requested
from tests.integration.fake_api import FakeApi
from tests.integration.faults import Drop
from tests.integration.live_runs import FAST, crowded_cluster, run, serve
from tests.policy.builders import koordinator, upstream

READS_EVERYTHING = upstream(
    """\
    metricsProviders: [{source: KubernetesMetrics}]
    profiles:
    - name: p
      pluginConfig:
      - name: DefaultEvictor
        args:
          priorityThreshold: {name: high}
          namespaceLabelSelector: {}
          podProtections: {extraEnabled: [PodsWithPVC], config: {PodsWithPVC: {protectedStorageClasses: [{name: a}]}}}
      - name: RemovePodsViolatingNodeTaints
      - name: LowNodeUtilization
        args: {thresholds: {cpu: 1}, targetThresholds: {cpu: 99}, metricsUtilization: {source: KubernetesMetrics}}
      plugins:
        deschedule: {enabled: [RemovePodsViolatingNodeTaints]}
        balance: {enabled: [LowNodeUtilization]}
    """
)
READS_WORKLOADS = koordinator(
    """\
    profiles:
    - name: p
      pluginConfig:
      - {name: RemovePodsViolatingNodeTaints}
      - {name: MigrationController, args: {}}
      plugins: {deschedule: {enabled: [{name: RemovePodsViolatingNodeTaints}]}}
    """
)
REMEMBERS = koordinator(
    """\
    profiles:
    - name: p
      pluginConfig: [{name: LowNodeLoad}]
      plugins:
        balance: {enabled: [{name: LowNodeLoad}]}
        deschedule: {enabled: [{name: RemovePodsViolatingNodeReservation}]}
    """
)
ASKS_PROMETHEUS = upstream(
    """\
    metricsProviders:
    - source: Prometheus
      prometheus: {url: "URL", authToken: {secretReference: {namespace: monitoring, name: token}}}
    profiles:
    - name: p
      pluginConfig:
      - name: LowNodeUtilization
        args:
          thresholds: {MetricResource: 20}
          targetThresholds: {MetricResource: 70}
          metricsUtilization: {source: Prometheus, prometheus: {query: load}}
      plugins: {balance: {enabled: [LowNodeUtilization]}}
    """
)
ACCOUNT = {"kind": "ServiceAccount", "name": "descheduler", "namespace": "kube-system"}
WITH_LEASE = replace(FAST, lease=LeaseOptions(name="descheduler", namespace="kube-system"))
HIGH = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000}


def base_grants(*kinds: str) -> set[Grant]:
    """What the base's roles of these kinds allow together."""
    return grants_of(role for kind in kinds for role in named(base_documents(), kind).values())


def asked_grants(fake_api: FakeApi) -> set[Grant]:
    """What the requests so far took."""
    return {grant for request in fake_api.requests if (grant := requested(request)) is not None}


def cluster_with_unclear_answer(fake_api: FakeApi) -> list[Object]:
    """Two pods to evict; the connection is lost over the first."""
    fake_api.on_eviction("p1", Drop(), namespace="default")
    return [*crowded_cluster("p1", "p2"), HIGH]


def test_cluster_roles_allow_listing_every_known_kind_and_evicting() -> None:
    granted = base_grants("ClusterRole")

    assert granted == LIST_ALL | EVICT


def test_roles_in_the_own_namespace_allow_the_lease_and_the_memory_beside_it_alone() -> None:
    granted = base_grants("Role")

    assert granted == lease_grants("descheduler") | memory_grants("descheduler")


def test_every_binding_ties_the_service_account_to_a_role_that_is_there() -> None:
    manifests = list(base_documents())

    for kind in ("ClusterRole", "Role"):
        bindings = named(manifests, f"{kind}Binding").values()
        assert {binding["roleRef"]["name"] for binding in bindings} == set(named(manifests, kind))
        assert {binding["roleRef"]["kind"] for binding in bindings} == {kind}
        for binding in bindings:
            assert binding["subjects"] == [ACCOUNT]


def test_live_runs_take_exactly_what_the_roles_allow(fake_api: FakeApi, client: KubeClient) -> None:
    """Policies that read every kind between them, evictions, their Events, a look back after a lost answer, a Lease,
    and what a run remembers."""
    for kind in KINDS.values():
        fake_api.add(kind.path)
    serve(fake_api, *cluster_with_unclear_answer(fake_api))

    run(client, READS_EVERYTHING, options=WITH_LEASE)
    serve(fake_api, *(pod_object(name, node="tainted") for name in ("p3", "p4")))
    run(client, READS_WORKLOADS)
    run(client, REMEMBERS, options=WITH_LEASE)
    run(client, REMEMBERS, options=WITH_LEASE, now=NOW + timedelta(minutes=5))

    assert asked_grants(fake_api) == base_grants("ClusterRole", "Role")


def test_dry_run_takes_what_the_dry_run_overlay_leaves(fake_api: FakeApi, client: KubeClient) -> None:
    for kind in KINDS.values():
        fake_api.add(kind.path)
    serve(fake_api, *cluster_with_unclear_answer(fake_api))

    for policy in (READS_EVERYTHING, REMEMBERS):
        run(client, policy, options=replace(WITH_LEASE, dry_run=True))

    assert asked_grants(fake_api) <= LIST_ALL | memory_grants("descheduler")


def test_secret_is_read_only_for_a_policy_that_names_it(fake_api: FakeApi, client: KubeClient) -> None:
    token = {"prometheusAuthToken": base64.b64encode(b"secret").decode()}
    fake_api.add(
        "/api/v1/secrets",
        {"kind": "Secret", "metadata": {"namespace": "monitoring", "name": "token"}, "data": token},
    )
    serve(fake_api, node_object("a"), node_object("b"))

    run(client, ASKS_PROMETHEUS.replace("URL", fake_api.url))

    assert asked_grants(fake_api) - base_grants("ClusterRole") == {Grant("get", "", "secrets", "token")}


@pytest.mark.parametrize("verb", ["*", "watch", "patch", "delete", "deletecollection", "impersonate", "escalate"])
def test_no_role_allows(verb: str) -> None:
    granted = base_grants("ClusterRole", "Role")

    assert not [grant for grant in granted if grant.verb == verb or "*" in (grant.group, grant.resource)]
