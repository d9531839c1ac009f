from __future__ import annotations

from pathlib import Path

import pytest

from descheduler.kube.client import KubeClient, connect
from descheduler.kube.errors import ApiError
from descheduler.kube.retry import RetryPolicy
from descheduler.transport.errors import ExchangeError, TransportError
from tests.integration.api_fixtures import Naps
from tests.integration.fake_api import FakeApi
from tests.integration.faults import Answer, BrokenGzip, Drop, Fault, Truncate, failure

NODES = "/api/v1/nodes"


def test_requests_say_who_asks_and_for_whom(secure_api: FakeApi, tmp_path: Path) -> None:
    secure_api.token = "t0ken"
    file = secure_api.write_kubeconfig(tmp_path / "config")
    client = connect(str(file), as_user="system:serviceaccount:ops:descheduler", user_agent="descheduler/9")

    client.fetch(NODES, bytes)

    headers = secure_api.requests[0].headers
    assert headers["authorization"] == "Bearer t0ken"
    assert headers["impersonate-user"] == "system:serviceaccount:ops:descheduler"
    assert headers["user-agent"] == "descheduler/9"
    assert headers["accept-encoding"] == "gzip"


def test_user_agent_carries_the_version_by_default(fake_api: FakeApi, client: KubeClient) -> None:
    client.fetch(NODES, bytes)

    assert fake_api.requests[0].headers["user-agent"].startswith("descheduler/")


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Drop(), id="the connection closes without an answer"),
        pytest.param(Truncate(), id="the body is shorter than announced"),
        pytest.param(BrokenGzip(), id="the compressed body is damaged"),
        pytest.param(Answer(502, b"<html>bad gateway</html>"), id="a proxy answers for the server"),
        pytest.param(failure(503, "ServiceUnavailable", "shutting down"), id="the server shuts down"),
        pytest.param(failure(429, "TooManyRequests", "slow down", retry_after_seconds=2), id="the server is busy"),
    ],
)
def test_transient_fault_of_a_read_is_mended_by_asking_again(
    fake_api: FakeApi, client: KubeClient, naps: Naps, fault: Fault
) -> None:
    fake_api.fail_next("GET", NODES, fault)

    body = client.fetch(NODES, bytes)

    assert b'"items"' in body
    assert len(fake_api.sent("GET", NODES)) == 2
    assert len(naps) == 1


def test_wait_that_the_server_asks_for_is_kept(fake_api: FakeApi, client: KubeClient, naps: Naps) -> None:
    fake_api.fail_next("GET", NODES, failure(429, "TooManyRequests", "slow down", retry_after_seconds=7))

    client.fetch(NODES, bytes)

    assert naps == [7.0]


def test_wait_that_the_server_asks_for_is_bounded(fake_api: FakeApi, client: KubeClient, naps: Naps) -> None:
    fake_api.fail_next("GET", NODES, failure(429, "TooManyRequests", "slow down", retry_after_seconds=3600))

    client.fetch(NODES, bytes)

    assert naps == [client.retry.longest_wait_seconds]


def test_reading_gives_up_after_the_agreed_number_of_attempts(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.fail_always("GET", NODES, Drop())

    with pytest.raises(TransportError, match=r"closed before the answer was complete \(tried 5 times\)"):
        client.fetch(NODES, bytes)

    assert len(fake_api.sent("GET", NODES)) == client.retry.attempts


def test_refusal_is_not_asked_again(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.fail_next("GET", NODES, failure(403, "Forbidden", "nodes is forbidden"))

    with pytest.raises(ApiError, match=r"nodes is forbidden \(403\)") as caught:
        client.fetch(NODES, bytes)

    assert caught.value.status_code == 403
    assert len(fake_api.requests) == 1


def test_rejected_credentials_are_named_without_being_shown(secure_api: FakeApi, tmp_path: Path) -> None:
    secure_api.token = "right"
    file = secure_api.write_kubeconfig(tmp_path / "config", token="wr0ng")

    with pytest.raises(ApiError, match="does not accept the credentials") as caught:
        connect(str(file)).fetch(NODES, bytes)

    assert "wr0ng" not in str(caught.value)


def test_server_that_is_not_there_is_named(fake_api: FakeApi, tmp_path: Path, naps: Naps) -> None:
    file = fake_api.write_kubeconfig(tmp_path / "config")
    file.write_text(file.read_text().replace(fake_api.url, "http://127.0.0.1:1"))

    with pytest.raises(
        TransportError, match=r"GET /version on http://127.0.0.1:1: no connection \(Connection refused\)"
    ):
        connect(str(file), retry=RetryPolicy(attempts=2, sleep=naps)).fetch("/version", bytes)


def test_tls_failure_is_not_asked_again(fake_api: FakeApi, tmp_path: Path, naps: Naps) -> None:
    """A server that speaks plain HTTP where HTTPS is expected stays so however often it is asked."""
    file = fake_api.write_kubeconfig(tmp_path / "config")
    file.write_text(file.read_text().replace("http://", "https://"))

    with pytest.raises(ExchangeError, match="does not speak TLS on this port"):
        connect(str(file), retry=RetryPolicy(sleep=naps)).fetch("/version", bytes)

    assert naps == []


def test_pace_applies_to_every_request_when_one_is_asked_for(kubeconfig: Path, naps: Naps) -> None:
    client = connect(str(kubeconfig), qps=1000.0, burst=1, retry=RetryPolicy(sleep=naps))

    for _ in range(3):
        client.fetch(NODES, bytes)

    assert all(seconds <= 0.001 for seconds in naps)


@pytest.mark.own_calls
def test_sending_returns_any_answer_and_never_repeats(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.fail_next("POST", "/api/v1/things", failure(503, "", "busy", retry_after_seconds=1))

    answer = client.send("POST", "/api/v1/things", body=b"{}")

    assert answer.status_code == 503
    assert len(fake_api.requests) == 1
