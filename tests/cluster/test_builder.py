"""Collecting decoded objects."""

from __future__ import annotations

import json

import pytest

from descheduler.cluster.builder import SnapshotBuilder
from descheduler.cluster.kinds import KINDS
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import SnapshotError
from tests.builders import Object, node_object, pod_object


def block(obj: Object) -> bytes:
    return json.dumps(obj).encode()


def pod_list(*pods: Object) -> Object:
    return {"kind": "PodList", "apiVersion": "v1", "items": list(pods)}


def test_rollback_forgets_what_was_read_since_the_mark() -> None:
    builder = SnapshotBuilder("server", SnapshotRequest(skip_broken=True))
    builder.add_object(block(node_object("a")))
    mark = builder.mark()
    builder.add_object(block(pod_list(pod_object("x"), pod_object("bad", cpu="?"))))
    builder.add_object(block({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "shop"}}))

    builder.rollback(mark)

    snapshot = builder.finish()
    assert [node.name for node in snapshot.nodes] == ["a"]
    assert (snapshot.pods, snapshot.skipped, dict(snapshot.namespaces)) == ((), (), {})


@pytest.mark.parametrize("padding", [0, 500], ids=["kind comes first", "kind comes late"])
def test_pod_list_is_read_wherever_it_says_so(padding: int) -> None:
    builder = SnapshotBuilder("dump")
    page = {"metadata": {"annotation": "x" * padding}} | pod_list(pod_object("x"))

    assert builder.add_object(block(page)) == 1
    assert builder.add_page(KINDS["Pod"], block(pod_list(pod_object("y")))) == 1
    assert [pod.name for pod in builder.finish().pods] == ["x", "y"]


def test_text_that_only_mentions_a_pod_list_is_not_one() -> None:
    builder = SnapshotBuilder("dump")
    namespace = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "a", "labels": {"x": "PodList"}}}

    builder.add_object(block(namespace))

    assert list(builder.finish().namespaces) == ["a"]


@pytest.mark.parametrize(
    "obj",
    [
        pytest.param(pod_list(pod_object("x"), pod_object("x")), id="pods"),
        pytest.param(pod_list(pod_object("x"), pod_object("y"), pod_object("x")), id="pods apart"),
    ],
)
def test_one_name_stands_for_one_pod(obj: Object) -> None:
    builder = SnapshotBuilder("dump")
    builder.add_object(block(obj))

    with pytest.raises(SnapshotError, match="dump: pod default/x appears twice"):
        builder.finish()


def test_budget_that_its_controller_has_not_seen_yet_allows_nothing_known() -> None:
    builder = SnapshotBuilder("dump")
    for name, observed in (("current", 2), ("stale", 1)):
        budget = {
            "kind": "PodDisruptionBudget",
            "apiVersion": "policy/v1",
            "metadata": {"name": name, "namespace": "shop", "generation": 2},
            "spec": {"selector": {}},
            "status": {"observedGeneration": observed, "disruptionsAllowed": 3},
        }
        builder.add_object(block(budget))

    assert [budget.disruptions_allowed for budget in builder.finish().budgets] == [3, None]


def test_pods_of_nodes_that_were_not_read_are_named_in_a_warning() -> None:
    builder = SnapshotBuilder()
    for obj in (
        node_object("a"),
        pod_object("here", node="a"),
        pod_object("stray", node="gone"),
        pod_object("waits", node=""),
    ):
        builder.add_object(block(obj))

    snapshot = builder.finish()

    assert snapshot.warnings == (
        "1 pod is bound to a node not in the snapshot, such as default/stray to gone; ignored",
    )


def test_pods_that_no_api_server_has_stored_are_counted_in_a_warning() -> None:
    builder = SnapshotBuilder()
    for obj in (node_object("a"), pod_object("stored", node="a"), pod_object("drawn-up", node="a", uid="")):
        builder.add_object(block(obj))

    assert builder.finish().warnings == (
        "1 of 2 pods has no metadata.uid, which the API server gives to every pod; pods without one are never evicted",
    )
