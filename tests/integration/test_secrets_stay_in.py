"""No secret shows in anything that a run leaves behind, however it ends."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import process_logging
from tests.certificates import Certificate
from tests.integration.canaries import MARKER, TOKEN_SECRET, CanaryWorld
from tests.integration.fake_api import FakeApi
from tests.integration.fake_proxy import FakeProxy
from tests.integration.faults import Answer, BrokenGzip, Drop, EvictThenDrop, Fault, Truncate, budget_refusal, failure

PODS = "/api/v1/pods"
QUERY = "/api/v1/query"
SECRET = "/api/v1/namespaces/monitoring/secrets/token"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
LONE = chr(0xD800)

Fiddle = Callable[[CanaryWorld], object]


@pytest.fixture(autouse=True)
def _own_surroundings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No proxies of this machine, and a log that ends with the test."""
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    with process_logging.restored():
        yield


@pytest.fixture
def world(tmp_path: Path, secure_api: FakeApi, fake_api: FakeApi) -> Iterator[CanaryWorld]:
    """A world in which all goes well."""
    with FakeProxy() as proxy:
        yield CanaryWorld(tmp_path, secure_api, fake_api, proxy)


def assert_no_secret(world: CanaryWorld, captured: tuple[str, str]) -> None:
    """Neither in clear, nor in the base64 form of a Secret or of basic authentication."""
    everything = "\n".join([*captured, world.left_behind()])
    logins = [f"ops:{MARKER}-{name}".encode() for name in ("url", "proxy", "server", "password")]
    forms = [MARKER, *(base64.b64encode(login).decode() for login in logins)]
    forms += [base64.b64encode(MARKER.encode()).decode()[:8]]
    assert [form for form in forms if form in everything] == []


def answers(method: str, path: str, fault: Fault) -> Fiddle:
    """The API server answers the first such request so."""
    return lambda world: world.api.fail_next(method, path, fault)


def evicts(fault: Fault) -> Fiddle:
    """The API server answers every eviction so."""

    def fiddle(world: CanaryWorld) -> None:
        for number in range(4):
            path = f"/api/v1/namespaces/default/pods/p{number}/eviction"
            world.api.fail_always("POST", path, fault)

    return fiddle


def measures(fault: Fault) -> Fiddle:
    """Prometheus answers so."""
    return lambda world: world.prometheus.fail_always("POST", QUERY, fault)


def reached_at(url: str) -> Fiddle:
    """The policy names Prometheus so."""

    def fiddle(world: CanaryWorld) -> None:
        world.policy = world.policy_for(url.replace("{}", world.prometheus.url.removeprefix("http://")))

    return fiddle


def cluster(**settings: object) -> Fiddle:
    """The kubeconfig says so of the cluster."""
    return lambda world: world.cluster.update({name.replace("_", "-"): text for name, text in settings.items()})


def user(**settings: object) -> Fiddle:
    """The kubeconfig says so of the user."""

    def fiddle(world: CanaryWorld) -> None:
        world.user = {name.replace("_", "-"): text for name, text in settings.items()}

    return fiddle


def flags(*texts: str) -> Fiddle:
    """The command line goes on so."""
    return lambda world: world.flags.extend(texts)


def with_server_userinfo(world: CanaryWorld) -> None:
    world.cluster["server"] = world.api.url.replace("://", f"://ops:{MARKER}-server@")


USERS: dict[str, tuple[Fiddle, str]] = {
    "token": (lambda world: None, f"Bearer {MARKER}-token"),
    "token-file": (lambda world: world.use_token_file(f"{MARKER}-file\n".encode()), f"Bearer {MARKER}-file"),
    "plugin": (lambda world: world.use_plugin(), f"Bearer {MARKER}-plugin"),
    "server": (with_server_userinfo, "Basic " + base64.b64encode(f"ops:{MARKER}-server".encode()).decode()),
    "password": (
        user(username="ops", password=f"{MARKER}-password"),
        "Basic " + base64.b64encode(f"ops:{MARKER}-password".encode()).decode(),
    ),
}


