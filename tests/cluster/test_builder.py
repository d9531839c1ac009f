"""Collecting decoded objects."""

from __future__ import annotations

import json

import pytest

from descheduler.cluster.builder import MAX_LIST_DEPTH, SnapshotBuilder
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


def namespace(name: str, **metadata: object) -> Object:
    return {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name, **metadata}}


def listed(*items: object, kind: str = "List", **metadata: object) -> Object:
    return {"kind": kind, "apiVersion": "v1", "metadata": metadata, "items": list(items)}


def refusal(obj: Object, builder: SnapshotBuilder | None = None) -> str:
    with pytest.raises(SnapshotError) as caught:
        (builder or SnapshotBuilder("dump")).add_object(block(obj))
    return str(caught.value)


def test_objects_of_a_list_are_counted_whether_they_are_read_or_not() -> None:
    builder = SnapshotBuilder("dump")
    widgets = listed({"a": 1}, {"b": 2}, kind="WidgetList")

    assert builder.add_object(block(namespace("a"))) == 1
    assert builder.add_object(block({"kind": "Widget", "apiVersion": "v9"})) == 1
    assert builder.add_object(block(widgets)) == 2
    assert builder.add_object(block(listed(namespace("b"), widgets, listed(namespace("c"))))) == 4
    assert builder.add_array(json.dumps([namespace("d"), namespace("e")]).encode()) == 2
    assert builder.add_page(KINDS["Namespace"], block(listed(kind="NamespaceList"))) == 0
    assert builder.add_page(KINDS["Namespace"], block(listed(namespace("f"), kind="NamespaceList"))) == 1
    assert sorted(builder.finish().namespaces) == list("abcdef")


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        pytest.param(
            {"kind": "Status", "apiVersion": "v1", "message": "no"},
            "dump: an answer of the API server instead of objects: no",
            id="a Status",
        ),
        pytest.param(
            {"kind": "Status", "apiVersion": "v1"}, "dump: an answer of the API server instead of objects: ", id="bare"
        ),
        pytest.param(
            {"metadata": {}}, "dump: an object without kind; a dump holds whole Kubernetes objects", id="no kind"
        ),
        pytest.param(listed(5), "dump: not a Kubernetes object but 5", id="a number in a list"),
        pytest.param({"kind": "List", "items": {}}, "dump: the list cannot be read: its items are {}", id="no array"),
    ],
)
def test_what_is_no_object_is_refused(obj: Object, message: str) -> None:
    assert refusal(obj) == message


def test_status_of_another_group_is_an_object() -> None:
    assert SnapshotBuilder("dump").add_object(block({"kind": "Status", "apiVersion": "example.com/v1"})) == 1


@pytest.mark.parametrize("metadata", [{"continue": "x"}, {"remainingItemCount": 1}], ids=["a token", "a number"])
@pytest.mark.parametrize("kind", ["PodList", "NamespaceList", "List", "WidgetList"])
def test_one_page_of_several_is_refused(kind: str, metadata: Object) -> None:
    assert refusal(listed(kind=kind, **metadata)).startswith(
        f"dump: the {kind} is one page of several, so the dump is not complete"
    )
    builder = SnapshotBuilder("dump")
    assert builder.add_object(block(listed(kind=kind, **{"continue": "", "remainingItemCount": 0}))) == 0


def test_lists_are_nested_as_deeply_as_tools_nest_them() -> None:
    inner = listed(namespace("a"))
    for _ in range(MAX_LIST_DEPTH - 1):
        inner = listed(inner)

    assert SnapshotBuilder("dump").add_object(block(inner)) == 1
    assert refusal(listed(inner)) == f"dump: lists are nested {MAX_LIST_DEPTH} deep; join the dumps into one list"


@pytest.mark.parametrize(
    ("line", "indent", "place"),
    [(1, 1, "dump:20"), (7, 1, "dump:26"), (0, 1, "dump"), (7, None, "dump:7")],
    ids=["of the first line", "of a later line", "of no line", "of one line"],
)
def test_line_of_an_object_is_told_where_the_text_has_lines(line: int, indent: int | None, place: str) -> None:
    broken = {"kind": "Pod", "apiVersion": "v1"}
    text = json.dumps(listed(namespace("a"), namespace("b"), broken, service("c")), indent=indent)

    with pytest.raises(SnapshotError) as caught:
        SnapshotBuilder("dump", line=line).add_object(text.encode())

    assert str(caught.value).startswith(f"{place}: Pod without a name is invalid")


