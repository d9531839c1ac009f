from __future__ import annotations

import base64
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from descheduler.kube.errors import ApiError
from descheduler.kube.prometheus import PrometheusClient, UsageRatios, read_service_account_token
from descheduler.transport.errors import ExchangeError, TransportError
from tests.integration.fake_api import FakeApi
from tests.integration.faults import Answer, Drop, Fault, failure

QUERY = "/api/v1/query"
PROMQL = 'instance:node_cpu:rate:sum{job="a&b"}'


def make_answer(*samples: tuple[dict[str, str], str], **more: Any) -> dict[str, Any]:
    result = [{"metric": labels, "value": [1700000000.5, text]} for labels, text in samples]
    return {"status": "success", "data": {"resultType": "vector", "result": result}, **more}


def test_query_gives_a_ratio_by_node_and_the_warnings(fake_api: FakeApi) -> None:
    samples = ({"instance": "n1", "job": "x"}, "0.25"), ({"instance": "n2"}, "1"), ({"instance": "n1"}, "0.5")
    fake_api.prometheus = make_answer(*samples, warnings=["partial"])

    ratios = PrometheusClient(fake_api.url, token="t0ken").query(PROMQL)

    assert ratios == UsageRatios({"n1": 0.5, "n2": 1.0}, ("partial",))
    request = fake_api.requests[0]
    assert request.method == "POST"
    assert parse_qs(request.body) == {"query": [PROMQL]}
    assert request.headers["authorization"] == "Bearer t0ken"


def test_no_token_means_no_authorization(fake_api: FakeApi) -> None:
    PrometheusClient(fake_api.url).query(PROMQL)

    assert "authorization" not in fake_api.requests[0].headers


def test_sample_of_a_pod_has_its_namespace_and_may_be_above_one(fake_api: FakeApi) -> None:
    fake_api.prometheus = make_answer(({"namespace": "a", "pod": "p"}, "2.5"), ({"instance": "n", "pod": "p"}, "1"))

    ratios = PrometheusClient(fake_api.url).query(PROMQL)

    assert ratios.by_node == {"a/p": 2.5, "n": 1.0}


@pytest.mark.parametrize("status_code", [405, 501])
def test_server_that_takes_no_post_is_asked_with_get(fake_api: FakeApi, status_code: int) -> None:
    fake_api.prometheus = make_answer(({"instance": "n1"}, "0"))
    fake_api.fail_next("POST", QUERY, failure(status_code))

    ratios = PrometheusClient(fake_api.url + "/").query(PROMQL)

    assert ratios.by_node == {"n1": 0.0}
    assert [(request.method, request.query) for request in fake_api.requests] == [
        ("POST", {}),
        ("GET", {"query": PROMQL}),
    ]


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        pytest.param(({"instance": "n1"}, "NaN"), "sample of instance 'n1' is NaN", id="not a number"),
        pytest.param(({"instance": "n1"}, "1.01"), "sample of instance 'n1' is 1.01", id="above one"),
        pytest.param(({"instance": "n1"}, "-0.1"), "sample of instance 'n1' is -0.1", id="below zero"),
        pytest.param(({"instance": "n1"}, "+Inf"), "sample of instance 'n1' is +Inf", id="infinite"),
        pytest.param(({"instance": "n1"}, "x"), "sample of instance 'n1' is x", id="a word"),
        pytest.param(({"namespace": "a", "pod": "p"}, "-1"), "sample of pod 'a/p' is -1", id="a pod below zero"),
        pytest.param(({"namespace": "a", "pod": "p"}, "NaN"), "sample of pod 'a/p' is NaN", id="a pod without number"),
        pytest.param(({"pod": "p"}, "1"), 'sample {pod="p"} has no label instance', id="a pod without namespace"),
        pytest.param(({"node": "n1"}, "0.1"), 'sample {node="n1"} has no label instance', id="no instance"),
        pytest.param(({"instance": ""}, "0.1"), "has no label instance", id="an empty instance"),
    ],
)
def test_sample_that_is_no_ratio_of_a_node_is_named(
    fake_api: FakeApi, sample: tuple[dict[str, str], str], message: str
) -> None:
    fake_api.prometheus = make_answer(({"instance": "n0"}, "0.5"), sample)

    with pytest.raises(ExchangeError) as caught:
        PrometheusClient(fake_api.url).query(PROMQL)

    assert message in str(caught.value)


def test_result_that_is_no_vector_is_named(fake_api: FakeApi) -> None:
    fake_api.prometheus = {"status": "success", "data": {"resultType": "scalar", "result": [1, "2"]}}

    with pytest.raises(ExchangeError, match="prometheus answered with a scalar, a vector"):
        PrometheusClient(fake_api.url).query(PROMQL)


def test_vector_of_another_shape_is_refused(fake_api: FakeApi) -> None:
    fake_api.prometheus = {"status": "success", "data": {"resultType": "vector", "result": [{"metric": {}}]}}

    with pytest.raises(ExchangeError, match="vector that does not decode"):
        PrometheusClient(fake_api.url).query(PROMQL)


