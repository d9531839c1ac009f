from __future__ import annotations

import pytest

from descheduler.kube.client import KubeClient
from descheduler.kube.lists.listing import column_cells
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.guards import Health, read_health
from tests.builders import Object, node_object, pod_object
from tests.integration.fake_api import FakeApi
from tests.integration.faults import Answer

NODES = "/api/v1/nodes"


def serve_nodes(fake_api: FakeApi) -> None:
    fake_api.add(NODES, node_object("a"), node_object("b", ready=False), node_object("c", unschedulable=True))


def waiting(name: str) -> Object:
    """A pod for which no node was found."""
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    return pod_object(name, node="", phase="Pending", conditions=[condition])


def test_one_column_is_read_without_objects_and_from_the_cache(fake_api: FakeApi, client: KubeClient) -> None:
    serve_nodes(fake_api)

    cells = column_cells(client, NODES, "Status")

    assert cells == ("Ready", "NotReady", "Ready,SchedulingDisabled")
    (request,) = fake_api.requests
    assert request.headers["accept"].startswith("application/json;as=Table;")
    assert request.query == {"includeObject": "None", "resourceVersion": "0"}


def test_there_is_no_such_column(fake_api: FakeApi, client: KubeClient) -> None:
    serve_nodes(fake_api)

    assert column_cells(client, NODES, "Mood") is None


def test_health_is_two_small_answers(fake_api: FakeApi, client: KubeClient) -> None:
    serve_nodes(fake_api)
    fake_api.add("/api/v1/pods", pod_object("runs"), waiting("waits"))

    health = read_health(ObjectCalls(client))

    assert health == Health(num_nodes=3, num_not_ready=1, num_unschedulable=1)
    assert [request.query.get("fieldSelector") for request in fake_api.requests] == [
        None,
        "status.phase=Pending,spec.nodeName=",
    ]


def test_pods_are_counted_by_the_first_page_of_their_list(fake_api: FakeApi, client: KubeClient) -> None:
    page = {"kind": "PodList", "metadata": {"remainingItemCount": 41}, "items": [pod_object("first")]}
    fake_api.fail_always("GET", "/api/v1/pods", Answer(200, page))

    health = read_health(ObjectCalls(client), counts_pods=True)

    assert health.num_pods == 42
    assert fake_api.requests[-1].query == {"limit": "1"}


def test_nodes_are_read_whole_where_the_server_makes_no_tables(fake_api: FakeApi, client: KubeClient) -> None:
    serve_nodes(fake_api)
    whole = {"kind": "NodeList", "apiVersion": "v1", "metadata": {}, "items": fake_api.objects[NODES]}
    fake_api.fail_always("GET", NODES, Answer(200, whole))

    assert read_health(ObjectCalls(client)) == Health(num_nodes=3, num_not_ready=1, num_unschedulable=0)


def table(columns: list[str], *rows: list[object]) -> Object:
    columned = [{"name": name} for name in columns]
    return {"kind": "Table", "columnDefinitions": columned, "rows": [{"cells": row} for row in rows]}


@pytest.mark.parametrize(
    ("answered", "cells"),
    [
        (table(["Status"], ["a"], []), ("a", "")),
        (table(["X", "Status"], [1, 2]), ("2",)),
        (table(["X"]), None),
        (table(["Status"]) | {"kind": "NodeList"}, None),
    ],
)
def test_cells_of_a_column_are_those_of_a_table(
    fake_api: FakeApi, client: KubeClient, answered: Object, cells: tuple[str, ...] | None
) -> None:
    fake_api.fail_next("GET", NODES, Answer(200, answered))

    assert column_cells(client, NODES, "Status") == cells
