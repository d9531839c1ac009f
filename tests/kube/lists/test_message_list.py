"""Lists in protobuf: their objects come as the server sent them, however it sends them."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from itertools import chain, repeat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.kube.client import KubeClient, connect
from descheduler.kube.errors import NotProtobuf
from descheduler.kube.lists import body as incoming
from descheduler.kube.lists.message_list import MessageList
from descheduler.kube.lists.streamed import MessageBatch
from descheduler.kube.retry import RetryPolicy
from descheduler.transport import bounded_body
from descheduler.transport.errors import AnswerBroken, AnswerTooLarge, ExchangeError
from tests.builders import pod_object
from tests.cluster.messages.writer import proto_list, proto_object
from tests.integration.api_fixtures import Naps
from tests.integration.fake_api import FakeApi
from tests.integration.faults import Answer, Fault, RawAnswer
from tests.transport.oversized import PODS, endless_chunks, head

PROTOBUF = {"Content-Type": "application/vnd.kubernetes.protobuf"}
PROTOBUF_HEAD = {"Content_Type": PROTOBUF["Content-Type"]}
EMPTY = gzip.compress(b"")
NAMES = [f"p{number}" for number in range(5)]
ITEMS = [proto_object("Pod", {"metadata": {"name": name}}) for name in NAMES]


def items(batches: Iterable[MessageBatch]) -> list[bytes]:
    return [item for batch in batches for item in batch.items]


def answer(body: bytes) -> Answer:
    return Answer(200, body, PROTOBUF)


def pods_in_protobuf(**options: str) -> bytes:
    return proto_list("Pod", [{"metadata": {"name": name}} for name in NAMES], **options)


@pytest.fixture
def five_pods(fake_api: FakeApi) -> FakeApi:
    for name in NAMES:
        fake_api.add(PODS, {"metadata": {"name": name}})
    return fake_api


def test_list_comes_in_one_answer_at_one_version(five_pods: FakeApi, client: KubeClient) -> None:
    batches = list(client.list_messages(PODS))

    assert items(batches) == ITEMS
    assert {(batch.resource_version, batch.kind) for batch in batches} == {("1000", "PodList")}
    assert [request.query for request in five_pods.sent("GET", PODS)] == [{}]


def test_list_comes_in_pages_when_a_limit_is_set(five_pods: FakeApi, client: KubeClient) -> None:
    found = items(client.list_messages(PODS, limit=2))

    assert found == ITEMS
    assert [request.query["limit"] for request in five_pods.sent("GET", PODS)] == ["2"] * 3


def test_empty_list_has_a_version(fake_api: FakeApi, client: KubeClient) -> None:
    assert list(client.list_messages(PODS)) == [MessageBatch((), "1000", "PodList")]


@given(st.lists(st.integers(1, 60), max_size=20), st.lists(st.binary(max_size=300), max_size=8))
def test_objects_are_the_same_wherever_the_answer_is_cut_into_parts(lengths: list[int], contents: list[bytes]) -> None:
    objects = [{"metadata": {"name": "x", "annotations": {"a": content.hex()}}} for content in contents]
    body = proto_list("Pod", objects, more="token")

    page = MessageList(parts_of(body, lengths), "GET")

    assert (page.kind, page.api_version, page.resource_version, page.continue_token) == ("PodList", "v1", "1", "token")
    assert [item for batch in page.batches() for item in batch] == [proto_object("Pod", each) for each in objects]


def parts_of(body: bytes, lengths: Iterable[int]) -> Iterator[bytes]:
    for length in lengths:
        yield body[:length]
        body = body[length:]
    yield body


def padded(number: int, num_bytes: int) -> bytes:
    """A varint of so many bytes, as those write it who leave room for a number that they do not know yet."""
    low = [number >> 7 * place & 127 for place in range(num_bytes)]
    return bytes([*[byte | 128 for byte in low[:-1]], low[-1]])


@pytest.mark.parametrize("num_bytes", range(1, 11))
def test_lengths_may_take_more_bytes_than_they_need(num_bytes: int) -> None:
    content = b"\x0a\x00" + b"".join(b"\x12" + padded(len(item), num_bytes) + item for item in ITEMS)
    body = b"k8s\0\x0a\x0d\x0a\x02v1\x12\x07PodList\x12" + padded(len(content), 2) + content

    assert [item for batch in MessageList(iter([body]), "GET").batches() for item in batch] == ITEMS


@given(st.integers(0, len(pods_in_protobuf()) - 5))
def test_list_without_its_end_is_broken(length: int) -> None:
    with pytest.raises(AnswerBroken, match="cut short"):
        list(MessageList(iter([pods_in_protobuf()[:length]]), "GET").batches())


@pytest.mark.parametrize(
    ("fault", "error", "message"),
    [
        pytest.param(
            answer(b"k8s\0" + b"\xff" * 12), ExchangeError, "not a list in protobuf: a number has no end", id="noise"
        ),
        pytest.param(answer(b"<html></html>"), ExchangeError, "does not begin as protobuf does", id="no protobuf"),
        pytest.param(
            answer(proto_list("Pod", []).replace(b"List", b"Lost")), ExchangeError, "not the list of pods", id="kind"
        ),
        pytest.param(answer(pods_in_protobuf() + b"x" * 2000), ExchangeError, "continues after its end", id="too much"),
    ],
)
def test_answer_that_is_not_the_list_is_an_error(
    five_pods: FakeApi, client: KubeClient, fault: Fault, error: type[ExchangeError], message: str
) -> None:
    five_pods.fail_always("GET", PODS, fault)

    with pytest.raises(error, match=message):
        list(client.list_messages(PODS))


def test_server_that_answers_in_json_is_told_apart(five_pods: FakeApi, client: KubeClient) -> None:
    five_pods.speaks_protobuf = False

    with pytest.raises(NotProtobuf, match="answered in application/json"):
        list(client.list_messages(PODS))


@pytest.mark.parametrize(
    "length",
    [
        pytest.param(b"\xff\xff\xff\x0f", id="that says so"),
        pytest.param(b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f", id="that says more than there can be"),
    ],
)
def test_object_that_is_too_large_is_given_up(fake_api: FakeApi, client: KubeClient, length: bytes) -> None:
    """It is not read: its length stands before it."""
    whole = b"k8s\0\x0a\x0d\x0a\x02v1\x12\x07PodList\x12\xff\xff\xff\xff\x0f\x0a\x00\x12" + length
    fake_api.fail_always("GET", PODS, RawAnswer(lambda: [head(**PROTOBUF_HEAD), whole, b"x" * 100_000]))

    with pytest.raises(AnswerTooLarge, match="one object is larger than 16 MiB"):
        list(client.list_messages(PODS))


@pytest.fixture
def hasty(kubeconfig: Path, naps: Naps) -> KubeClient:
    """A client that waits 1.5 s for something to come."""
    return connect(str(kubeconfig), request_timeout=1.5, retry=RetryPolicy(attempts=1, sleep=naps))


@pytest.mark.long
def test_list_that_keeps_coming_may_take_longer_than_the_time_out(fake_api: FakeApi, hasty: KubeClient) -> None:
    pods = [pod_object(f"p{number}", annotations={"large": "x" * 100_000}) for number in range(8)]
    body = proto_list("Pod", pods)
    chunks = [body[at : at + 100_000] for at in range(0, len(body), 100_000)]
    raw = RawAnswer(lambda: [head(**PROTOBUF_HEAD), *chunks], pause_seconds=0.2)
    fake_api.fail_next("GET", PODS, raw)

    assert len(items(hasty.list_messages(PODS))) == 8


def test_list_without_an_end_is_given_up(
    fake_api: FakeApi, client: KubeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(incoming, "_MOST_STREAMED_OBJECTS", 1000)
    start = b"k8s\0\x0a\x0d\x0a\x02v1\x12\x07PodList\x12\xff\xff\xff\xff\x0f\x0a\x00"
    endless = chain([head(**PROTOBUF_HEAD), start], repeat((b"\x12" + bytes([len(ITEMS[0])]) + ITEMS[0]) * 1000))
    fake_api.fail_always("GET", PODS, RawAnswer(lambda: endless))

    with pytest.raises(ExchangeError, match="holds more than 1,000 objects"):
        list(client.list_messages(PODS))


def test_pages_that_never_end_are_given_up(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.fail_always("GET", PODS, answer(pods_in_protobuf(more="again")))

    with pytest.raises(ExchangeError, match="list of pods has no end"):
        list(client.list_messages(PODS, limit=5))


def test_compressed_nothing_is_given_up(fake_api: FakeApi, client: KubeClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_body, "_IDLE_BYTES", 50_000)
    empty = [chunk for chunk, _ in zip(endless_chunks(EMPTY * 1000), range(12), strict=False)]
    first = head(Transfer_Encoding="chunked", Content_Encoding="gzip", **PROTOBUF_HEAD)
    fake_api.fail_always("GET", PODS, RawAnswer(lambda: [first, *empty[1:]]))

    with pytest.raises(AnswerTooLarge, match="holds nothing"):
        list(client.list_messages(PODS))


def test_number_without_end_in_the_head_is_refused_at_once() -> None:
    """Each byte of it would make the number longer, and all of them together take the square of their number."""
    head = b"\x0a" + b"\xff" * 4_000_000
    length = bytes([len(head) & 127 | 128, len(head) >> 7 & 127 | 128, len(head) >> 14 & 127 | 128, len(head) >> 21])

    with pytest.raises(ExchangeError, match="its head is damaged"):
        MessageList(iter([b"k8s\0\x0a" + length + head]), "GET x")


def varint(number: int) -> bytes:
    return padded(number, max(1, -(-number.bit_length() // 7)))


def envelope(content: bytes, *, length: int | None = None, kind: bytes = b"PodList") -> bytes:
    """A list with this content, which may state another length."""
    stated = b"\x0a\x02v1\x12" + varint(len(kind)) + kind
    return (
        b"k8s\0\x0a" + varint(len(stated)) + stated
        + b"\x12" + varint(len(content) if length is None else length) + content
    )  # fmt: skip


HEAD = b"\x0a\x09\x12\x017\x1a\x04more"
"""Version 7, continued by `more`."""


@pytest.mark.parametrize("part", [1, 2, 7, 1000, 1 << 20])
@pytest.mark.parametrize("size", [0, 1, 127, 128, 300, 16_383, 16_384])
def test_objects_of_any_size_come_whole(size: int, part: int) -> None:
    contents = [bytes([65 + number]) * size for number in range(4)]
    body = envelope(HEAD + b"".join(b"\x12" + varint(size) + content for content in contents))

    found = MessageList((body[at : at + part] for at in range(0, len(body), part)), "GET")

    assert [item for batch in found.batches() for item in batch] == contents
    assert (found.kind, found.api_version, found.resource_version, found.continue_token) == (
        "PodList",
        "v1",
        "7",
        "more",
    )


def test_list_of_nothing_states_nothing() -> None:
    found = MessageList(iter([b"k8s\0\x0a\x00\x12\x00"]), "GET")

    assert (found.kind, found.api_version, found.resource_version, found.continue_token) == ("", "", "", "")
    assert list(found.batches()) == []


def test_numbers_in_the_head_are_passed_over() -> None:
    body = envelope(b"\x0a\x0e\x20\x05\x12\x017\x28\x80\x01\x1a\x04more")

    assert MessageList(iter([body]), "GET").continue_token == "more"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param(b"k8s\0\x12\x00", "it holds field 2 where field 1 is expected", id="no type"),
        pytest.param(b"k8s\0\x0a\x00\x1a\x00", "it holds field 3 where field 2 is expected", id="no list"),
        pytest.param(envelope(b"\x12\x00"), "it holds field 2 where field 1 is expected", id="no metadata"),
        pytest.param(envelope(HEAD + b"\x1a\x00"), "it holds field 3 where field 2 is expected", id="no object"),
        pytest.param(envelope(b"\x0a\x02\x12\x05") + b"x" * 9, "its head is damaged", id="a head that is cut short"),
        pytest.param(envelope(b"\x0a\x03\x12\x01\xff"), "its head is damaged", id="a head that is no text"),
        pytest.param(envelope(HEAD + b"\x12\x05abcde", length=len(HEAD) + 4),
                     "an object goes beyond the end of the list", id="an object that is too long"),
        pytest.param(b"k8s\0\x0a" + b"\xff" * 9 + b"\x80\x01", "a number has no end", id="a number of eleven bytes"),
    ],
)  # fmt: skip
def test_bytes_that_are_no_list_are_refused_with_what_is_wrong(body: bytes, message: str) -> None:
    with pytest.raises(ExchangeError, match=f"^GET: the answer is not a list in protobuf: {message}; check the server"):
        list(MessageList(iter([body]), "GET").batches())