def test_query_that_prometheus_refuses_is_told_in_its_words(fake_api: FakeApi) -> None:
    refusal = {"status": "error", "errorType": "bad_data", "error": "parse error: unexpected <eof>"}
    fake_api.fail_next("POST", QUERY, Answer(400, refusal))

    with pytest.raises(ApiError, match=r"failed: parse error: unexpected <eof> \(400\)") as caught:
        PrometheusClient(fake_api.url).query(PROMQL)

    assert caught.value.reason == "bad_data"


def test_answer_of_a_proxy_is_an_error(fake_api: FakeApi) -> None:
    fake_api.fail_next("POST", QUERY, Answer(502, b"<html>secret</html>"))

    with pytest.raises(ApiError, match=r"failed: Bad Gateway \(502\)"):
        PrometheusClient(fake_api.url).query(PROMQL)


def test_redirect_is_not_followed_with_the_token(fake_api: FakeApi) -> None:
    fake_api.fail_next("POST", QUERY, Answer(302, {}, {"Location": f"{fake_api.url}/elsewhere"}))

    with pytest.raises(ApiError, match="302"):
        PrometheusClient(fake_api.url, token="t0ken").query(PROMQL)

    assert len(fake_api.requests) == 1


def test_lost_connection_is_a_transport_fault(fake_api: FakeApi) -> None:
    fake_api.fail_next("POST", QUERY, Drop())

    with pytest.raises(TransportError, match="prometheus query to http"):
        PrometheusClient(fake_api.url).query(PROMQL)


def test_roots_that_are_no_certificates_are_named(tmp_path: Path) -> None:
    roots = tmp_path / "ca.crt"
    roots.write_text("nonsense")

    with pytest.raises(ExchangeError, match=r"certificate authority .*ca\.crt cannot be used"):
        PrometheusClient("https://prometheus:9090", ca_file=roots).query(PROMQL)


@pytest.mark.parametrize("url", ["prometheus:9090", "ftp://prometheus", "http://", ""])
def test_address_without_scheme_or_host_is_refused(url: str) -> None:
    with pytest.raises(ExchangeError, match="is not an address such as"):
        PrometheusClient(url)


def test_token_is_not_shown() -> None:
    assert "t0ken" not in repr(PrometheusClient("http://prometheus", token="t0ken"))


def test_service_account_token_is_read_anew_and_none_outside_a_pod(tmp_path: Path) -> None:
    file = tmp_path / "token"

    outside = read_service_account_token(file)
    file.write_text("first\n")
    first = read_service_account_token(file)
    file.write_text("second\n")

    assert (outside, first, read_service_account_token(file)) == ("", "first", "second")


def test_user_part_of_the_address_is_basic_authentication_and_comes_before_the_token(fake_api: FakeApi) -> None:
    url = fake_api.url.replace("://", "://ops:p%40ss@")

    PrometheusClient(url, token="t0ken").query(PROMQL)

    sent = fake_api.requests[0].headers["authorization"]
    assert base64.b64decode(sent.removeprefix("Basic ")) == b"ops:p@ss"


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Drop(), id="no answer"),
        pytest.param(Answer(401, {}), id="refused credentials"),
        pytest.param(Answer(200, b"<html>"), id="an answer that is no JSON"),
    ],
)
def test_password_of_the_address_is_not_shown(fake_api: FakeApi, fault: Fault) -> None:
    client = PrometheusClient(fake_api.url.replace("://", "://ops:s3cr3t@"))
    fake_api.fail_next("POST", QUERY, fault)

    with pytest.raises(ExchangeError) as caught:
        client.query(PROMQL)

    assert fake_api.url.replace("://", "://***@") in str(caught.value)
    assert "s3cr3t" not in str(caught.value) + repr(client)


@pytest.mark.parametrize(
    "url", ["http://ops:s3cr3t@", "ftp://ops:s3cr3t@prometheus", "http://ops:s3cr3t@p:99999", "ops:s3cr3t@prometheus"]
)
def test_odd_address_is_one_sentence_without_its_password(url: str) -> None:
    with pytest.raises(ExchangeError, match="is not an address such as") as caught:
        PrometheusClient(url)

    assert "s3cr3t" not in str(caught.value)


def test_token_that_no_header_can_carry_is_one_sentence_without_it(fake_api: FakeApi) -> None:
    with pytest.raises(ExchangeError, match="the token for prometheus holds a space, a line break") as caught:
        PrometheusClient(fake_api.url, token="s3cr3t\nmore").query(PROMQL)

    assert "s3cr3t" not in str(caught.value)


def test_service_account_token_that_is_not_text_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "token").write_bytes(b"s3cr3t\xff")

    with pytest.raises(ExchangeError, match=r"service account token cannot be read from .*: it is not text"):
        read_service_account_token(tmp_path / "token")
