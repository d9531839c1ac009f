"""A whole run over HTTP: what it sends, and that it does what the Python API says it would."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from descheduler import evaluate
from descheduler.cycle.options import ConnectionOptions, RunOptions
from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.run import run_on_cluster
from descheduler.kube.client import KubeClient
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from descheduler.policy.load import load_policy
from descheduler.supervision import Watch
from descheduler.transport.errors import ExchangeError
from tests.builders import NOW, Object, node_object, pod_object, required_node_affinity
from tests.integration.fake_api import FakeApi
from tests.integration.faults import failure
from tests.integration.live_runs import (
    FAST,
    TAINTED,
    codes,
    crowded_cluster,
    evicted_names,
    eviction_requests,
    listed_paths,
    run,
    serve,
    taint_policy,
)
from tests.policy.builders import koordinator, upstream

SEVERAL_PLUGINS = upstream(
    """\
    profiles:
    - name: tidy
      pluginConfig:
      - name: DefaultEvictor
        args: {evictFailedBarePods: true}
      - name: RemovePodsViolatingNodeTaints
      - name: RemovePodsViolatingNodeAffinity
        args: {nodeAffinityType: [requiredDuringSchedulingIgnoredDuringExecution]}
      - name: PodLifeTime
        args: {maxPodLifeTimeSeconds: 7200}
      - name: RemoveDuplicates
      plugins:
        deschedule: {enabled: [RemovePodsViolatingNodeTaints, RemovePodsViolatingNodeAffinity, PodLifeTime]}
        balance: {enabled: [RemoveDuplicates]}
    """
)


def varied_cluster() -> list[Object]:
    """A cluster in which every plugin of `SEVERAL_PLUGINS` finds something, and evictable and protected pods mix."""
    tolerations = [{"key": "gone", "operator": "Exists"}]
    return [
        TAINTED,
        node_object("east", labels={"zone": "east"}),
        node_object("west", labels={"zone": "west"}),
        pod_object("on-tainted", node="tainted", owners=["ReplicaSet/a"]),
        pod_object("tolerates", node="tainted", owners=["ReplicaSet/b"], tolerations=tolerations),
        pod_object("daemon", node="tainted", owners=["DaemonSet/d"]),
        pod_object("astray", node="west", owners=["ReplicaSet/c"], affinity=required_node_affinity("zone", "east")),
        pod_object("old", node="west", owners=["ReplicaSet/e"], age=9000),
        pod_object("bare", node="west", owners=[], age=9000),
        *(pod_object(f"twin-{number}", node="east", owners=["ReplicaSet/twins"]) for number in range(4)),
    ]


def test_live_run_evicts_what_the_python_api_names_for_the_same_objects(fake_api: FakeApi, client: KubeClient) -> None:
    objects = varied_cluster()
    serve(fake_api, *objects)
    foretold = evaluate(SEVERAL_PLUGINS, objects, now=NOW)

    result = run(client, SEVERAL_PLUGINS)

    assert {eviction.plugin for eviction in foretold.evictions} == {
        "RemovePodsViolatingNodeTaints",
        "RemovePodsViolatingNodeAffinity",
        "PodLifeTime",
        "RemoveDuplicates",
    }
    assert evicted_names(fake_api, objects) == {eviction.name for eviction in foretold.evictions}
    assert [(o.eviction.name, o.eviction.plugin) for o in result.outcomes] == [
        (eviction.name, eviction.plugin) for eviction in foretold.evictions
    ]


def test_eviction_request_names_uid_grace_period_and_who_asks(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("cart", namespace="shop"))

    run(client, taint_policy("gracePeriodSeconds: 7"))

    (request,) = eviction_requests(fake_api)
    assert request.path == "/api/v1/namespaces/shop/pods/cart/eviction"
    assert request.body == {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {
            "name": "cart",
            "namespace": "shop",
            "annotations": {
                "reason": "triggered by p/RemovePodsViolatingNodeTaints: ",
                "requested-by": "sigs.k8s.io/descheduler",
            },
        },
        "deleteOptions": {"gracePeriodSeconds": 7, "preconditions": {"uid": "shop-cart"}},
    }


def test_pods_keep_their_own_grace_period_unless_the_policy_sets_one(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("cart"))

    run(client, taint_policy())

    (request,) = eviction_requests(fake_api)
    assert request.body["deleteOptions"] == {"preconditions": {"uid": "default-cart"}}


def test_run_writes_evictions_and_their_events_and_nothing_else(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("cart", "desk"))

    run(client, taint_policy())

    writes = sorted((request.method, request.path) for request in fake_api.requests if request.method != "GET")
    assert writes == [
        ("POST", "/api/v1/namespaces/default/pods/cart/eviction"),
        ("POST", "/api/v1/namespaces/default/pods/desk/eviction"),
        *[("POST", "/apis/events.k8s.io/v1/namespaces/default/events")] * 4,
    ]


def test_event_is_written_the_way_upstream_does(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("cart"))

    run(client, taint_policy())

    event, of_controller = fake_api.objects["/apis/events.k8s.io/v1/events"]
    assert of_controller["regarding"]["kind"] == "ReplicaSet"
    assert (event["type"], event["reason"], event["action"]) == (
        "Normal",
        "RemovePodsViolatingNodeTaints",
        "Descheduled",
    )
    assert event["note"] == "pod eviction from tainted node by sigs.k8s.io/descheduler"
    assert event["regarding"] == {
        "kind": "Pod",
        "apiVersion": "v1",
        "namespace": "default",
        "name": "cart",
        "uid": "default-cart",
    }


def test_events_that_cannot_be_written_are_told_to_the_operator(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("cart", "desk"))
    path = "/apis/events.k8s.io/v1/namespaces/default/events"
    fake_api.fail_next("POST", path, failure(403, "Forbidden", "events.events.k8s.io is forbidden"))

    result = run(client, taint_policy())

    assert set(codes(result).values()) == {OutcomeCode.DONE}
    assert result.decisions.notes == ("1 of 4 events could not be written: events.events.k8s.io is forbidden",)


@pytest.mark.parametrize(
    ("policy", "options"),
    [
        pytest.param(taint_policy(), replace(FAST, dry_run=True), id="asked for by the caller"),
        pytest.param(
            koordinator(
                """\
                dryRun: true
                profiles:
                - name: p
                  pluginConfig: [{name: RemovePodsViolatingNodeTaints}]
                  plugins: {deschedule: {enabled: [{name: RemovePodsViolatingNodeTaints}]}}
                """
            ),
            FAST,
            id="asked for by the policy",
        ),
        pytest.param(
            koordinator(
                """\
                profiles:
                - name: p
                  pluginConfig:
                  - name: RemovePodsViolatingNodeTaints
                  - name: MigrationController
                    args: {dryRun: true}
                  plugins: {deschedule: {enabled: [{name: RemovePodsViolatingNodeTaints}]}}
                """
            ),
            FAST,
            id="asked for by the evict plugin",
        ),
    ],
)
def test_dry_run_decides_and_writes_nothing(
    fake_api: FakeApi, client: KubeClient, policy: str, options: RunOptions
) -> None:
    objects = [TAINTED, node_object("free"), pod_object("cart", node="tainted", scheduler="koord-scheduler")]
    workload = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web", "namespace": "default", "uid": "replicaset-web"},
        "spec": {"replicas": 5},
    }
    serve(fake_api, *objects, workload)

    result = run(client, policy, options=options)

    assert [booked.pod.name for booked in result.decisions.moves] == ["cart"]
    assert result.outcomes == ()
    assert {request.method for request in fake_api.requests} == {"GET"}


def test_cluster_with_one_ready_node_is_left_alone(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, TAINTED, node_object("dead", ready=False), pod_object("cart", node="tainted"))

    result = run(client, taint_policy())

    assert result.decisions.skipped == "only 1 ready node matches the policy; at least 2 are required"
    assert eviction_requests(fake_api) == []


def test_pod_wanted_by_two_plugins_is_asked_for_once(fake_api: FakeApi, client: KubeClient) -> None:
    policy = upstream(
        """\
        profiles:
        - name: p
          pluginConfig:
          - name: RemovePodsViolatingNodeTaints
          - name: PodLifeTime
            args: {maxPodLifeTimeSeconds: 60}
          plugins: {deschedule: {enabled: [RemovePodsViolatingNodeTaints, PodLifeTime]}}
        """
    )
    serve(fake_api, *crowded_cluster("cart"))

    result = run(client, policy)

    assert len(eviction_requests(fake_api)) == 1
    assert [(o.eviction.plugin, o.kind, o.code) for o in result.outcomes] == [
        ("RemovePodsViolatingNodeTaints", OutcomeKind.EVICTED, OutcomeCode.DONE),
    ]


def test_pod_with_several_owners_is_asked_for_once(fake_api: FakeApi, client: KubeClient) -> None:
    policy = upstream(
        "profiles:\n- pluginConfig: [{name: RemoveDuplicates}]\n  plugins: {balance: {enabled: [RemoveDuplicates]}}\n"
    )
    owners = ["ReplicaSet/one", "ReplicaSet/two"]
    pods = [pod_object(f"twin-{number}", node="a", owners=owners) for number in range(2)]
    serve(fake_api, node_object("a"), node_object("b"), *pods)

    result = run(client, policy)

    sent = [request.path for request in eviction_requests(fake_api)]
    assert len(sent) == 1
    assert [o.code for o in result.outcomes] == [OutcomeCode.DONE]


def test_run_that_evicts_says_on_request_where_replacements_are_expected(fake_api: FakeApi, client: KubeClient) -> None:
    """As its dry run does."""
    serve(fake_api, *crowded_cluster("cart"))

    planned = run(client, taint_policy(), options=replace(FAST, dry_run=True))
    (outcome,) = run(client, taint_policy(), options=replace(FAST, most_assessed=10)).outcomes

    assert outcome.eviction.landing is not None
    assert outcome.eviction.landing.node == planned.decisions.moves[0].to_node == "free"


def test_list_that_no_decision_needs_ends_no_run(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("cart"))
    fake_api.fail_always("GET", "/api/v1/limitranges", failure(500, "InternalError", "boom"))

    result = run(client, taint_policy(), options=replace(FAST, most_assessed=10))

    assert codes(result) == {"cart": OutcomeCode.DONE}
    (warning,) = (text for text in result.decisions.snapshot.warnings if "LimitRange" in text)
    assert warning.startswith("LimitRange objects cannot be read, so replacements are predicted without: ")


def test_run_that_evicts_lists_only_kinds_that_the_policy_needs(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("cart"))

    run(client, taint_policy())

    assert listed_paths(fake_api) == {"/api/v1/nodes", "/api/v1/pods", "/apis/policy/v1/poddisruptionbudgets"}
    assert not any("secrets" in request.path for request in fake_api.requests)


def test_priority_class_is_read_only_for_a_policy_that_names_one(fake_api: FakeApi, client: KubeClient) -> None:
    policy = upstream(
        """\
        profiles:
        - name: p
          pluginConfig:
          - name: DefaultEvictor
            args: {priorityThreshold: {name: precious}}
          - name: RemovePodsViolatingNodeTaints
          plugins: {deschedule: {enabled: [RemovePodsViolatingNodeTaints]}}
        """
    )
    precious = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "precious"},
        "value": 100,
    }
    low, high = (pod_object(name, node="tainted", priority=p) for name, p in (("low", 1), ("high", 100)))
    serve(fake_api, TAINTED, node_object("free"), low, high, precious)

    result = run(client, policy)

    assert codes(result) == {"low": OutcomeCode.DONE}
    assert "/apis/scheduling.k8s.io/v1/priorityclasses" in listed_paths(fake_api)


def test_server_that_offers_no_evictions_is_an_error(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("cart"))
    fake_api.core_resources = [{"name": "pods", "kind": "Pod"}]

    with pytest.raises(ExchangeError, match="does not serve pods/eviction"):
        run(client, taint_policy())


def test_server_that_hides_its_version_is_run_all_the_same(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("cart"))
    fake_api.fail_always("GET", "/version", failure(403, "Forbidden", "forbidden"))

    result = run(client, taint_policy())

    assert codes(result) == {"cart": OutcomeCode.DONE}


def test_server_that_cannot_be_reached_is_an_error_that_names_it(
    tmp_path: Path,
) -> None:
    with FakeApi() as gone:
        kubeconfig = gone.write_kubeconfig(tmp_path / "kubeconfig")
        url = gone.url

    with pytest.raises(ExchangeError, match=rf"{url}: no connection .* \(tried 5 times\)"):
        run_on_cluster(
            load_policy(taint_policy(), REGISTRY),
            ConnectionOptions(kubeconfig=str(kubeconfig)),
            RunOptions(),
            Watch(sleep=lambda seconds: None),
            now=NOW,
        )


def test_policy_names_the_kubeconfig_when_the_caller_gives_none(
    fake_api: FakeApi, kubeconfig: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", "/nonexistent")
    serve(fake_api, *crowded_cluster("cart"))
    policy = koordinator(f"dryRun: true\nclientConnection: {{kubeconfig: {json.dumps(str(kubeconfig))}}}\n")

    run_on_cluster(load_policy(policy, REGISTRY), ConnectionOptions(), RunOptions(), Watch(), now=NOW)

    assert "/api/v1/pods" in listed_paths(fake_api)
