"""ElasticQuotas of Koordinator, and PodGroups of three API groups, as the API gives them."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from descheduler.cluster.decoding.koordinator.pod_groups import (
    decode_elastic_quota,
    decode_kubernetes_pod_group,
    decode_pod_group,
    decode_scheduler_plugins_pod_group,
)
from descheduler.model.koordinator.elastic_quota import ElasticQuota
from descheduler.model.koordinator.gang_settings import PodGroup
from tests.builders import Object

CREATED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
CORE = 10**9
DOMAIN = "quota.scheduling.koordinator.sh"


def quota(
    name: str = "q", *, labels: Object | None = None, annotations: Object | None = None, **spec: object
) -> ElasticQuota:
    """A quota with these labels and annotations of the domain of quotas."""
    metadata = {
        "name": name,
        "labels": {f"{DOMAIN}/{key}": text for key, text in (labels or {}).items()},
        "annotations": {f"{DOMAIN}/{key}": text for key, text in (annotations or {}).items()},
    }
    return decode_elastic_quota(json.dumps({"metadata": metadata, "spec": spec}).encode())


def test_quota_that_says_nothing_is_below_the_root_and_lends() -> None:
    assert quota() == ElasticQuota("q")
    assert decode_elastic_quota(b'{"metadata": null}') == ElasticQuota("")
    assert quota("koordinator-root-quota").parent == ""


def test_all_that_a_quota_says_is_read() -> None:
    labels = {
        "parent": "p",
        "is-parent": "true",
        "allow-lent-resource": "false",
        "tree-id": "t",
        "is-root": "true",
        "ignore-default-tree": "true",
    }
    annotations = {
        "shared-weight": '{"cpu": 3}',
        "namespaces": '["a", null]',
        "total-resource": '{"cpu": "9"}',
    }

    found = quota(labels=labels, annotations=annotations, min={"cpu": 1}, max={"cpu": "2"})

    assert found == ElasticQuota(
        "q",
        min={"cpu": CORE},
        max={"cpu": 2 * CORE},
        shared_weight={"cpu": 3 * CORE},
        parent="p",
        is_parent=True,
        lends=False,
        tree_id="t",
        is_tree_root=True,
        ignores_default_tree=True,
        namespaces=("a", ""),
        total={"cpu": 9 * CORE},
    )


@pytest.mark.parametrize("key", ["is-parent", "is-root", "ignore-default-tree"])
def test_switch_of_a_quota_is_on_where_it_says_true(key: str) -> None:
    assert quota(labels={key: "True"}) == ElasticQuota("q")
    assert quota(labels={"allow-lent-resource": "no"}) == ElasticQuota("q")


def test_quota_knows_its_namespace_and_that_it_is_being_deleted() -> None:
    metadata = {"name": "q", "namespace": "n", "deletionTimestamp": "2026-01-02T03:04:05Z"}

    found = decode_elastic_quota(json.dumps({"metadata": metadata}).encode())

    assert found == ElasticQuota("q", "n", is_deleted=True)


@pytest.mark.parametrize(
    ("annotations", "weight"),
    [
        ({}, {"cpu": 2 * CORE}),
        ({"shared-weight": ""}, {"cpu": 2 * CORE}),
        ({"shared-weight": "{"}, {"cpu": 2 * CORE}),
        ({"shared-weight": '{"cpu": 0, "memory": 0}'}, {"cpu": 2 * CORE}),
        ({"shared-weight": '{"cpu": 0, "memory": 1}'}, {"cpu": 0, "memory": CORE}),
    ],
)
def test_weight_of_a_quota_is_its_maximum_unless_it_states_one(annotations: Object, weight: Object) -> None:
    assert quota(annotations=annotations, max={"cpu": 2}).shared_weight == weight


def test_annotations_of_a_quota_that_cannot_be_read_count_as_missing() -> None:
    found = quota(annotations={"namespaces": "{", "total-resource": '{"cpu": "?"}'})

    assert (found.namespaces, found.total) == ((), None)
    assert quota(annotations={"namespaces": "null", "total-resource": "{}"}).namespaces == ()


@pytest.mark.parametrize(
    ("decode", "group"),
    [
        (decode_pod_group, "scheduling.sigs.k8s.io"),
        (decode_scheduler_plugins_pod_group, "scheduling.x-k8s.io"),
    ],
)
def test_group_says_how_many_pods_it_needs_and_for_how_long_they_wait(decode: type, group: str) -> None:
    wire = {
        "metadata": {
            "namespace": "n",
            "name": "g",
            "creationTimestamp": "2026-01-02T03:04:05Z",
            "annotations": {"gang.scheduling.koordinator.sh/mode": "Strict", "example.com/x": "y"},
        },
        "spec": {"minMember": 3, "scheduleTimeoutSeconds": 0},
    }

    assert decode(json.dumps(wire).encode()) == PodGroup(
        "n", "g", 3, 0, {"gang.scheduling.koordinator.sh/mode": "Strict"}, CREATED, group
    )
    assert decode(b"{}") == PodGroup("", "", api_group=group)


@pytest.mark.parametrize(
    ("spec", "least", "leaves_whole"),
    [
        pytest.param({}, 0, False, id="nothing"),
        pytest.param({"schedulingPolicy": {"basic": {}}}, 0, False, id="a basic group"),
        pytest.param({"schedulingPolicy": {"gang": {}}}, 0, False, id="a gang without a number"),
        pytest.param({"schedulingPolicy": {"gang": {"minCount": 3}}}, 3, False, id="a gang"),
        pytest.param({"disruptionMode": "PodGroup"}, 0, True, id="disrupted whole as 1.36 writes it"),
        pytest.param({"disruptionMode": "Pod"}, 0, False, id="pod by pod as 1.36 writes it"),
        pytest.param({"disruptionMode": {"all": {}}}, 0, True, id="disrupted whole"),
        pytest.param({"disruptionMode": {"single": {}}}, 0, False, id="pod by pod"),
        pytest.param({"disruptionMode": {}}, 0, False, id="no mode"),
    ],
)
def test_group_of_kubernetes_may_be_a_gang_and_be_disrupted_whole(
    spec: Object, least: int, *, leaves_whole: bool
) -> None:
    wire = {
        "metadata": {"namespace": "n", "name": "g", "creationTimestamp": "2026-01-02T03:04:05Z"},
        "spec": spec,
    }

    assert decode_kubernetes_pod_group(json.dumps(wire).encode()) == PodGroup(
        "n", "g", least, created_at=CREATED, api_group="scheduling.k8s.io", leaves_whole=leaves_whole
    )
