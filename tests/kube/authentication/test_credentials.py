"""Who the requests say they are from, over HTTPS as a cluster has it: tokens, files, plugins, passwords."""

from __future__ import annotations

import base64
import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from descheduler.kube.authentication.credentials import Issued, RenewedCredentials, read_token_file
from descheduler.kube.client import KubeClient, connect
from descheduler.kube.errors import ApiError
from descheduler.transport.errors import SettingsError
from tests.integration.fake_api import FakeApi
from tests.kube.authentication.kubeconfigs import write_kubeconfig

NODES = "/api/v1/nodes"
SECRET = "s3cr3t-t0ken"


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def authorization_of(api: FakeApi, client: KubeClient) -> str:
    """What a request of the client says in the field Authorization."""
    client.fetch(NODES, bytes)
    return api.requests[-1].headers.get("authorization", "")


def write_plugin(folder: Path, status: dict[str, Any], *, code: int = 0, stderr: str = "") -> dict[str, Any]:
    """The entry of a credential plugin that prints `status`, once for each line in the file `runs`."""
    file = folder / "login"
    credential = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}
    file.write_text(
        f"#!{sys.executable}\n"
        "import sys\n"
        f"open({str(folder / 'runs')!r}, 'a').write('run\\n')\n"
        f"print(open({str(folder / 'status')!r}).read())\n"
        f"print({stderr!r}, file=sys.stderr)\n"
        f"sys.exit({code})\n"
    )
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    (folder / "status").write_text(json.dumps(credential))
    return {"command": "./login", "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never"}


@pytest.mark.parametrize("ending", ["\n", "\r\n", " \n\n"])
def test_line_break_after_a_token_is_dropped(secure_api: FakeApi, tmp_path: Path, ending: str) -> None:
    (tmp_path / "token").write_text(SECRET + ending)
    users: dict[str, dict[str, Any]] = {
        "token": {"token": SECRET + ending},
        "tokenFile": {"tokenFile": "token"},
        "exec": {"exec": write_plugin(tmp_path, {"token": SECRET + ending})},
    }

    sent = {
        name: authorization_of(secure_api, connect(str(write_kubeconfig(tmp_path, secure_api, user))))
        for name, user in users.items()
    }

    assert sent == dict.fromkeys(users, f"Bearer {SECRET}")


@pytest.mark.parametrize("damage", ["a\nb", "a b", "a\tb", "a\x7fb", "aäb", "a\u2028b"])
def test_token_that_no_header_can_carry_is_one_sentence_without_it(
    secure_api: FakeApi, tmp_path: Path, damage: str
) -> None:
    token = SECRET + damage
    (tmp_path / "token").write_text(token)
    owner = "the token of user 'tester'"
    users: list[tuple[dict[str, Any], str]] = [
        ({"token": token}, owner),
        ({"tokenFile": "token"}, owner),
        ({"exec": write_plugin(tmp_path, {"token": token})}, "credential plugin './login' of user 'tester'"),
    ]

    for user, named in users:
        with pytest.raises(SettingsError) as caught:
            connect(str(write_kubeconfig(tmp_path, secure_api, user)))

        assert named in str(caught.value)
        assert "a character that HTTP headers cannot carry; renew it" in str(caught.value)
        assert SECRET not in str(caught.value)


def test_user_to_impersonate_goes_as_utf8_and_not_with_a_line_break(secure_api: FakeApi, tmp_path: Path) -> None:
    file = str(write_kubeconfig(tmp_path, secure_api, {}))

    connect(file, as_user="jürgen").fetch(NODES, bytes)
    with pytest.raises(SettingsError, match="the user of --as holds a line break"):
        connect(file, as_user="a\nX-Evil: b")
    with pytest.raises(SettingsError, match="the user of --as holds a line break"):
        connect(file, as_user="\udcff")

    assert secure_api.requests[0].headers["impersonate-user"].encode("latin-1").decode() == "jürgen"


