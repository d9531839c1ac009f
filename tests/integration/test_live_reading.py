"""A live run reads the cluster whole or not at all, whatever happens between two pages."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from descheduler.cluster.kinds import KINDS
from descheduler.cluster.snapshot import SnapshotError
from descheduler.kube.client import KubeClient
from descheduler.plan.outcome import OutcomeCode
from tests.builders import Object, node_object, pod_object
from tests.integration.api_fixtures import Naps
from tests.integration.fake_api import FakeApi
from tests.integration.faults import Answer, BrokenGzip, Drop, Fault, Truncate, failure
from tests.integration.live_runs import (
    FAST,
    TAINTED,
    budget_object,
    codes,
    crowded_cluster,
    evicted_names,
    eviction_requests,
    listed_paths,
    run,
    serve,
    taint_policy,
)
from tests.policy.builders import koordinator

PODS = "/api/v1/pods"
PAGE_SIZE = KINDS["Pod"].page_size
BUDGETS = "/apis/policy/v1/poddisruptionbudgets"


def many_pods(count: int) -> list[Object]:
    """So many pods that have to leave one node."""
    return [pod_object(f"p{number:04}", node="tainted") for number in range(count)]


@pytest.mark.long
def test_cluster_of_several_pages_is_read_at_one_version(fake_api: FakeApi, client: KubeClient) -> None:
    fillers = [pod_object(f"f{number:04}", node="free") for number in range(2 * PAGE_SIZE)]
    pods = many_pods(300)
    serve(fake_api, TAINTED, node_object("free"), *fillers, *pods)
    fake_api.speaks_protobuf = False
    fake_api.git_version = "v1.32.0"

    result = run(client, taint_policy())

    asked = [request.query for request in fake_api.sent("GET", PODS)]
    assert [query["limit"] for query in asked] == [str(PAGE_SIZE)] * 3
    assert ["continue" in query for query in asked] == [False, True, True]
    assert result.decisions.snapshot.resource_version == "1000"
    assert len(result.decisions.snapshot.pods) == 2 * PAGE_SIZE + 300
    assert evicted_names(fake_api, pods) == {pod["metadata"]["name"] for pod in pods}
    assert len(eviction_requests(fake_api)) == 300


@pytest.mark.long
def test_list_that_expires_once_is_read_afresh(fake_api: FakeApi, client: KubeClient) -> None:
    fillers = [pod_object(f"f{number:04}", node="free") for number in range(PAGE_SIZE)]
    pods = many_pods(100)
    serve(fake_api, TAINTED, node_object("free"), *fillers, *pods)
    fake_api.speaks_protobuf = False
    fake_api.git_version = "v1.32.0"
    fake_api.expired_continues = 1

    result = run(client, taint_policy(), options=FAST)

    assert len(result.decisions.snapshot.pods) == PAGE_SIZE + 100
    assert len(eviction_requests(fake_api)) == 100
    assert evicted_names(fake_api, pods) == {pod["metadata"]["name"] for pod in pods}


def test_list_that_expires_always_ends_the_run_before_anything_is_evicted(
    fake_api: FakeApi, client: KubeClient
) -> None:
    serve(fake_api, TAINTED, node_object("free"), *many_pods(PAGE_SIZE + 1))
    fake_api.speaks_protobuf = False
    fake_api.git_version = "v1.32.0"
    fake_api.expired_continues = 1000

    with pytest.raises(SnapshotError, match="/api/v1/pods: the list expired 4 times before all its pages were read"):
        run(client, taint_policy())

    assert {request.method for request in fake_api.requests} == {"GET"}


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Truncate(), id="cut short"),
        pytest.param(BrokenGzip(), id="damaged"),
        pytest.param(Drop(), id="without answer"),
        pytest.param(failure(500, "InternalError", "etcdserver: leader changed"), id="refused by a server at fault"),
    ],
)
def test_page_that_goes_wrong_is_asked_for_again(
    fake_api: FakeApi, client: KubeClient, naps: Naps, fault: Fault
) -> None:
    serve(fake_api, *crowded_cluster("cart", "desk"))
    fake_api.fail_next("GET", PODS, fault)

    result = run(client, taint_policy())

    assert codes(result) == {"cart": OutcomeCode.DONE, "desk": OutcomeCode.DONE}
    assert len(naps) == 1


@pytest.mark.parametrize("status", [429, 503])
def test_overloaded_server_gets_the_pause_that_it_asks_for(
    fake_api: FakeApi, client: KubeClient, naps: Naps, status: int
) -> None:
    serve(fake_api, *crowded_cluster("cart"))
    fake_api.fail_next("GET", BUDGETS, failure(status, "Busy", "busy", retry_after_seconds=7))

    result = run(client, taint_policy())

    assert codes(result) == {"cart": OutcomeCode.DONE}
    assert len(naps) == 1
    assert naps[0] >= 7


def test_server_that_stays_overloaded_ends_the_run_and_is_quoted(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("cart"))
    fake_api.fail_always("GET", BUDGETS, failure(429, "TooManyRequests", "too many requests"))

    with pytest.raises(SnapshotError, match=r"poddisruptionbudgets: .* too many requests \(429\); the snapshot would"):
        run(client, taint_policy())

    assert eviction_requests(fake_api) == []


def test_all_kinds_that_may_not_be_listed_are_named_with_the_rule_that_is_missing(
    fake_api: FakeApi, client: KubeClient
) -> None:
    serve(fake_api, *crowded_cluster("cart"))
    for path in (PODS, BUDGETS):
        fake_api.fail_always("GET", path, failure(403, "Forbidden", "forbidden"))

    with pytest.raises(SnapshotError) as caught:
        run(client, taint_policy())

    assert str(caught.value) == (
        "not allowed to list pods, poddisruptionbudgets (RBAC); add to the rules of the ClusterRole: "
        '- {apiGroups: [""], resources: [pods], verbs: [list]} '
        '- {apiGroups: ["policy"], resources: [poddisruptionbudgets], verbs: [list]}'
    )
    assert eviction_requests(fake_api) == []


def test_custom_resources_that_a_cluster_does_not_have_are_done_without(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("cart"))

    result = run(client, koordinator())

    assert result.decisions.failures == ()
    assert result.decisions.snapshot.warnings == (
        "the cluster does not serve CloneSet (apps.kruise.io), Device (scheduling.koordinator.sh), ElasticQuota"
        " (scheduling.sigs.k8s.io), NodeResourceTopology (topology.node.k8s.io), PodGroup (scheduling.sigs.k8s.io),"
        " PodMigrationJob (scheduling.koordinator.sh), Reservation (scheduling.koordinator.sh);"
        " assuming there are none",
    )
    assert "/apis/apps/v1/replicasets" in listed_paths(fake_api)
    assert not any("metrics.k8s.io" in path for path in listed_paths(fake_api))


def test_migration_jobs_that_cannot_be_read_end_the_run(fake_api: FakeApi, client: KubeClient) -> None:
    """Pods that others are moving would not be known."""
    serve(fake_api, *crowded_cluster("cart"))
    path = "/apis/scheduling.koordinator.sh/v1alpha1/podmigrationjobs"
    fake_api.fail_always("GET", path, failure(503, "ServiceUnavailable", "conversion webhook failed"))

    with pytest.raises(SnapshotError, match="conversion webhook failed"):
        run(client, koordinator())


def test_broken_object_in_a_full_page_ends_the_run_and_is_named(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, TAINTED, node_object("free"), *with_broken_pod(500))

    with pytest.raises(SnapshotError, match=r"Pod default/p0250 is invalid: .*--skip-broken-objects"):
        run(client, taint_policy())

    assert eviction_requests(fake_api) == []


@pytest.mark.long
def test_broken_object_is_left_out_and_named_where_that_is_allowed(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, TAINTED, node_object("free"), *with_broken_pod(500))

    result = run(client, taint_policy(), options=replace(FAST, skip_broken=True))

    assert [text.partition(" is invalid")[0] for text in result.decisions.snapshot.skipped] == ["Pod default/p0250"]
    assert len(eviction_requests(fake_api)) == 499
    assert "p0250" in fake_api.pods()


def with_broken_pod(count: int) -> list[Object]:
    """So many pods, one of which asks for an amount that is none."""
    pods = many_pods(count)
    pods[250] = pod_object("p0250", node="tainted", cpu="plenty")
    return pods


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        pytest.param(Answer(200, {"kind": "ConfigMapList"}), "a ConfigMapList", id="another kind"),
        pytest.param(
            Answer(200, {"kind": "PodList", "apiVersion": "policy/v1", "metadata": {}, "items": []}),
            "is a PodList, not a PodDisruptionBudgetList",
            id="another kind of the same group",
        ),
        pytest.param(Answer(200, failure(404, "NotFound", "no budgets").body), "a Status: no budgets", id="a Status"),
        pytest.param(Answer(200, b""), r"not what was asked \(empty\)", id="nothing"),
        pytest.param(Answer(200, b"<html>sign in</html>"), r"not what was asked \(HTML\)", id="a page for people"),
        pytest.param(Answer(204, b""), "HTTP status 204", id="no content"),
        pytest.param(
            Answer(206, {"kind": "PodDisruptionBudgetList", "apiVersion": "policy/v1", "metadata": {}, "items": []}),
            "HTTP status 206",
            id="a part",
        ),
        pytest.param(
            Answer(200, {"kind": "PodDisruptionBudgetList", "apiVersion": "policy/v1", "metadata": {}, "items": None}),
            "with items: null",
            id="items: null",
        ),
    ],
)
def test_answer_that_is_no_list_of_budgets_is_not_taken_for_no_budgets(
    fake_api: FakeApi, client: KubeClient, answer: Answer, found: str
) -> None:
    serve(fake_api, *crowded_cluster("cart"))
    fake_api.fail_always("GET", BUDGETS, answer)

    with pytest.raises(SnapshotError, match=found):
        run(client, taint_policy())

    assert eviction_requests(fake_api) == []


def test_budget_that_is_listed_twice_ends_the_run(fake_api: FakeApi, client: KubeClient) -> None:
    budget = budget_object("b", {}, allowed=1)
    serve(fake_api, *crowded_cluster("cart"), budget, budget)

    with pytest.raises(SnapshotError, match="PodDisruptionBudget default/b is in the list twice"):
        run(client, taint_policy())


def test_list_that_never_ends_ends_the_run(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("cart"))
    metadata = {"resourceVersion": "1", "continue": "more"}
    endless = {"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": []}
    fake_api.fail_always("GET", PODS, Answer(200, endless))

    with pytest.raises(SnapshotError, match=r"/api/v1/pods: list of pods has no end .* the same continue token again"):
        run(client, taint_policy())
