"""What calls for single objects make of answers: rights that are missing, and deletions that nobody confirmed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

import pytest

from descheduler.kube.errors import ApiError
from descheduler.kube.objects import ObjectCalls, rule_to_add
from descheduler.transport.errors import TransportError


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


class CutOff:
    """A client whose calls that write get no answer; reads find an object with this metadata, or none."""

    def __init__(self, metadata: dict[str, str] | None) -> None:
        self._metadata = metadata

    def send(self, method: str, path: str, **parts: object) -> None:
        """No answer comes."""
        raise TransportError(f"{method} {path}: the connection was lost")

    def fetch(self, path: str, decode: Callable[[bytes], Any], **parts: object) -> Any:
        """The object as it is."""
        if self._metadata is None:
            raise ApiError(f"GET {path}: there is none", status_code=404, reason="NotFound")
        return decode(json.dumps({"metadata": self._metadata}).encode())


@pytest.mark.parametrize(
    ("metadata", "is_deleted"),
    [
        pytest.param(None, True, id="it is gone"),
        pytest.param({"uid": "other"}, True, id="another one has its name"),
        pytest.param({"uid": "own", "deletionTimestamp": "2026-01-15T12:00:00Z"}, True, id="it is about to go"),
        pytest.param({"uid": "own"}, False, id="it is there as before"),
    ],
)
def test_object_is_looked_at_after_a_deletion_without_an_answer(
    metadata: dict[str, str] | None, is_deleted: bool
) -> None:
    objects = ObjectCalls(cast(Any, CutOff(metadata)))

    if is_deleted:
        assert objects.delete("/api/v1/namespaces/shop/pods/web", uid="own")
    else:
        with pytest.raises(TransportError, match="the connection was lost"):
            objects.delete("/api/v1/namespaces/shop/pods/web", uid="own")