@pytest.mark.parametrize(
    "user",
    [
        pytest.param({"token": SECRET}, id="a token"),
        pytest.param({"tokenFile": "token"}, id="a token file"),
        pytest.param({"username": "ops", "password": SECRET}, id="a password"),
    ],
)
def test_nothing_of_a_user_is_sent_over_plain_http(fake_api: FakeApi, tmp_path: Path, user: dict[str, Any]) -> None:
    (tmp_path / "token").write_text(SECRET)
    client = connect(str(write_kubeconfig(tmp_path, fake_api, user)))

    sent = authorization_of(fake_api, client)

    assert sent == ""


def test_no_plugin_runs_for_a_server_of_plain_http(fake_api: FakeApi, tmp_path: Path) -> None:
    client = connect(str(write_kubeconfig(tmp_path, fake_api, {"exec": write_plugin(tmp_path, {"token": SECRET})})))

    sent = authorization_of(fake_api, client)

    assert (sent, (tmp_path / "runs").exists()) == ("", False)


def test_plain_http_server_that_wants_credentials_is_told_apart(fake_api: FakeApi, tmp_path: Path) -> None:
    fake_api.token = SECRET
    client = connect(str(fake_api.write_kubeconfig(tmp_path / "kubeconfig")))

    with pytest.raises(ApiError, match=r"requires credentials \(401\), which are not sent over plain http; use"):
        client.fetch(NODES, bytes)


def test_password_of_a_user_is_basic_authentication(secure_api: FakeApi, tmp_path: Path) -> None:
    client = connect(str(write_kubeconfig(tmp_path, secure_api, {"username": "ops", "password": "pä:ss"})))

    sent = authorization_of(secure_api, client)

    assert base64.b64decode(sent.removeprefix("Basic ")).decode() == "ops:pä:ss"


@pytest.mark.parametrize("secure", [True, False])
def test_user_part_of_the_server_is_used_before_the_token_and_never_shown(
    secure_api: FakeApi, fake_api: FakeApi, tmp_path: Path, secure: bool
) -> None:
    api = secure_api if secure else fake_api
    server = api.url.replace("://", "://ops:p%40ss@")
    client = connect(str(write_kubeconfig(tmp_path, api, {"token": SECRET}, server=server)))

    sent = authorization_of(api, client)

    assert base64.b64decode(sent.removeprefix("Basic ")) == b"ops:p@ss"
    assert client.host == api.url