@pytest.mark.parametrize("name", USERS)
@pytest.mark.parametrize("arguments", [("-o", "json"), ("--dry-run", "-o", "yaml", "--log-format", "json")])
def test_run_that_goes_well_uses_its_secrets_and_shows_none(
    world: CanaryWorld, capfd: pytest.CaptureFixture[str], name: str, arguments: tuple[str, ...]
) -> None:
    fiddle, authorization = USERS[name]
    fiddle(world)

    code = world.run(*arguments)

    login = "Basic " + base64.b64encode(f"ops:{MARKER}-proxy".encode()).decode()
    assert code == 0
    assert {request.headers.get("authorization") for request in world.api.requests} == {authorization}
    assert {passage.proxy_authorization for passage in world.proxy.passages} == {login}
    assert world.prometheus.requests[0].headers["authorization"].startswith("Basic ")
    assert_no_secret(world, capfd.readouterr())


FAULTS = {
    "refused credentials": answers("GET", PODS, failure(401, "Unauthorized", "Unauthorized")),
    "a list that is forbidden": answers("GET", PODS, failure(403, "Forbidden", "forbidden")),
    "a server fault": answers("GET", PODS, failure(500, "InternalError", "etcdserver: request timed out")),
    "an answer cut short": answers("GET", PODS, Truncate()),
    "damaged gzip": answers("GET", PODS, BrokenGzip()),
    "no answer": answers("GET", PODS, Drop()),
    "a redirect": answers("GET", PODS, Answer(302, {}, {"Location": "https://elsewhere"})),
    "a list that is no JSON": answers("GET", PODS, Answer(502, b"<html>")),
    "a budget": evicts(budget_refusal("web")),
    "evictions that are forbidden": evicts(failure(403, "Forbidden", "forbidden")),
    "an eviction without an answer": evicts(EvictThenDrop()),
    "an eviction with a fault": evicts(failure(500, "", "etcdserver: request timed out")),
    "a Lease that is forbidden": answers("POST", LEASES, failure(403, "Forbidden", "forbidden")),
    "a Secret that is forbidden": answers("GET", SECRET, failure(403, "Forbidden", "forbidden")),
    "a Secret that is not there": answers("GET", SECRET, failure(404, "NotFound", "not found")),
    "a Secret with two lines": lambda world: world.put_secret(f"{MARKER}\n{MARKER}"),
    "a Secret that is no text": lambda world: world.put_secret(f"{MARKER}{chr(0x2028)}{MARKER}"),
    "Prometheus without an answer": measures(Drop()),
    "Prometheus that refuses": measures(Answer(401, {"status": "error", "error": "unauthorized"})),
    "Prometheus that redirects": measures(Answer(302, {}, {"Location": "http://elsewhere"})),
    "Prometheus with HTML": measures(Answer(200, b"<html>")),
    "no Prometheus": reached_at(f"http://ops:{MARKER}-url@127.0.0.1:1"),
    "Prometheus with the Secret alone and a damaged one": lambda world: (
        reached_at("http://{}")(world),
        world.put_secret(f"{MARKER} {MARKER}"),
    ),
    "a Prometheus URL with an odd port": reached_at(f"http://ops:{MARKER}-url@prom:port"),
    "a Prometheus URL with an unescaped password": reached_at(f"http://ops:{MARKER}/{MARKER}@prom"),
    "a Prometheus URL of another scheme": reached_at(f"ftp://ops:{MARKER}-url@prom"),
    "a token with two lines": user(token=f"{MARKER}\n{MARKER}"),
    "a token that is a number": user(token=[MARKER]),
    "a token with half a surrogate pair": user(token=f"{MARKER}{LONE}"),
    "a token file of bytes": lambda world: world.use_token_file(f"{MARKER}".encode() + b"\xff"),
    "a token file with two lines": lambda world: world.use_token_file(f"{MARKER}\n{MARKER}".encode()),
    "a certificate that is none": user(client_certificate_data=MARKER, client_key_data=MARKER),
    "a plugin that fails": lambda world: world.use_plugin(code=1),
    "a plugin that prints anything": lambda world: world.use_plugin(f"{MARKER}-plugin"),
    "a plugin with two lines": lambda world: world.use_plugin(
        json.dumps(
            {
                "apiVersion": "client.authentication.k8s.io/v1",
                "kind": "ExecCredential",
                "status": {"token": f"{MARKER}\n{MARKER}"},
            }
        )
    ),
    "an auth-provider that is none": user(auth_provider={"name": "oidc", "config": {"id-token": f"{MARKER}.a.b"}}),
    "a server with an odd port": cluster(server=f"https://ops:{MARKER}-server@host:port"),
    "a server that is not there": cluster(server=f"https://ops:{MARKER}-server@127.0.0.1:1", proxy_url=""),
    "a proxy that is not there": cluster(proxy_url=f"http://ops:{MARKER}-proxy@127.0.0.1:1"),
    "a proxy of another kind": cluster(proxy_url=f"socks5://ops:{MARKER}-proxy@127.0.0.1:1"),
    "a proxy that is no URL": cluster(proxy_url=f"ops:{MARKER}-proxy@ pr oxy"),
    "a push URL with a password": flags("--metrics-push-url", f"http://ops:{MARKER}-push@127.0.0.1:1"),
    "a push URL with an odd port": flags("--metrics-push-url", f"http://ops:{MARKER}-push@127.0.0.1:port"),
    "a collector with a password": flags("--otel-collector-endpoint", f"http://ops:{MARKER}-otel@127.0.0.1:1"),
}


