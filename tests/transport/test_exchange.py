"""One exchange with a server: what is sent, what is sent again, and what an answer is taken for."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import urllib3

from descheduler.transport.answer import RawResponse
from descheduler.transport.errors import NotConnected, Withheld
from descheduler.transport.exchange import StreamedResponse, Transport
from tests.integration.fake_api import FakeApi
from tests.integration.faults import Answer

PATH = "/api/v1/nodes"
pytestmark = pytest.mark.own_calls


class Way:
    """The way to a server with these values for the field Authorization, the next one after each refusal."""

    def __init__(self, host: str, values: Sequence[str] = ("",)) -> None:
        self.host = host
        self.pool = urllib3.PoolManager()
        self.refused: list[str] = []
        self._values = values

    def authorization(self) -> str:
        return self._values[min(len(self.refused), len(self._values) - 1)]

    def refuse(self, authorization: str) -> None:
        self.refused.append(authorization)


def transport(way: Way) -> Transport:
    return Transport(way, headers={"User-Agent": "test"}, timeout_seconds=5)


@pytest.mark.parametrize(
    ("method", "values", "status_code", "sent"),
    [
        pytest.param("GET", ["a", "b"], 401, ["a", "b"], id="another value"),
        pytest.param("PUT", ["a", "b"], 401, ["a", "b"], id="another value for what can be repeated"),
        pytest.param("POST", ["a", "b"], 401, ["a"], id="what creates something"),
        pytest.param("GET", ["a"], 401, ["a"], id="the same value"),
        pytest.param("GET", ["a", ""], 401, ["a"], id="no value any more"),
        pytest.param("GET", [""], 401, [""], id="no value at all"),
        pytest.param("GET", ["a", "b"], 403, ["a"], id="another status"),
    ],
)
def test_refused_credentials_are_renewed_and_the_request_is_sent_again_once(
    fake_api: FakeApi, method: str, values: Sequence[str], status_code: int, sent: Sequence[str]
) -> None:
    fake_api.fail_always(method, PATH, Answer(status_code, {}))
    way = Way(fake_api.url, values)

    answer = transport(way).send(method, PATH, body=b"{}" if method != "GET" else None)

    assert answer.status_code == status_code
    assert [request.headers.get("authorization", "") for request in fake_api.requests] == sent
    assert way.refused == (["a"] if status_code == 401 and values[0] else [])


def test_type_of_a_body_is_sent_with_one(fake_api: FakeApi) -> None:
    way = transport(Way(fake_api.url))

    way.send("GET", PATH, query={"limit": "5"}, accept="text/plain")
    way.send("PUT", PATH, body=b"{}", content_type="application/x")

    read, written = fake_api.requests
    assert (read.query, read.headers["accept"], read.headers.get("content-type")) == (
        {"limit": "5"},
        "text/plain",
        None,
    )
    assert (written.headers["accept"], written.headers["content-type"]) == ("application/json", "application/x")
    assert read.headers["user-agent"] == "test"


def test_request_is_withheld_where_the_caller_changes_its_mind(fake_api: FakeApi) -> None:
    with pytest.raises(Withheld, match=f"^DELETE on {fake_api.url} was not sent$"):
        transport(Way(fake_api.url)).send("DELETE", PATH, may_send=lambda: False)

    assert fake_api.requests == []


@pytest.mark.parametrize(
    ("accept", "encoding"), [("application/json", "gzip"), ("application/vnd.kubernetes.protobuf", "identity")]
)
def test_compression_of_a_stream_is_asked_for_where_it_is_text(fake_api: FakeApi, accept: str, encoding: str) -> None:
    answer = transport(Way(fake_api.url)).stream(PATH, query={}, accept=accept)

    assert isinstance(answer, StreamedResponse)
    assert b"1000" in b"".join(answer.parts())
    assert answer.content_type == accept
    assert fake_api.requests[0].headers["accept-encoding"] == encoding


@pytest.mark.parametrize("status_code", [201, 404, 500])
def test_stream_that_is_no_whole_success_is_read_at_once(fake_api: FakeApi, status_code: int) -> None:
    fake_api.fail_next("GET", PATH, Answer(status_code, {"a": 1}))

    answer = transport(Way(fake_api.url)).stream(PATH, query={}, accept="application/json")

    assert isinstance(answer, RawResponse)
    assert (answer.status_code, answer.is_success) == (status_code, status_code == 201)


def test_cause_of_a_connection_that_was_not_made_is_told() -> None:
    with pytest.raises(NotConnected, match=r"^GET /api/v1/nodes on http://127.0.0.1:1: no connection \(Connection ref"):
        transport(Way("http://127.0.0.1:1")).send("GET", PATH)