def test_rotated_token_file_is_read_again_after_a_401_and_the_call_is_made_again(
    secure_api: FakeApi, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("first\n")
    secure_api.token = "first"
    client = connect(str(write_kubeconfig(tmp_path, secure_api, {"tokenFile": "token"})))
    client.fetch(NODES, bytes)

    secure_api.token = "second"
    (tmp_path / "token").write_text("second\n")
    client.fetch(NODES, bytes)

    assert [request.headers["authorization"] for request in secure_api.requests] == [
        "Bearer first",
        "Bearer first",
        "Bearer second",
    ]


def test_refused_plugin_token_is_fetched_again_once(secure_api: FakeApi, tmp_path: Path) -> None:
    user = {"exec": write_plugin(tmp_path, {"token": "first"})}
    secure_api.token = "second"
    client = connect(str(write_kubeconfig(tmp_path, secure_api, user)))
    status = (tmp_path / "status").read_text()

    (tmp_path / "status").write_text(status.replace("first", "second"))
    client.fetch(NODES, bytes)

    assert (tmp_path / "runs").read_text() == "run\nrun\n"


def test_credentials_that_stay_refused_are_sent_once(secure_api: FakeApi, tmp_path: Path) -> None:
    secure_api.token = "right"
    client = connect(str(write_kubeconfig(tmp_path, secure_api, {"token": "wrong"})))

    with pytest.raises(ApiError, match="does not accept the credentials"):
        client.fetch(NODES, bytes)

    assert len(secure_api.requests) == 1


def test_token_file_is_read_once_a_minute(tmp_path: Path) -> None:
    file, clock = tmp_path / "token", Clock()
    file.write_text("first")
    credentials = RenewedCredentials(lambda: read_token_file(file, "the token"), clock=clock)
    first = credentials.authorization()
    file.write_text("second")

    clock.seconds = 59.0
    within_a_minute = credentials.authorization()
    clock.seconds = 61.0
    after_it = credentials.authorization()

    assert (first, within_a_minute, after_it) == ("Bearer first", "Bearer first", "Bearer second")


def test_token_that_cannot_be_renewed_stays_in_use(tmp_path: Path) -> None:
    file, clock = tmp_path / "token", Clock()
    file.write_text("first")
    credentials = RenewedCredentials(lambda: read_token_file(file, "the token"), clock=clock)
    credentials.authorization()
    file.unlink()

    clock.seconds = 61.0

    assert credentials.authorization() == "Bearer first"


def test_short_lived_token_is_not_fetched_for_every_request() -> None:
    clock = Clock()
    tokens = iter(["first", "second"])
    credentials = RenewedCredentials(lambda: Issued(next(tokens), 0.0), clock=clock)

    used = [credentials.authorization() for _ in range(3)]

    assert used == ["first"] * 3


def test_value_is_renewed_when_its_time_is_over_and_not_before() -> None:
    clock = Clock()
    tokens = iter(["first", "second"])
    credentials = RenewedCredentials(lambda: Issued(next(tokens), 100.0), clock=clock)

    used = []
    for clock.seconds in (0.0, 99.0, 100.0, 199.0):
        used.append(credentials.authorization())

    assert used == ["first", "first", "second", "second"]


def test_renewal_that_failed_is_not_tried_for_every_request() -> None:
    clock, asked = Clock(), []

    def issue() -> Issued:
        asked.append(clock.seconds)
        if len(asked) > 1:
            raise SettingsError("no")
        return Issued("first", 100.0)

    credentials = RenewedCredentials(issue, clock=clock)
    for clock.seconds in (0.0, 100.0, 100.5, 101.0):
        assert credentials.authorization() == "first"

    assert asked == [0.0, 100.0]


def test_only_the_value_that_was_refused_is_renewed() -> None:
    tokens = iter(["first", "second"])
    credentials = RenewedCredentials(lambda: Issued(next(tokens), 100.0), clock=Clock())
    credentials.authorization()

    credentials.refuse("other")
    assert credentials.authorization() == "first"
    credentials.refuse("first")
    assert credentials.authorization() == "second"


def test_token_file_comes_before_the_token_that_stands_in_for_it(secure_api: FakeApi, tmp_path: Path) -> None:
    user = {"tokenFile": "token", "token": "spare"}
    without = authorization_of(secure_api, connect(str(write_kubeconfig(tmp_path, secure_api, user))))
    (tmp_path / "token").write_text("fresh")

    with_file = authorization_of(secure_api, connect(str(write_kubeconfig(tmp_path, secure_api, user))))

    assert (without, with_file) == ("Bearer spare", "Bearer fresh")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(None, "no such file or directory", id="a file that is not there"),
        pytest.param(b" \n", "the file is empty", id="an empty file"),
        pytest.param(b"s3cr3t-t0ken\xff", "it is not text", id="a file of bytes"),
    ],
)
def test_unusable_token_file_is_named(secure_api: FakeApi, tmp_path: Path, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / "token").write_bytes(content)

    with pytest.raises(SettingsError) as caught:
        connect(str(write_kubeconfig(tmp_path, secure_api, {"tokenFile": "token"})))

    expected = f"the token of user 'tester' cannot be read from {tmp_path / 'token'}: {message}"
    assert str(caught.value) == expected