@pytest.mark.long
@pytest.mark.parametrize("name", FAULTS)
def test_no_fault_shows_a_secret(
    world: CanaryWorld, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    # An eviction with a fault is made three times, each after the one before can no longer take effect.
    monkeypatch.setattr("descheduler.cycle.live.live_run._ETCD_ALLOWANCE_SECONDS", 0.0)
    FAULTS[name](world)
    world.flags += ["--request-timeout", "2s"]

    world.run("-o", "json")

    captured = capfd.readouterr()
    assert "internal error" not in captured.err
    assert_no_secret(world, captured)


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_defect_whose_text_holds_a_secret_shows_none(
    world: CanaryWorld, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, log_format: str
) -> None:
    def explode(*_arguments: object, **_named: object) -> None:
        try:
            raise KeyError(f"{MARKER}-cause")
        except KeyError as error:
            raise ValueError(f"Invalid header value b'Bearer {MARKER}-defect'") from error

    monkeypatch.setattr("descheduler.cluster.live.PrometheusClient.query", explode)
    code = world.run("--log-format", log_format)

    captured = capfd.readouterr()
    assert code == 1
    assert "internal error: ValueError in descheduler.cluster.live:" in captured.err
    assert_no_secret(world, captured)


def test_token_of_prometheus_that_cannot_be_sent_ends_its_plugin_alone(
    world: CanaryWorld, capfd: pytest.CaptureFixture[str]
) -> None:
    world.put_secret(f"{MARKER}\n{MARKER}")

    world.run("--dry-run", "-o", "json")

    (failed,) = json.loads(capfd.readouterr().out)["failures"]
    assert failed["plugin"] == "LowNodeUtilization"
    assert failed["message"] == (
        "secret monitoring/token: key prometheusAuthToken holds a space, a line break or a character that HTTP headers "
        "cannot carry; renew it"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(("--context", "\udcff"), "context '\\udcff' is not defined (defined: loopback)", id="a context"),
        pytest.param(("--as", "\udcff"), "the user of --as holds a line break or a character", id="a user"),
        pytest.param(("--as", "a\nb"), "the user of --as holds a line break or a character", id="a user of two lines"),
    ],
)
def test_text_on_the_command_line_that_is_not_unicode_is_one_message(
    world: CanaryWorld, capfd: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    code = world.run(*arguments)

    captured = capfd.readouterr()
    assert code == 1
    assert message in captured.err.splitlines()[-1]
    assert "internal error" not in captured.err


@pytest.mark.parametrize(
    ("is_secure", "sent"),
    [
        pytest.param(True, f"Bearer {MARKER}-account", id="over https"),
        pytest.param(False, None, id="never over plain http"),
    ],
)
def test_token_of_the_service_account_goes_to_prometheus_over_https_only(
    world: CanaryWorld,
    certificate: Certificate,
    monkeypatch: pytest.MonkeyPatch,
    is_secure: bool,
    sent: str | None,
) -> None:
    monkeypatch.setattr("descheduler.cluster.live.read_service_account_token", lambda: f"{MARKER}-account")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.file))
    with FakeApi(certificate=certificate if is_secure else None) as prometheus:
        prometheus.prometheus = world.prometheus.prometheus
        world.policy = world.policy_for(prometheus.url).replace(TOKEN_SECRET, "")

        code = world.run("--dry-run")

    assert code == 0
    assert prometheus.requests[0].headers.get("authorization") == sent
