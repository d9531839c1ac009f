from __future__ import annotations

import json
from typing import Any

import pytest

from descheduler.kube.lists import body
from descheduler.kube.lists.body import (
    ListBodyReader,
    comes_in_one_piece,
    kind_in,
    require_few_values,
    version_in,
)
from descheduler.transport.errors import AnswerTooLarge, ExchangeError

BUDGETS = "/apis/policy/v1/poddisruptionbudgets"
USAGE = "/apis/metrics.k8s.io/v1beta1/nodes"


def page(**changes: Any) -> bytes:
    """An empty page of budgets with these top-level fields; None leaves one out."""
    whole = {"kind": "PodDisruptionBudgetList", "apiVersion": "policy/v1", "metadata": {}, "items": []} | changes
    return json.dumps({name: field for name, field in whole.items() if field is not None}).encode()


@pytest.mark.parametrize(
    ("body", "found"),
    [
        pytest.param(page(kind="Status", message="no\nsuch thing"), r"a Status: no\\nsuch thing", id="a Status"),
        pytest.param(page(kind="PodDisruptionBudget"), "a PodDisruptionBudget of policy/v1", id="a single object"),
        pytest.param(page(kind=None), "JSON without a kind", id="no kind"),
        pytest.param(page(apiVersion="x.io/v1"), "a PodDisruptionBudgetList of x.io/v1", id="another group"),
        pytest.param(page(metadata=None), "without metadata", id="no metadata"),
        pytest.param(page(items=None), "without items", id="no items"),
        pytest.param(page().replace(b"[]", b"null"), "with items: null", id="items: null"),
        pytest.param(page(items={}), "Expected `array", id="items that are an object"),
        pytest.param(page(items=[7]), "Expected `object`", id="items that are numbers"),
        pytest.param(page(items=[{}, {"kind": "ConfigMap"}]), "holds a ConfigMap", id="an item of another kind"),
        pytest.param(page(items=[{"apiVersion": "v1"}]), "holds JSON without a kind", id="an item of another group"),
        pytest.param(b"[]", "JSON of another shape", id="an array"),
    ],
)
def test_answer_that_is_not_the_list_is_an_error_and_named(body: bytes, found: str) -> None:
    with pytest.raises(ExchangeError, match=rf"GET {BUDGETS}: the answer is not the list of .*, but .*{found}"):
        ListBodyReader(BUDGETS).read(body)


def test_list_that_holds_what_it_does_not_say_is_named() -> None:
    metadata = {"resourceVersion": "7"}
    mixed = [{"kind": "PodDisruptionBudget"}, {"kind": "ConfigMap"}]

    for kind, named in ((None, "a list"), ("PodDisruptionBudgetList", "a PodDisruptionBudgetList")):
        with pytest.raises(ExchangeError, match=f"but {named} that holds a ConfigMap of no apiVersion"):
            ListBodyReader(BUDGETS).read(page(kind=kind, metadata=metadata, items=mixed))


def test_list_says_what_it_is_and_where_it_goes_on() -> None:
    metadata = {"resourceVersion": "7", "continue": "more"}
    budget = {"kind": "PodDisruptionBudget", "apiVersion": "policy/v1", "metadata": {"name": "a"}}

    read = ListBodyReader(BUDGETS).read(page(metadata=metadata, items=[budget, {"metadata": {"name": "b"}}]))

    assert (read.kind, read.resource_version, read.continue_token) == ("PodDisruptionBudgetList", "7", "more")
    assert json.loads(read.first) == {"name": "a"}


def test_server_of_usage_writes_null_for_an_empty_list() -> None:
    """It is another program than the API server, which always writes `[]`."""
    body = b'{"kind":"NodeMetricsList","apiVersion":"metrics.k8s.io/v1beta1","metadata":{},"items":null}'

    assert ListBodyReader(USAGE).read(body).first == b""


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        pytest.param(page(apiVersion="v1"), "PodDisruptionBudgetList", id="a version without its group"),
        pytest.param(page(apiVersion=None), "PodDisruptionBudgetList", id="no version"),
        pytest.param(page(kind="List"), "", id="a List of nothing"),
        pytest.param(page(kind="List", items=[{"kind": "ConfigMap"}]), "ConfigMapList", id="a List of something"),
        pytest.param(page(kind=None, metadata={"resourceVersion": "7"}), "", id="no kind, but a version"),
    ],
)
def test_list_of_a_careless_server_is_read_and_says_what_it_holds(body: bytes, kind: str) -> None:
    assert ListBodyReader(BUDGETS).read(body).kind == kind


def test_page_holds_no_more_objects_than_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body, "_MOST_OBJECTS", 3)

    reader = ListBodyReader(BUDGETS)
    reader.read(page(items=[{}] * 3))
    reader.read(page(items=[{}] * 3))
    with pytest.raises(ExchangeError, match="more than 3 objects in one page"):
        reader.read(page(items=[{}] * 4))


@pytest.mark.parametrize(("number", "is_fine"), [(500_000, True), (500_001, False)])
def test_object_holds_no_more_values_than_an_api_server_stores(number: int, is_fine: bool) -> None:
    item = b'{"a":[' + b"," * number + b"]}" + b" " * (1 << 20)

    if is_fine:
        require_few_values(item, "GET")
    else:
        with pytest.raises(AnswerTooLarge, match=r"^GET: one object holds more than 500,000 values"):
            require_few_values(item, "GET")


def test_values_of_a_page_count_for_each_object_by_itself() -> None:
    many = [0] * 300_000

    ListBodyReader(BUDGETS).read(page(items=[{"a": many}, {"a": many}]))
    with pytest.raises(AnswerTooLarge, match="one object holds more than 500,000 values"):
        ListBodyReader(BUDGETS).read(page(items=[{"a": many * 2}]))


@pytest.mark.parametrize(
    ("path", "kind", "version", "in_one_piece"),
    [
        ("/api/v1/pods", "pods", "v1", False),
        (BUDGETS, "poddisruptionbudgets.policy", "policy/v1", False),
        (USAGE, "nodes.metrics.k8s.io", "metrics.k8s.io/v1beta1", True),
    ],
)
def test_path_tells_what_a_list_holds(path: str, kind: str, version: str, in_one_piece: bool) -> None:
    assert (kind_in(path), version_in(path), comes_in_one_piece(path)) == (kind, version, in_one_piece)
