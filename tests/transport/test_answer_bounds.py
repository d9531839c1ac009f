"""No answer takes more time or more memory than it can honestly need."""

from __future__ import annotations

import gzip
import itertools
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from descheduler.kube.client import KubeClient, connect
from descheduler.kube.lists import listing
from descheduler.kube.retry import RetryPolicy
from descheduler.transport.errors import AnswerTooLarge, ExchangeError, TransportError
from tests.integration.api_fixtures import Naps
from tests.integration.fake_api import FakeApi
from tests.integration.faults import Answer, RawAnswer
from tests.transport.oversized import PODS, endless_chunks, gzip_bomb, head

VERSION = "/version"
BODY = b'{"gitVersion": "v1.36.0", "major": "1", "minor": "36"}' + b" " * 100


def raw(*parts: bytes) -> RawAnswer:
    return RawAnswer(lambda: parts)


def encoded(body: bytes, encoding: str = "gzip") -> RawAnswer:
    return raw(head(Content_Encoding=encoding, Content_Length=len(body)), body)


def slowly(whole: bytes) -> Callable[[], Iterable[bytes]]:
    return lambda: (whole[at : at + 1] for at in range(len(whole)))


@pytest.fixture
def hasty(kubeconfig: Path, naps: Naps) -> KubeClient:
    """A client that waits 0.3 s for an answer, and asks once."""
    return connect(str(kubeconfig), request_timeout=0.3, retry=RetryPolicy(attempts=1, sleep=naps))


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(head(Content_Length=len(BODY)) + BODY, id="of known length"),
        pytest.param(head(Connection="close") + BODY, id="of unknown length"),
        pytest.param(head(**{f"X-{number}": "x" for number in range(20)}), id="that does not get beyond its header"),
        pytest.param(head(Transfer_Encoding="chunked") + b"0" * 200 + b"1\r\n", id="that does not name its chunk"),
        pytest.param(b"HTTP/1.1 100 Continue\r\n\r\n" * 20, id="that is always about to come"),
    ],
)
def test_answer_that_drips_is_given_up_when_its_time_is_over(
    fake_api: FakeApi, hasty: KubeClient, answer: bytes
) -> None:
    """Each single wait is short, all of them together are not."""
    fake_api.fail_next("GET", VERSION, RawAnswer(slowly(answer), pause_seconds=0.02))

    with pytest.raises(TransportError, match=r"GET /version on .*: no complete answer within 0\.3 s"):
        hasty.fetch(VERSION, bytes)


@pytest.mark.long
def test_connection_of_an_answer_that_was_given_up_is_not_used_again(
    fake_api: FakeApi, kubeconfig: Path, naps: Naps
) -> None:
    client = connect(str(kubeconfig), request_timeout=1.5, retry=RetryPolicy(attempts=1, sleep=naps))
    late = head(Content_Length=len(BODY)) + BODY
    fake_api.fail_next("GET", VERSION, RawAnswer(slowly(late), pause_seconds=0.02))
    with pytest.raises(TransportError):
        client.fetch(VERSION, bytes)

    assert b"v1.36.0" in client.fetch(VERSION, bytes)


@pytest.mark.long
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(raw(head(Content_Length=1 << 30), b"{}"), id="as it announces"),
        pytest.param(RawAnswer(lambda: endless_chunks(b" " * 100_000)), id="in chunks without end"),
        pytest.param(RawAnswer(lambda: itertools.chain([head()], itertools.repeat(b" " * 100_000))), id="without end"),
        pytest.param(encoded(gzip_bomb(b" ", 64)), id="after decompression"),
        pytest.param(encoded(gzip.compress(b" " * (1 << 20)) * 20), id="in many compressed pieces"),
        pytest.param(
            RawAnswer(
                lambda: itertools.chain([head(Content_Encoding="gzip")], itertools.repeat(gzip.compress(b"") * 5000))
            ),
            id="of compressed nothing",
        ),
    ],
)
def test_answer_that_is_too_large_is_given_up_and_not_asked_for_again(
    fake_api: FakeApi, client: KubeClient, fault: RawAnswer
) -> None:
    fake_api.fail_next("GET", VERSION, fault)

    with pytest.raises(
        AnswerTooLarge, match=r"GET /version on .*: the answer is larger than 8 MiB.*; check the server"
    ):
        client.fetch(VERSION, bytes)

    assert len(fake_api.requests) == 1
    assert b"v1.36.0" in client.fetch(VERSION, bytes)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        pytest.param(encoded(gzip.compress(gzip.compress(BODY)), "gzip, gzip"), "is damaged", id="compressed twice"),
        pytest.param(encoded(BODY, "br"), "is damaged", id="compressed as nobody asked for"),
        pytest.param(encoded(gzip.compress(BODY)[:-9]), "was cut short", id="compressed without its end"),
        pytest.param(raw(head(Content_Length=500), BODY), "closed before the answer", id="shorter than announced"),
        pytest.param(
            raw(head(**{f"X-{number}": "x" for number in range(500)})), "header is too large", id="of 500 header lines"
        ),
        pytest.param(raw(head(X="x" * 100_000)), "header is too large", id="of one long header line"),
        pytest.param(raw(b"SSH-2.0-OpenSSH\r\n\r\n"), "is not HTTP", id="of another protocol"),
    ],
)
def test_answer_that_cannot_be_read_is_a_fault(
    fake_api: FakeApi, kubeconfig: Path, fault: RawAnswer, message: str
) -> None:
    client = connect(str(kubeconfig), retry=RetryPolicy(attempts=1))
    fake_api.fail_next("GET", VERSION, fault)

    with pytest.raises(TransportError, match=message):
        client.fetch(VERSION, bytes)


