"""Whoever lacks a right is told the rule that grants it."""

from __future__ import annotations

import pytest

from descheduler.kube.objects import rule_to_add


@pytest.mark.parametrize(
    ("method", "path", "rule", "where"),
    [
        pytest.param(
            "POST",
            "/apis/scheduling.koordinator.sh/v1alpha1/podmigrationjobs",
            "{apiGroups: [scheduling.koordinator.sh], resources: [podmigrationjobs], verbs: [create]}",
            "a ClusterRole",
            id="a job",
        ),
        pytest.param(
            "PATCH",
            "/apis/scheduling.koordinator.sh/v1alpha1/podmigrationjobs/j/status",
            "{apiGroups: [scheduling.koordinator.sh], resources: [podmigrationjobs/status], verbs: [patch]}",
            "a ClusterRole",
            id="the status of a job",
        ),
        pytest.param(
            "DELETE",
            "/api/v1/namespaces/shop/pods/placeholder-1",
            '{apiGroups: [""], resources: [pods], verbs: [delete]}',
            "a Role in namespace shop",
            id="a placeholder",
        ),
        pytest.param(
            "GET",
            "/apis/scheduling.koordinator.sh/v1alpha1/reservations?limit=500",
            "{apiGroups: [scheduling.koordinator.sh], resources: [reservations], verbs: [list]}",
            "a ClusterRole",
            id="a list",
        ),
        pytest.param(
            "GET",
            "/api/v1/namespaces/shop",
            '{apiGroups: [""], resources: [namespaces], verbs: [get]}',
            "a ClusterRole",
            id="a namespace",
        ),
    ],
)
def test_rule_is_that_of_the_request(method: str, path: str, rule: str, where: str) -> None:
    assert rule_to_add(method, path) == f"add this rule to {where}: {rule}"


def test_paths_of_no_object_take_no_rule() -> None:
    assert rule_to_add("GET", "/version") == ""
