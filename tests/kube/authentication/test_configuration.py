from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from descheduler.kube.authentication.configuration import default_namespace
from descheduler.kube.client import connect
from descheduler.transport.errors import SettingsError
from tests.integration.fake_api import FakeApi

SECRET = "s3cr3t-t0ken"


def make_config(**changes: Any) -> dict[str, Any]:
    return {
        "current-context": "prod",
        "contexts": [{"name": "prod", "context": {"cluster": "east", "user": "ops"}}],
        "clusters": [{"name": "east", "cluster": {"server": "https://east:6443"}}],
        "users": [{"name": "ops", "user": {"token": SECRET}}],
        **changes,
    }


def write(file: Path, document: Any) -> Path:
    file.write_text(document if isinstance(document, str) else yaml.safe_dump(document))
    return file


@pytest.mark.long
@pytest.mark.parametrize(
    ("document", "message"),
    [
        pytest.param(
            make_config(**{"current-context": ""}),
            "no current-context is set; choose one with --context (defined: prod)",
            id="no current context",
        ),
        pytest.param(
            make_config(**{"current-context": "test"}),
            "context 'test' is not defined (defined: prod)",
            id="a context that is not there",
        ),
        pytest.param(make_config(contexts=None), "context 'prod' is not defined (none is defined)", id="no contexts"),
        pytest.param(
            make_config(clusters=[{"name": "west", "cluster": {"server": "https://west"}}]),
            "context 'prod' names cluster 'east', which is not defined (defined: west)",
            id="a cluster that is not there",
        ),
        pytest.param(
            make_config(clusters=[{"name": "east", "cluster": {}}]),
            "cluster 'east' needs a server such as https://host:6443",
            id="a cluster without a server",
        ),
        pytest.param(
            make_config(clusters=[{"name": "east", "cluster": {"server": "east:6443"}}]),
            "cluster 'east' needs a server such as https://host:6443",
            id="a server without a scheme",
        ),
        pytest.param(
            make_config(clusters=[{"name": "east", "cluster": {"server": "https://[::1"}}]),
            "cluster 'east' needs a server such as https://host:6443",
            id="a server with an open bracket",
        ),
        pytest.param(
            make_config(clusters=[{"name": "east", "cluster": {"server": "https://east:99999"}}]),
            "cluster 'east' needs a server such as https://host:6443",
            id="a server with a port that is none",
        ),
        pytest.param(
            make_config(clusters=[{"name": "east", "cluster": {"server": "https://a%20b"}}]),
            "cluster 'east' needs a server such as https://host:6443",
            id="a server with an escape in its name",
        ),
        pytest.param(
            make_config(clusters=[{"name": "east", "cluster": {"server": "https://a", "tls-server-name": "a..b"}}]),
            "tls-server-name of cluster 'east' is not the name of a host",
            id="a TLS server name with an empty label",
        ),
        pytest.param(
            make_config(users=[{"name": "dev", "user": {"token": SECRET}}]),
            "context 'prod' names user 'ops', which is not defined (defined: dev)",
            id="a user that is not there",
        ),
        pytest.param(
            make_config(users=[{"name": "ops", "user": {"client-certificate": "/nowhere/cert.pem"}}]),
            "context 'prod' cannot be used: file /nowhere/cert.pem does not exist",
            id="a certificate file that is not there",
        ),
        pytest.param(
            make_config(users=[{"name": "ops", "user": {"client-certificate-data": SECRET}}]),
            "context 'prod' cannot be used: the credentials of user 'ops' or the cluster's certificates are malformed",
            id="certificate data that is no base64",
        ),
        pytest.param(
            make_config(users=[{"name": "ops", "user": {"exec": {"command": "/nowhere/login", "apiVersion": "v1"}}}]),
            "credential plugin '/nowhere/login' of user 'ops' returned no credentials (no such file or directory); "
            "run it by hand to see why",
            id="a credential plugin that does not run",
        ),
        pytest.param(
            make_config(
                users=[{"name": "ops", "user": dict.fromkeys(("client-certificate-data", "client-key-data"), "czNj")}]
            ),
            "context 'prod' cannot be used: the credentials of user 'ops' or the cluster's certificates are malformed",
            id="a certificate that is none",
        ),
        pytest.param(
            make_config(users=[{"name": "ops", "user": {"auth-provider": {"a": chr(0xD800)}}}]),
            "users[0].user.auth-provider.a holds a NUL or a character that is not text; fix it",
            id="half a surrogate pair where any value may be",
        ),
        pytest.param("- a\n- b\n", "contains no configuration; fix it", id="a list"),
        pytest.param("", "contains no configuration; fix it", id="an empty file"),
        pytest.param("a: 2026-13-01\n", "is not valid YAML; fix it", id="a date that does not exist"),
        pytest.param("a: " + "[" * 5000, "is not valid YAML; fix it", id="YAML nested without end"),
        pytest.param(make_config(contexts="prod"), "expected `array | null`, got `str` - at `$.contexts`", id="a word"),
    ],
)
def test_unusable_kubeconfig_is_one_sentence_without_secrets(tmp_path: Path, document: Any, message: str) -> None:
    file = write(tmp_path / "config", document)

    with pytest.raises(SettingsError) as caught:
        connect(str(file))

    assert str(caught.value) == f"kubeconfig {file}: {message}"
    assert SECRET not in repr(caught.value.__cause__)


