"""Replacements that are not like their victims, are not created, or are placed by nobody."""

from __future__ import annotations

from tests.e2e.closed_loop.holes import Hole
from tests.e2e.closed_loop.scenario import Scenario
from tests.e2e.closed_loop.steps import LEAVES, closed, leaving_rover, run, switch, update
from tests.e2e.closed_loop.strategies import LEAVING_PODS
from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import Object, wait_until
from tests.e2e.objects import deployment, node, stateful_set


def _larger_template(cluster: Cluster) -> None:
    _run_store_and_rover(cluster)
    update(cluster, "store", labels=LEAVES, cpu="10")


def _gated_template(cluster: Cluster) -> None:
    _run_store_and_rover(cluster)
    update(cluster, "store", labels=LEAVES, schedulingGates=[{"name": "test/approval"}])


def _run_store_and_rover(cluster: Cluster) -> None:
    cluster.add_nodes(node("a"), closed(node("b")))
    run(cluster, stateful_set("store", cluster.namespace, labels=LEAVES), leaving_rover(cluster))
    switch(cluster, close="a")


def _narrower_runtime_class(cluster: Cluster) -> None:
    """A pod gets what its runtime class says when it is created, and never again."""
    sandbox = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "sandbox"},
        "handler": "sandbox",
    }
    cluster.create(sandbox)
    cluster.add_nodes(node("a"), closed(node("b")))
    web = deployment("web", cluster.namespace, labels=LEAVES, runtimeClassName="sandbox")
    run(cluster, web, leaving_rover(cluster))
    cluster.api.patch(sandbox, {"scheduling": {"nodeSelector": {"sandbox": "yes"}}})
    switch(cluster, close="a")


def _lowered_quota(cluster: Cluster) -> None:
    cluster.add_nodes(node("a"), closed(node("b")))
    run(cluster, deployment("web", cluster.namespace, replicas=2, labels=LEAVES))
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "pods", "namespace": cluster.namespace},
        "spec": {"hard": {"pods": "1"}},
    }
    cluster.create(quota)
    wait_until("the quota is counted", lambda: _used(cluster, quota) == "2")
    switch(cluster, close="a")


def _used(cluster: Cluster, quota: Object) -> str | None:
    used: dict[str, str] = cluster.api.get(quota).get("status", {}).get("used", {})
    return used.get("pods")


def _scheduler_that_is_gone(cluster: Cluster) -> None:
    """Another scheduler has placed the pod, and runs no more."""
    cluster.add_nodes(node("a"), closed(node("b")))
    cluster.create(deployment("web", cluster.namespace, labels=LEAVES, schedulerName="retired"))
    (waiting,) = wait_until("the pod is created", lambda: cluster.pods("web"))
    name = waiting["metadata"]["name"]
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": name},
        "target": {"apiVersion": "v1", "kind": "Node", "name": "a"},
    }
    cluster.api.request("POST", f"/api/v1/namespaces/{cluster.namespace}/pods/{name}/binding", binding)
    run(cluster, leaving_rover(cluster))
    cluster.wait_ready("web", 1)
    switch(cluster, close="a")


SCENARIOS = (
    Scenario(
        "its owner's newer template asks for more than any node has",
        Hole.OLD_TEMPLATE,
        LEAVING_PODS,
        _larger_template,
        num_landing=1,
    ),
    Scenario(
        "its owner's newer template has a scheduling gate",
        Hole.ADMISSION_AND_GATES,
        LEAVING_PODS,
        _gated_template,
        num_landing=1,
    ),
    Scenario(
        "its runtime class now wants nodes that are not there",
        Hole.ADMISSION_AND_GATES,
        LEAVING_PODS,
        _narrower_runtime_class,
        num_landing=1,
    ),
    Scenario(
        "the quota was lowered below what runs",
        None,
        LEAVING_PODS,
        _lowered_quota,
    ),
    Scenario(
        "the scheduler that placed it is gone",
        Hole.OTHER_SCHEDULER,
        LEAVING_PODS,
        _scheduler_that_is_gone,
        num_landing=1,
    ),
)
