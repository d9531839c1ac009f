"""What a row of the table of kinds says of its kind."""

from __future__ import annotations

import json
from typing import Any

import pytest

from descheduler.cluster.kind import Kind, kind_key, name_of, unshared
from descheduler.cluster.kinds import KINDS, kind_of
from descheduler.model.objects import Namespace, Service


def kind(name: str, api_version: str, **facts: Any) -> Kind[Namespace]:
    return Kind(name, api_version, decoder=unshared(lambda block: Namespace(json.loads(block), {})), **facts)


@pytest.mark.parametrize(
    ("row", "key", "path", "resource"),
    [
        (kind("Pod", "v1"), "Pod", "/api/v1/pods", "pods"),
        (kind("Ingress", "net/v1"), "Ingress.net", "/apis/net/v1/ingresses", "ingresses.net"),
        (kind("Policy", "a.b/v1"), "Policy.a.b", "/apis/a.b/v1/policies", "policies.a.b"),
        (kind("NodeMetrics", "m/v1", plural="nodes"), "NodeMetrics.m", "/apis/m/v1/nodes", "nodes.m"),
    ],
)
def test_kind_has_a_key_a_path_and_a_name_for_kubectl(row: Kind[Namespace], key: str, path: str, resource: str) -> None:
    assert (row.key, row.path, row.resource) == (key, path, resource)


def test_older_versions_of_a_kind_are_the_same_kind() -> None:
    newest = kind("X", "g/v2", plural="xx", older_versions=("g/v1", "g/v1beta1"))

    assert [(each.api_version, each.key, each.path, each.older_versions) for each in newest.in_older_versions] == [
        ("g/v1", "X.g", "/apis/g/v1/xx", ()),
        ("g/v1beta1", "X.g", "/apis/g/v1beta1/xx", ()),
    ]


@pytest.mark.parametrize(
    ("version", "name", "key"),
    [
        ("v1", "Pod", "Pod"),
        ("", "Pod", "Pod"),
        ("v7", "Pod", "Pod"),
        ("apps/v1beta1", "Deployment", "Deployment.apps"),
        ("v1", "Deployment", None),
        ("apps/v1", "Pod", None),
    ],
)
def test_kind_of_an_object_is_known_by_its_group(version: str, name: str, key: str | None) -> None:
    found = kind_of(KINDS, version, name)

    assert (found and found.key) == key
    assert kind_key(name, version) == (key or kind_key(name, version))


def test_object_without_a_namespace_is_named_by_its_name() -> None:
    assert name_of(Namespace("a", {})) == ("", "a")
    assert name_of(Service("n", "a", {})) == ("n", "a")