def test_broken_yaml_is_located_and_its_line_is_not_quoted(tmp_path: Path) -> None:
    file = write(tmp_path / "config", f'users:\n- user: {{token: "{SECRET}\n')

    with pytest.raises(SettingsError, match=r"config:3:1: is not valid YAML") as caught:
        connect(str(file))

    assert SECRET not in str(caught.value)
    assert caught.value.__suppress_context__


def test_missing_kubeconfig_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "nowhere"

    with pytest.raises(SettingsError) as caught:
        connect(str(file))

    assert str(caught.value) == f"kubeconfig {file}: no such file; name another one with --kubeconfig or KUBECONFIG"


def test_nothing_to_connect_to_says_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(
        SettingsError, match=r"no cluster is configured: neither .*/\.kube/config nor a service account"
    ):
        connect(environ={"HOME": str(tmp_path)})


def test_context_asked_for_wins_over_the_current_one(tmp_path: Path) -> None:
    document = make_config()
    document["contexts"].append({"name": "test", "context": {"cluster": "west", "user": "ops"}})
    document["clusters"].append({"name": "west", "cluster": {"server": "https://west:6443/"}})
    file = write(tmp_path / "config", document)

    client = connect(str(file), "test")

    assert client.host == "https://west:6443"


def test_environment_names_the_kubeconfig_and_missing_parts_are_passed_over(tmp_path: Path) -> None:
    file = write(tmp_path / "config", make_config())

    client = connect(environ={"KUBECONFIG": f"{tmp_path / 'nowhere'}:{file}"})

    assert client.host == "https://east:6443"


def test_first_of_several_files_says_which_context_is_current(tmp_path: Path) -> None:
    first = write(tmp_path / "first", make_config())
    other = make_config(
        **{"current-context": "test"},
        contexts=[{"name": "test", "context": {"cluster": "west", "user": "ops"}}],
        clusters=[{"name": "west", "cluster": {"server": "https://west:6443"}}],
    )
    second = write(tmp_path / "second", other)

    client = connect(f"{first}:{second}")

    assert client.host == "https://east:6443"


@pytest.mark.parametrize(
    ("context", "expected"),
    [pytest.param(None, "shop", id="the current context"), pytest.param("test", "", id="a context without one")],
)
def test_namespace_is_that_of_the_context(tmp_path: Path, context: str | None, expected: str) -> None:
    document = make_config()
    document["contexts"][0]["context"]["namespace"] = "shop"
    document["contexts"].append({"name": "test", "context": {"cluster": "east", "user": "ops"}})
    file = write(tmp_path / "config", document)

    assert default_namespace(str(file), context, environ={}) == expected


def test_home_kubeconfig_is_used_when_nothing_else_is_named(fake_api: FakeApi, tmp_path: Path) -> None:
    (tmp_path / ".kube").mkdir()
    fake_api.write_kubeconfig(tmp_path / ".kube" / "config")

    client = connect(environ={"HOME": str(tmp_path)})

    assert client.host == fake_api.url


def test_importing_the_edge_does_not_import_the_heavy_client() -> None:
    modules = "sys, descheduler.kube.client, descheduler.migration.roads.plain"
    code = f"import {modules}; print('kubernetes' in sys.modules)"

    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert output.strip() == "False"


def test_connecting_does_not_import_the_heavy_client_either(fake_api: FakeApi, tmp_path: Path) -> None:
    file = fake_api.write_kubeconfig(tmp_path / "config")
    code = (
        "import sys; from descheduler.kube.client import connect; "
        f"connect({str(file)!r}).fetch('/version', bytes); print('kubernetes' in sys.modules)"
    )

    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert output.strip() == "False"