@pytest.mark.parametrize(
    ("status", "code", "cause"),
    [
        pytest.param({"token": SECRET}, 3, "exit code 3", id="a plugin that fails"),
        pytest.param({}, 0, "it printed neither a token nor a certificate with its key", id="an empty status"),
        pytest.param({"token": [SECRET]}, 0, "it did not print an ExecCredential", id="a token that is a list"),
        pytest.param({"expirationTimestamp": SECRET}, 0, "it did not print an ExecCredential", id="a bad time"),
    ],
)
def test_unusable_plugin_is_one_sentence_without_what_it_printed(
    secure_api: FakeApi,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    status: dict[str, Any],
    code: int,
    cause: str,
) -> None:
    plugin = write_plugin(tmp_path, status, code=code, stderr=f"cannot log in with {SECRET}")

    with pytest.raises(SettingsError) as caught:
        connect(str(write_kubeconfig(tmp_path, secure_api, {"exec": plugin})))

    assert str(caught.value).endswith(f"'tester' returned no credentials ({cause}); run it by hand to see why")
    assert SECRET not in str(caught.value) + "".join(capfd.readouterr())


def test_plugin_that_prints_without_end_is_killed(secure_api: FakeApi, tmp_path: Path) -> None:
    program, told = tmp_path / "login", tmp_path / "pid"
    program.write_text(
        f"#!{sys.executable}\nimport os, sys\n"
        f"open({str(told)!r}, 'w').write(str(os.getpid()))\n"
        "while True: sys.stdout.write('x' * 65536)\n"
    )
    program.chmod(0o755)
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "./login", "interactiveMode": "Never"}

    with pytest.raises(SettingsError, match=r"returned no credentials \(it printed more than 1 MiB\)"):
        connect(str(write_kubeconfig(tmp_path, secure_api, {"exec": plugin})))

    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)


def test_plugin_is_told_of_the_cluster_when_it_asks_for_that(secure_api: FakeApi, tmp_path: Path) -> None:
    variables = [{"name": "A", "value": "b"}]
    plugin = write_plugin(tmp_path, {"token": SECRET}) | {"provideClusterInfo": True, "env": variables}
    keep = f"open({str(tmp_path / 'info')!r}, 'w').write(os.environ['A'] + os.environ['KUBERNETES_EXEC_INFO'])"
    script = (tmp_path / "login").read_text().replace("import sys\n", f"import os, sys\n{keep}\n")
    (tmp_path / "login").write_text(script)

    connect(str(write_kubeconfig(tmp_path, secure_api, {"exec": plugin})))

    told = (tmp_path / "info").read_text()
    cluster = json.loads(told[1:])["spec"]["cluster"]
    assert told[0] == "b"
    assert cluster["server"] == secure_api.url
    assert base64.b64decode(cluster["certificate-authority-data"]).startswith(b"-----BEGIN CERTIFICATE")


def test_token_of_an_auth_provider_is_sent(secure_api: FakeApi, tmp_path: Path) -> None:
    provider = {"name": "gcp", "config": {"access-token": SECRET, "expiry": "2999-01-01T00:00:00Z"}}
    client = connect(str(write_kubeconfig(tmp_path, secure_api, {"auth-provider": provider})))

    assert authorization_of(secure_api, client) == f"Bearer {SECRET}"


def test_nothing_that_holds_a_secret_shows_it_in_its_representation(secure_api: FakeApi, tmp_path: Path) -> None:
    from descheduler.kube.authentication.configuration import load_connection
    from descheduler.kube.authentication.kubeconfig_file import choose_context

    file = write_kubeconfig(tmp_path, secure_api, {"token": SECRET}, **{"proxy-url": f"http://a:{SECRET}@proxy:1"})

    shown = repr(choose_context([file], None)) + repr(load_connection(str(file), None)) + repr(Issued(SECRET, 1.0))

    assert SECRET not in shown
