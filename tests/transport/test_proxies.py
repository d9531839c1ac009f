"""The way to the API server through a proxy."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3

from descheduler.kube.client import connect
from descheduler.kube.retry import RetryPolicy
from descheduler.transport.errors import ExchangeError, SettingsError, TransportError
from descheduler.transport.exchange import exchange
from descheduler.transport.proxies import Proxy, proxy_for
from descheduler.transport.timed_connections import keep_to_time
from tests.integration.fake_api import FakeApi
from tests.integration.fake_proxy import FakeProxy, Passage
from tests.kube.authentication.kubeconfigs import write_kubeconfig

NODES = "/api/v1/nodes"
SECRET = "s3cr3t"
LOGIN = "Basic " + base64.b64encode(b"ops:s3cr@t").decode()


@pytest.fixture
def proxy() -> Iterator[FakeProxy]:
    """A proxy that is serving."""
    with FakeProxy() as serving:
        yield serving


@pytest.fixture(autouse=True)
def _no_proxy_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def test_password_of_a_proxy_goes_to_the_proxy_and_the_token_through_it(
    secure_api: FakeApi, proxy: FakeProxy, tmp_path: Path
) -> None:
    named = {"proxy-url": f"http://ops:s3cr%40t@{proxy.address}"}
    client = connect(str(write_kubeconfig(tmp_path, secure_api, {"token": "t0ken"}, **named)))

    client.fetch(NODES, bytes)

    assert proxy.passages == [Passage("CONNECT", LOGIN, "")]
    assert secure_api.requests[0].headers["authorization"] == "Bearer t0ken"
    assert "proxy-authorization" not in secure_api.requests[0].headers


def test_password_of_a_proxy_is_sent_for_plain_http_too(fake_api: FakeApi, proxy: FakeProxy, tmp_path: Path) -> None:
    named = {"proxy-url": f"http://ops:s3cr%40t@{proxy.address}"}
    client = connect(str(write_kubeconfig(tmp_path, fake_api, {"token": "t0ken"}, **named)))

    client.fetch(NODES, bytes)

    assert proxy.passages == [Passage("GET", LOGIN, "")]


@pytest.mark.parametrize("scheme", ["http://", ""])
def test_proxy_of_the_environment_gets_its_password(
    secure_api: FakeApi, proxy: FakeProxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"{scheme}ops:s3cr%40t@{proxy.address}")

    connect(str(write_kubeconfig(tmp_path, secure_api, {}))).fetch(NODES, bytes)

    assert proxy.passages == [Passage("CONNECT", LOGIN, "")]


def test_proxy_url_of_the_kubeconfig_comes_before_no_proxy(
    secure_api: FakeApi, proxy: FakeProxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    connect(str(write_kubeconfig(tmp_path, secure_api, {}, **{"proxy-url": f"http://{proxy.address}"}))).fetch(
        NODES, bytes
    )

    assert [passage.method for passage in proxy.passages] == ["CONNECT"]


def test_no_proxy_keeps_the_proxy_of_the_environment_out_however_odd_it_is(
    secure_api: FakeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "socks5://nowhere:1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.0/8")

    connect(str(write_kubeconfig(tmp_path, secure_api, {}))).fetch(NODES, bytes)

    assert len(secure_api.requests) == 1


@pytest.mark.parametrize(
    ("no_proxy", "is_direct"),
    [
        pytest.param("*", True, id="everything"),
        pytest.param("other, API.Example.com ", True, id="the host in other letters"),
        pytest.param("example.com", True, id="its domain"),
        pytest.param(".example.com", True, id="its domain with a dot"),
        pytest.param("api.example.com:6443", True, id="host and port"),
        pytest.param("api.example.com:443", False, id="another port"),
        pytest.param("ample.com", False, id="the end of its domain's name"),
        pytest.param(",10.0.0.0/8", False, id="a network"),
    ],
)
def test_no_proxy_names_what_is_reached_directly(
    monkeypatch: pytest.MonkeyPatch, no_proxy: str, *, is_direct: bool
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "proxy:3128")
    monkeypatch.setenv("NO_PROXY", no_proxy)

    proxy = proxy_for("https://api.example.com:6443")

    assert proxy == (None if is_direct else Proxy("http://proxy:3128", {}))


ODD_URLS = [
    pytest.param(f"ops:{SECRET}@proxy:3128", id="no scheme"),
    pytest.param(f"socks5://ops:{SECRET}@proxy:1080", id="a SOCKS proxy"),
    pytest.param(f"ftp://ops:{SECRET}@proxy", id="another scheme"),
    pytest.param(f"http://ops:{SECRET}@", id="no host"),
    pytest.param(f"http://ops:{SECRET}@:3128", id="a port without a host"),
    pytest.param(f"http://ops:{SECRET}@pro xy:3128", id="a space"),
    pytest.param(f" http://ops:{SECRET}@proxy:3128", id="a space in front"),
    pytest.param(f"http://ops:{SECRET}@proxy:99999", id="a port beyond all ports"),
    pytest.param(f"http://ops:{SECRET}@proxy:0", id="port 0"),
    pytest.param(f"http://ops:{SECRET}@proxy:x", id="a port that is a word"),
    pytest.param(f"http://ops:{SECRET}@[::1", id="an open bracket"),
    pytest.param(f"http://ops:{SECRET}\n@proxy:1", id="a line break"),
    pytest.param("/", id="a path"),
]


@pytest.mark.parametrize("url", ODD_URLS)
def test_odd_proxy_url_is_one_sentence_without_the_password(tmp_path: Path, secure_api: FakeApi, url: str) -> None:
    file = write_kubeconfig(tmp_path, secure_api, {}, **{"proxy-url": url})

    with pytest.raises(SettingsError) as caught:
        connect(str(file))

    assert str(caught.value) == (
        f"kubeconfig {file}: proxy-url of cluster 'loopback' cannot be used: it must be an http or https URL such as "
        "http://host:3128; proxies of other kinds are not supported"
    )


@pytest.mark.parametrize("url", [3128, ["http://proxy"], {"a": SECRET}, True])
def test_proxy_url_that_is_no_text_is_located(tmp_path: Path, secure_api: FakeApi, url: Any) -> None:
    file = write_kubeconfig(tmp_path, secure_api, {}, **{"proxy-url": url})

    with pytest.raises(
        SettingsError, match=r"expected `str \| null`, got `\w+` - at `\$.clusters.*proxy-url`"
    ) as caught:
        connect(str(file))

    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "url", [f"socks5://ops:{SECRET}@proxy:1", f"http://ops:{SECRET}@proxy:99999", f"http://ops:{SECRET}@pro xy"]
)
def test_odd_proxy_of_the_environment_is_one_sentence_without_the_password(
    tmp_path: Path, secure_api: FakeApi, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", url)

    with pytest.raises(SettingsError, match="the proxy in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY cannot") as caught:
        connect(str(write_kubeconfig(tmp_path, secure_api, {})))

    assert SECRET not in str(caught.value)


def test_proxy_that_cannot_be_reached_is_named_without_its_user(secure_api: FakeApi, tmp_path: Path) -> None:
    client = connect(
        str(write_kubeconfig(tmp_path, secure_api, {}, **{"proxy-url": "http://ops:s3cret@127.0.0.1:1"})),
        retry=RetryPolicy(attempts=1),
    )

    with pytest.raises(TransportError) as caught:
        client.fetch(NODES, bytes)

    assert "the proxy 127.0.0.1:1 could not be reached; check the address of the proxy" in str(caught.value)
    assert "s3cret" not in str(caught.value)


def test_proxy_that_does_not_know_the_user_is_named(secure_api: FakeApi, proxy: FakeProxy, tmp_path: Path) -> None:
    proxy.refuses_with = 407
    client = connect(
        str(write_kubeconfig(tmp_path, secure_api, {}, **{"proxy-url": f"http://ops:s3cret@{proxy.address}"})),
        retry=RetryPolicy(attempts=1),
    )

    with pytest.raises(TransportError) as caught:
        client.fetch(NODES, bytes)

    assert f"the proxy {proxy.address} refused the connection (407); check user and password of the proxy" in str(
        caught.value
    )


def test_server_without_tls_on_the_port_is_said_so(fake_api: FakeApi) -> None:
    transport_host = fake_api.url.replace("http://", "https://")

    with pytest.raises(ExchangeError, match="the server does not speak TLS on this port; use http:// or another port"):
        exchange(
            lambda: keep_to_time(urllib3.PoolManager()).request(
                "GET", transport_host, preload_content=False, retries=False
            ),
            what="GET",
            timeout_seconds=5,
            max_bytes=1 << 20,
        )