def test_proxy_that_is_no_url_is_one_sentence(tmp_path: Path) -> None:
    cluster = {"server": "https://east", "proxy-url": f"http://{SECRET}@ea st"}
    file = write(tmp_path / "config", make_config(clusters=[{"name": "east", "cluster": cluster}]))

    with pytest.raises(SettingsError) as caught:
        connect(str(file))

    assert str(caught.value).startswith(f"kubeconfig {file}: proxy-url of cluster 'east' cannot be used: it must be")
    assert SECRET not in str(caught.value)


FIRST_HALF, LAST_HALF = chr(0xD800), chr(0xDFFF)


@pytest.mark.parametrize("character", [FIRST_HALF, LAST_HALF, "\0"])
@pytest.mark.parametrize(
    ("place", "part"),
    [
        pytest.param("users[0].user.token", {"users": [{"name": "ops", "user": {"token": "ODD"}}]}, id="a token"),
        pytest.param(
            "users[0].user.tokenFile", {"users": [{"name": "ops", "user": {"tokenFile": "ODD"}}]}, id="a file"
        ),
        pytest.param("users[0].user.username", {"users": [{"name": "ops", "user": {"username": "ODD"}}]}, id="a user"),
        pytest.param("users[0].name", {"users": [{"name": "ODD", "user": {}}]}, id="the name of a user"),
        pytest.param(
            "users[0].user.exec.args[1]",
            {"users": [{"name": "ops", "user": {"exec": {"args": ["a", "ODD"]}}}]},
            id="an argument",
        ),
        pytest.param(
            "clusters[0].cluster.server",
            {"clusters": [{"name": "east", "cluster": {"server": "https://ODD"}}]},
            id="a server",
        ),
        pytest.param(
            "clusters[0].cluster.certificate-authority",
            {"clusters": [{"name": "east", "cluster": {"server": "https://a", "certificate-authority": "ODD"}}]},
            id="a path",
        ),
        pytest.param("current-context", {"current-context": "ODD"}, id="the current context"),
        pytest.param(
            "users[0].user.auth-provider.config",
            {"users": [{"name": "ops", "user": {"auth-provider": {"config": {"ODD": 1}}}}]},
            id="a key",
        ),
    ],
)
def test_text_that_is_not_unicode_is_located(tmp_path: Path, character: str, place: str, part: dict[str, Any]) -> None:
    """JSON and YAML can spell halves of surrogate pairs, which neither header fields nor file names can carry."""
    file = tmp_path / "config"
    file.write_text(json.dumps(make_config(**part)).replace("ODD", json.dumps(SECRET + character)[1:-1]))

    with pytest.raises(SettingsError) as caught:
        connect(str(file))

    fault = f"{place} holds a NUL or a character that is not text; fix it"
    assert str(caught.value) == f"kubeconfig {file}: {fault}"


@pytest.mark.parametrize("name", ["a\0b", "~nobody-of-this-name/config", "\udcff"])
def test_odd_name_of_a_kubeconfig_is_one_sentence(name: str) -> None:
    with pytest.raises(SettingsError, match=r"^kubeconfig .*: (no such file|cannot be read)"):
        connect(name)


def test_service_account_is_read_again_and_its_line_break_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, secure_api: FakeApi
) -> None:
    assert secure_api.certificate is not None
    (tmp_path / "token").write_text("first\n")
    monkeypatch.setattr("descheduler.kube.authentication.configuration.SERVICE_ACCOUNT_TOKEN", tmp_path / "token")
    monkeypatch.setattr("descheduler.kube.authentication.configuration.SERVICE_ACCOUNT_CA", secure_api.certificate.file)
    port = secure_api.url.rpartition(":")[2]
    client = connect(environ={"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": port})
    secure_api.token = "first"
    client.fetch("/api/v1/nodes", bytes)

    secure_api.token = "second"
    (tmp_path / "token").write_text("second\n")
    client.fetch("/api/v1/nodes", bytes)

    assert secure_api.requests[-1].headers["authorization"] == "Bearer second"


def test_alias_that_holds_itself_does_no_harm(tmp_path: Path) -> None:
    circle = "\nextra: &a {b: *a, c: [*a, *a]}\n"

    client = connect(str(write(tmp_path / "config", yaml.safe_dump(make_config()) + circle)))

    assert client.host == "https://east:6443"


def test_key_without_a_certificate_is_passed_over(secure_api: FakeApi, tmp_path: Path) -> None:
    document = yaml.safe_load(secure_api.write_kubeconfig(tmp_path / "config").read_text())
    document["users"][0]["user"] = {"client-key-data": "gAA="}

    answer = connect(str(write(tmp_path / "config", document))).fetch("/version", bytes)

    assert b"v1.36.0" in answer
