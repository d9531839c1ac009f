"""Which nodes count as not ready, and which pods find no node, by tables of the server or by whole objects."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from descheduler.kube.client import KubeClient
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.guards import read_health
from tests.builders import node_object, pod_object
from tests.integration.fake_api import FakeApi

NODES, PODS = "/api/v1/nodes", "/api/v1/pods"
READY, NOT_READY, UNKNOWN = ("Ready", "True"), ("Ready", "False"), ("Ready", "Unknown")


def add_node(api: FakeApi, *conditions: tuple[str, str]) -> None:
    node = node_object("n")
    node["status"]["conditions"] = [{"type": kind, "status": status} for kind, status in conditions]
    api.add(NODES, node)


CONDITIONS = pytest.mark.parametrize(
    ("conditions", "num_not_ready"),
    [
        ([READY], 0),
        ([NOT_READY], 1),
        ([UNKNOWN], 1),
        ([("MemoryPressure", "False"), READY], 0),
        ([("MemoryPressure", "True"), NOT_READY], 1),
        ([], 0),
    ],
)


@CONDITIONS
def test_a_node_is_not_ready_by_its_condition_ready_alone(
    fake_api: FakeApi, client: KubeClient, conditions: list[tuple[str, str]], num_not_ready: int
) -> None:
    add_node(fake_api, *conditions)
    fake_api.add(PODS)

    health = read_health(ObjectCalls(client))

    assert (health.num_nodes, health.num_not_ready) == (1, num_not_ready)


class WithoutTables(ObjectCalls):
    """A server that sends whole objects, whatever is asked for; there is one node, and no pod."""

    def __init__(self, node: dict[str, Any]) -> None:
        self._node = node

    @property
    def client(self) -> Any:
        """Itself."""
        return self

    def fetch(self, path: str, decode: Callable[[bytes], Any], **options: object) -> Any:
        """The list of nodes."""
        return decode(json.dumps({"kind": "NodeList", "items": [self._node]}).encode())

    def list(self, list_path: str, decode: Callable[[bytes], Any], **options: Any) -> tuple[Any, ...]:
        """The node."""
        return (decode(json.dumps(self._node).encode()),)

    def list_readable(self, list_path: str, decode: Callable[[bytes], Any], **options: Any) -> tuple[Any, ...]:
        """No pod."""
        return ()


@CONDITIONS
def test_a_whole_node_is_not_ready_by_the_same_condition(conditions: list[tuple[str, str]], num_not_ready: int) -> None:
    node = node_object("n")
    node["status"]["conditions"] = [{"type": kind, "status": status} for kind, status in conditions]

    health = read_health(WithoutTables(node))

    assert (health.num_nodes, health.num_not_ready) == (1, num_not_ready)


@pytest.mark.parametrize(
    ("kind", "reason", "num_unschedulable"),
    [("PodScheduled", "Unschedulable", 1), ("PodScheduled", "SchedulingGated", 0), ("Ready", "Unschedulable", 0)],
)
def test_a_pod_that_the_scheduler_tried_in_vain_is_unschedulable(
    fake_api: FakeApi, client: KubeClient, kind: str, reason: str, num_unschedulable: int
) -> None:
    pod = pod_object("web", node="", phase="Pending")
    pod["status"]["conditions"] = [{"type": kind, "status": "False", "reason": reason}]
    fake_api.add(NODES)
    fake_api.add(PODS, pod)

    assert read_health(ObjectCalls(client)).num_unschedulable == num_unschedulable
