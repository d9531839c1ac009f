"""The field that keeps an object from being decoded."""

from __future__ import annotations

import json
from typing import Any

import pytest

from descheduler.cluster.builder import SnapshotBuilder
from descheduler.cluster.decoding.culprit import deep_header, deep_name_in, deep_object_in, explained_fault, fault_of
from descheduler.cluster.decoding.wire import ABSENT
from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import SnapshotError
from tests.builders import Object, node_object, pod_object


def problem(obj: Object) -> str:
    with pytest.raises(SnapshotError) as caught:
        snapshot_from_objects([obj])
    return (
        str(caught.value)
        .partition(" is invalid: ")[2]
        .removesuffix("; fix it, or skip such objects with --skip-broken-objects")
    )


def changed(obj: Object, value: object, *path: str | int) -> Object:
    """A copy of `obj` with another value at `path`."""
    copy: Object = json.loads(json.dumps(obj))
    inner: Any = copy
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return copy


@pytest.mark.parametrize(
    ("obj", "sentence"),
    [
        pytest.param(
            pod_object("a", cpu="12 cores"),
            "spec.containers[0].resources.requests.cpu: '12 cores' is not a quantity "
            "(a number with a suffix such as m, k, Mi, G or e3)",
            id="a quantity in a block that pods share",
        ),
        pytest.param(
            changed(pod_object("a"), [{"key": "a"}, {"key": 5}], "spec", "tolerations"),
            "spec.tolerations[1].key is 5: Expected `str | null`, got `int`",
            id="a number in the second of a list",
        ),
        pytest.param(
            changed(pod_object("a"), "soon", "metadata", "creationTimestamp"),
            'metadata.creationTimestamp is "soon": Invalid RFC3339 encoded datetime',
            id="a time that is none",
        ),
        pytest.param(
            changed(pod_object("a"), "2026-01-02T03:04:05", "metadata", "creationTimestamp"),
            "metadata.creationTimestamp: time '2026-01-02T03:04:05' has no zone: write 2026-01-02T15:04:05Z",
            id="a time without a zone",
        ),
        pytest.param(
            changed(pod_object("a"), {"on/off": True}, "metadata", "labels"),
            "metadata.labels['on/off'] is true: Expected `str | null`, got `bool`",
            id="a label that is no text",
        ),
        pytest.param(
            changed(node_object("a"), [{}], "status", "allocatable"),
            "status.allocatable: Expected `object | null`, got `array`",
            id="a list instead of an object",
        ),
        pytest.param(changed(node_object("a"), {}, "metadata"), "metadata.name is missing", id="no name"),
        pytest.param(
            pod_object("a", cpu="-1500m"),
            "spec.containers[0].resources.requests.cpu: cpu is -1500m, and a quantity of a resource is not below zero",
            id="a request below zero",
        ),
        pytest.param(
            changed(node_object("a"), {"cpu": -4}, "status", "allocatable"),
            "status.allocatable.cpu: cpu is -4, and a quantity of a resource is not below zero",
            id="allocatable below zero",
        ),
        pytest.param(
            changed(node_object("a"), {"a": "x" * 999}, "status", "capacity"),
            f"status.capacity.a: '{'x' * 80}' is not a quantity (a number with a suffix such as m, k, Mi, G or e3)",
            id="a long text",
        ),
    ],
)
def test_fault_names_the_field_and_its_value(obj: Object, sentence: str) -> None:
    assert problem(obj) == sentence


def test_many_broken_objects_end_the_reading_though_they_may_be_left_out() -> None:
    builder = SnapshotBuilder("dump", SnapshotRequest(skip_broken=True))
    page = json.dumps({"kind": "PodList", "apiVersion": "v1", "items": [{}] * 10_001}).encode()

    with pytest.raises(SnapshotError, match=r"metadata\.name is missing; 10,000 invalid objects are already skipped"):
        builder.add_object(page)


DEEP = b'{"a":' * 1200 + b"1" + b"}" * 1200


@pytest.mark.parametrize(
    ("metadata", "name"),
    [
        (b'{"namespace": "shop", "name": "x"}', "shop/x"),
        (b'{"name": "x"}', "x"),
        (b'{"name": "x", "future": ' + DEEP + b"}", "x"),
        (b"{}", ""),
        (b'{"name": 5}', ""),
        (DEEP, ""),
        (b"[]", ""),
    ],
)
def test_name_of_an_object_that_is_nested_too_deeply_is_found(metadata: bytes, name: str) -> None:
    assert deep_name_in(b'{"future": ' + DEEP + b', "metadata": ' + metadata + b"}") == name


