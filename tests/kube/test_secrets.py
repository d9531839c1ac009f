from __future__ import annotations

import base64

import pytest

from descheduler.kube.client import KubeClient
from descheduler.kube.prometheus import read_prometheus_token
from descheduler.transport.errors import ExchangeError
from tests.integration.fake_api import FakeApi
from tests.integration.faults import failure

PATH = "/api/v1/namespaces/ops/secrets/prom"


def add_secret(fake_api: FakeApi, **values: str) -> None:
    metadata = {"namespace": "ops", "name": "prom"}
    fake_api.add("/api/v1/secrets", {"metadata": metadata, "data": values})


def test_token_is_read_from_the_named_secret_only(fake_api: FakeApi, client: KubeClient) -> None:
    add_secret(fake_api, prometheusAuthToken=base64.b64encode(b"t0ken\n").decode(), other="eA==")

    token = read_prometheus_token(client, "ops", "prom")

    assert token == "t0ken"
    assert [request.path for request in fake_api.requests] == [PATH]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        pytest.param({}, "key prometheusAuthToken is missing or empty", id="the key is missing"),
        pytest.param({"prometheusAuthToken": ""}, "key prometheusAuthToken is missing or empty", id="it is empty"),
        pytest.param(
            {"prometheusAuthToken": base64.b64encode(b"s3cr3t\nmore").decode()},
            "key prometheusAuthToken holds a space, a line break or a character that HTTP headers cannot carry",
            id="it holds two lines",
        ),
        pytest.param({"prometheusAuthToken": "s3cr3t!"}, "does not hold base64 text", id="it is not base64"),
    ],
)
def test_unusable_secret_is_named_and_not_shown(
    fake_api: FakeApi, client: KubeClient, values: dict[str, str], message: str
) -> None:
    add_secret(fake_api, **values)

    with pytest.raises(ExchangeError, match=message) as caught:
        read_prometheus_token(client, "ops", "prom")

    assert "secret ops/prom" in str(caught.value)
    assert "s3cr3t" not in str(caught.value)


def test_missing_secret_is_named(client: KubeClient) -> None:
    with pytest.raises(ExchangeError, match="secret ops/prom does not exist"):
        read_prometheus_token(client, "ops", "prom")


def test_forbidden_secret_says_which_right_is_missing(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.fail_next("GET", PATH, failure(403, "Forbidden", "no"))

    with pytest.raises(ExchangeError, match=r"not allowed to read secret ops/prom \(RBAC\); grant the verb get"):
        read_prometheus_token(client, "ops", "prom")