def test_compressed_pieces_are_joined(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.fail_next("GET", VERSION, encoded(gzip.compress(b'{"major":') + gzip.compress(b' "1"}')))

    assert client.fetch(VERSION, bytes) == b'{"major": "1"}'


@pytest.mark.parametrize("status_code", [201, 203, 204, 206])
def test_success_that_does_not_carry_the_whole_answer_is_an_error(
    fake_api: FakeApi, client: KubeClient, status_code: int
) -> None:
    fake_api.fail_next("GET", VERSION, Answer(status_code, {"major": "1"}))

    with pytest.raises(ExchangeError, match=rf"GET /version on .*: answered with HTTP status {status_code}"):
        client.fetch(VERSION, bytes)


def test_list_of_large_objects_is_read_in_smaller_pages(
    fake_api: FakeApi, client: KubeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page is bounded by its bytes, and how large objects are is known only then."""
    for number in range(20):
        fake_api.add_pod(f"p{number:02}")["metadata"]["annotations"] = {"large": "x" * 1000}
    monkeypatch.setattr(listing, "LIST_BYTES", 5000)

    pages = list(client.list_pages(PODS, limit=16))

    assert b"".join(page.body for page in pages).count(b'"large"') == 20
    assert [request.query["limit"] for request in fake_api.sent("GET", PODS)] == ["16"] + ["2"] * 10


def test_page_that_is_too_large_whatever_is_asked_for_ends_the_list(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.fail_always("GET", PODS, raw(head(Content_Length=1 << 30), b"{}"))

    with pytest.raises(AnswerTooLarge, match=r"GET /api/v1/pods on .* larger than 64 MiB"):
        list(client.list_pages(PODS))

    assert [request.query["limit"] for request in fake_api.sent("GET", PODS)] == ["500", "62", "7", "1"]


_LONG = pytest.mark.rest
"""For reading that takes many seconds and has another case of its kind here."""


@pytest.mark.long
@pytest.mark.parametrize(
    ("call", "most_mebibytes", "message"),
    [
        pytest.param("an eviction", 40, "larger than 1 MiB", id="an eviction"),
        pytest.param("a page of a list", 200, "larger than 64 MiB", id="a page of a list"),
        pytest.param("a list of nothing", 400, "more than 500,000 objects", id="a list of nothing"),
        pytest.param("a list in one go", 60, "holds more than 1,000,000 objects", id="a list in one go", marks=_LONG),
        pytest.param("an object of a list in one go", 120, "larger than 16 MiB", id="an object of a list in one go"),
        pytest.param("a list before its kind", 250, "larger than 64 MiB", id="a list before its kind", marks=_LONG),
        pytest.param("an object of nothing", 120, "more than 500,000 values", id="an object of nothing"),
        pytest.param(
            "the smallest pods", 400, "more than 500,000 objects of a kind", id="the smallest pods", marks=_LONG
        ),
        pytest.param("a list in protobuf", 60, "holds more than 1,000,000 objects", id="a list in protobuf"),
        pytest.param("usage", 200, "larger than 64 MiB", id="usage"),
        pytest.param("a Lease", 40, "larger than 1 MiB", id="a Lease"),
    ],
)
def test_memory_stays_in_bounds_whatever_is_answered(call: str, most_mebibytes: int, message: str) -> None:
    """A gibibyte is a megabyte on the wire."""
    program = [sys.executable, "-m", "tests.transport.oversized", call]
    mebibytes, _, said = subprocess.run(program, capture_output=True, text=True, check=True).stdout.partition(" ")

    assert message in said
    assert int(mebibytes) < most_mebibytes