def test_object_without_metadata_has_no_name() -> None:
    assert deep_name_in(b'{"future": ' + DEEP + b"}") == ""
    assert deep_name_in(b"[" + DEEP) == ""


def test_kind_of_an_object_that_is_nested_too_deeply_is_found() -> None:
    page = b'{"kind": "PodList", "apiVersion": "v1", "metadata": {"continue": "x"}, "items": [' + DEEP + b"]}"

    header = deep_header(page)

    assert (header.kind, header.api_version) == ("PodList", "v1")
    assert header.metadata is not None
    assert not header.metadata.is_complete
    assert bytes(header.items) == b"[" + DEEP + b"]"


def test_header_of_what_says_nothing_is_empty() -> None:
    bare, broken = deep_header(b'{"a": ' + DEEP + b"}"), deep_header(b'{"kind": 5, "a": ' + DEEP + b"}")

    assert (bare.kind, bare.api_version, bare.items is ABSENT, bare.metadata) == ("", "", True, None)
    assert broken.kind is None


@pytest.mark.parametrize(
    ("items", "words"),
    [
        (b'{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}, "x": ' + DEEP + b"}", "b"),
        (b'{"x": ' + DEEP + b"}", "an object without a name"),
        (b"{}", "the list"),
        (b"", "the list"),
        (b"oops", "the list"),
    ],
)
def test_first_object_of_a_list_that_is_nested_too_deeply_is_named(items: bytes, words: str) -> None:
    assert deep_object_in(b'{"items": [' + items + b"]}") == words
    assert deep_object_in(b'{"kind": "List"}') == "the list"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RecursionError(), "it is nested too deeply"),
        (UnicodeDecodeError("utf-8", b"x", 0, 1, "odd"), "it holds bytes that are not UTF-8"),
        (ValueError("Input data was truncated"), "it is incomplete: the dump is truncated; create it again"),
        (ValueError("odd"), "odd"),
    ],
)
def test_fault_is_told_in_words_for_operators(error: Exception, words: str) -> None:
    assert fault_of(error) == words


def explained(value: object, sign: str, fault: str = "odd") -> str:
    """What is said of `value`, whose fault is there as long as `sign` is in it."""
    return explained_fault(json.dumps(value).encode(), fault, lambda block: fault if sign.encode() in block else "")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        pytest.param({"a": 1, "b": {"c": 5}}, "b.c is 5: odd", id="a member"),
        pytest.param({"b": [{"c": 1}, {"c": 5}, {"c": 2}]}, "b[1].c is 5: odd", id="an element"),
        pytest.param({"b-x": {"c": 5}}, "['b-x'].c is 5: odd", id="a key that is no word"),
        pytest.param({"b": {"c": "5" * 57}}, f'b.c is "{"5" * 57}": odd', id="a text of 59 characters"),
        pytest.param({"b": {"c": "5" * 58}}, f'b.c is "{"5" * 58}": odd', id="a text of 60 characters"),
        pytest.param({"b": {"c": "5" * 59}}, "b.c: odd", id="a longer text"),
        pytest.param({"b": {"c": "odd5"}}, 'b.c is "odd5": odd', id="a text that holds the fault"),
    ],
)
def test_innermost_value_at_fault_is_named(value: object, words: str) -> None:
    assert explained(value, "5") == words


def test_value_that_the_fault_tells_already_is_not_repeated() -> None:
    assert explained({"a": "many"}, "many", "'many' is odd") == "a: 'many' is odd"
    assert explained({"a": "many"}, "many", "odd - at `$.a`") == 'a is "many": odd'


def test_fault_that_cannot_be_located_is_told_as_it_is() -> None:
    assert explained({"a": 1}, "") == "odd"
    assert explained_fault(b"{oops", "odd", lambda _: "odd") == "odd"
    assert explained({"a": [1, 2]}, '"a"') == "a: odd"


def test_fault_that_is_hidden_among_very_much_is_told_without_its_field() -> None:
    """Every field is taken away in turn, which is not done for ever."""
    large = {f"field-{number}": "x" * (3 << 20) for number in range(3)}

    def fault_in(block: bytes) -> str:
        return "odd" if b'"last"' in block else ""

    assert explained_fault(json.dumps({"first": 1, "last": 2}).encode(), "odd", fault_in) == "last is 2: odd"
    assert explained_fault(json.dumps({**large, "last": 2}).encode(), "odd", fault_in) == "odd"