def test_line_is_as_before_behind_a_list() -> None:
    builder = SnapshotBuilder("dump", line=7)

    builder.add_object(json.dumps(listed(namespace("a"), namespace("b")), indent=1).encode())

    assert builder.place == "dump:7"


def test_broken_object_of_a_live_cluster_is_left_out_unless_pods_could_be_evicted_without_it() -> None:
    builder = SnapshotBuilder("server", is_live=True)
    builder.add_object(block(namespace("a", labels=5)))

    assert "Pod default/x is invalid" in refusal(pod_object("x", cpu="?"), builder)
    assert [sentence.partition(" is invalid")[0] for sentence in builder.finish().skipped] == ["Namespace a"]


def budget(name: str) -> Object:
    return {
        "kind": "PodDisruptionBudget",
        "apiVersion": "policy/v1",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {},
    }


def service(name: str) -> Object:
    return {"kind": "Service", "apiVersion": "v1", "metadata": {"name": name, "namespace": "shop"}}


def test_object_without_which_pods_could_be_evicted_is_in_a_list_once() -> None:
    builder = SnapshotBuilder("server", is_live=True)
    builder.add_object(block(budget("x")))
    mark = builder.mark()
    for name in ("x", "y", "x"):
        builder.add_object(block(budget(name)))

    with pytest.raises(SnapshotError, match=r"PodDisruptionBudget shop/x is in the list twice$"):
        builder.require_once(KINDS["PodDisruptionBudget.policy"], mark)


def test_of_others_that_are_in_a_list_twice_the_first_counts() -> None:
    builder = SnapshotBuilder("server", is_live=True)
    for name in ("early", "x"):
        builder.add_object(block(service(name)))
    mark = builder.mark()
    for name in ("x", "y", "x"):
        builder.add_object(block(service(name)))

    builder.require_once(KINDS["Service"], mark)

    assert [each.name for each in builder.objects["Service"]] == ["early", "x", "x", "y"]
    assert builder.skipped == ["Service shop/x is in the list twice"]


def test_list_that_holds_each_object_once_stays_as_it_is() -> None:
    builder = SnapshotBuilder("server", is_live=True)
    mark = builder.mark()
    builder.add_object(block(service("x")))
    builder.add_object(block(service("y")))

    builder.require_once(KINDS["Service"], mark)

    assert [each.name for each in builder.objects["Service"]] == ["x", "y"]
    assert builder.skipped == []


@pytest.mark.parametrize(
    ("counts", "is_few"),
    [
        ({"Pod": 500_000}, True),
        ({"Pod": 500_001}, False),
        ({"Pod": 500_000, "Node": 500_000}, True),
        ({"Pod": 500_000, "Node": 500_000, "Service": 1}, False),
    ],
)
def test_no_cluster_holds_more_than_half_a_million_objects_of_a_kind_or_a_million(
    counts: dict[str, int], is_few: bool
) -> None:
    builder = SnapshotBuilder("server")
    for key, number in counts.items():
        builder.objects[key] = [None] * number

    if is_few:
        builder.require_few(KINDS["Pod"])
    else:
        with pytest.raises(SnapshotError, match=r"^server: /api/v1/pods: more than 500,000 objects"):
            builder.require_few(KINDS["Pod"])


def test_warnings_count_in_words() -> None:
    builder = SnapshotBuilder()
    for obj in (node_object("a"), pod_object("p", node="gone", uid=""), pod_object("q", node="gone", uid="")):
        builder.add_object(block(obj))

    assert builder.finish().warnings == (
        "2 pods are bound to nodes not in the snapshot, such as default/p to gone; ignored",
        "2 of 2 pods have no metadata.uid, which the API server gives to every pod; pods without one are never evicted",
    )


def test_snapshot_is_sorted_by_namespace_before_name() -> None:
    builder = SnapshotBuilder()
    for space, name in (("b", "a"), ("a", "b"), ("a-b", "a"), ("a", "a")):
        builder.add_object(block(pod_object(name, namespace=space)))
    builder.add_object(block(node_object("n")))

    assert [pod.key for pod in builder.finish().pods] == ["a/a", "a/b", "a-b/a", "b/a"]
    builder.add_object(block(node_object("n")))
    with pytest.raises(SnapshotError, match="node n appears twice; names must be unique"):
        builder.finish()
