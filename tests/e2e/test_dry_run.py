"""A dry run changes nothing, and says what the live run then does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import KubeApi, Object
from tests.e2e.objects import deployment, disruption_budget, node, stateful_set
from tests.e2e.program import Program, koordinator_policy, policy

TAINTS = "RemovePodsViolatingNodeTaints"
POLICY = policy(TAINTS, evictionFailureEventNotification=True)
BY_OWN_FLAG = koordinator_policy(TAINTS, {"defaultJobMode": "EvictDirectly", "dryRun": True})

Versions = dict[tuple[str, str, str], str]


@pytest.mark.parametrize(
    ("document", "flags"),
    [
        pytest.param(POLICY, ["--dry-run"], id="asked for on the command line"),
        pytest.param(BY_OWN_FLAG, [], id="asked for by the policy"),
    ],
)
def test_dry_run_leaves_every_object_as_it_was(
    cluster: Cluster, program: Program, document: str, flags: list[str]
) -> None:
    run_on_tainted_node(cluster)
    with cluster.asleep():
        before = versions(cluster.api)

        report = program.run(document, *flags)

        after = versions(cluster.api)
    assert report.exit_code == 0
    assert report.document["kind"] == "Plan"
    assert report.document["moves"]
    assert after == before


def test_live_run_evicts_what_the_dry_run_showed(cluster: Cluster, program: Program) -> None:
    run_on_tainted_node(cluster)

    shown = program.run(POLICY, "--dry-run")
    done = program.run(POLICY)

    planned = [move["pod"] for move in shown.document["moves"]]
    assert planned
    assert [result["pod"] for result in done.document["results"]] == planned
    assert done.document["counts"]["evicted"] == len(planned)


def test_comparison_of_versions_sees_a_single_label(cluster: Cluster) -> None:
    """Otherwise the first test could not fail."""
    run_on_tainted_node(cluster)
    with cluster.asleep():
        before = versions(cluster.api)

        cluster.api.patch(node("b"), {"metadata": {"labels": {"seen": "yes"}}})

        after = versions(cluster.api)
    assert {key for key in after if after[key] != before.get(key)} == {("/api/v1/nodes", "", "b")}


def run_on_tainted_node(cluster: Cluster) -> None:
    """Pods with and without a budget that a run would evict."""
    cluster.add_nodes(node("a"))
    cluster.create(disruption_budget("store", cluster.namespace, maxUnavailable=1))
    cluster.run(deployment("web", cluster.namespace, replicas=3))
    cluster.run(stateful_set("store", cluster.namespace, replicas=2))
    cluster.add_nodes(node("b"))
    cluster.api.patch(node("a"), {"spec": {"taints": [{"key": "closed", "effect": "NoSchedule"}]}})


def versions(api: KubeApi) -> Versions:
    """Path, namespace and name of every object of the cluster → its resource version.

    Only the API server's own lease is left out, which it renews all the time.
    """
    found: Versions = {}
    for path in listable(api):
        for item in api.items(path):
            meta = item["metadata"]
            if not (item["kind"] == "Lease" and meta["name"].startswith("apiserver-")):
                found[path, meta.get("namespace", ""), meta["name"]] = meta.get("resourceVersion", "")
    return found


def listable(api: KubeApi) -> Iterator[str]:
    """The cluster-wide lists that the API server serves, in every version."""
    prefixes = ["/api/v1"]
    prefixes += [f"/apis/{version['groupVersion']}" for group in groups(api) for version in group["versions"]]
    for prefix in prefixes:
        for resource in api.request("GET", prefix)["resources"]:
            if "list" in resource["verbs"]:
                yield f"{prefix}/{resource['name']}"


def groups(api: KubeApi) -> list[Object]:
    """The groups of the API server."""
    found: list[Object] = api.request("GET", "/apis")["groups"]
    return found
