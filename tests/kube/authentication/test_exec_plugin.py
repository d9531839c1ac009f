"""What a credential plugin prints, and for how long it is used."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from descheduler.kube.authentication.credentials import Issued
from descheduler.kube.authentication.exec_plugin import ExecPlugin, ExecStatus
from descheduler.transport.errors import SettingsError

VERSION = "client.authentication.k8s.io/v1"


OF_ANOTHER = f"it did not print an ExecCredential of {VERSION})"


def plugin(printed: str) -> ExecPlugin:
    """A program that prints this."""
    return ExecPlugin("here", "the program", "/bin/echo", (printed,), {}, VERSION, may_ask=False, folder=Path())


def credential(status: object, *, kind: str = "ExecCredential", version: str = VERSION) -> str:
    return json.dumps({"apiVersion": version, "kind": kind, "status": status})


@pytest.mark.parametrize(
    ("expires_in", "least", "most"),
    [(None, float("inf"), float("inf")), (-100, 0.0, 0.0), (5, 0.0, 0.0), (1000, 900.0, 990.0)],
    ids=["never", "before now", "right away", "later"],
)
@pytest.mark.parametrize("is_zoned", [True, False])
def test_token_is_used_until_shortly_before_it_expires(
    expires_in: float | None, least: float, most: float, is_zoned: bool
) -> None:
    expires_at = None if expires_in is None else datetime.now(UTC) + timedelta(seconds=expires_in)
    if expires_at is not None and not is_zoned:
        expires_at = expires_at.replace(tzinfo=None)

    issued = plugin("").issued(ExecStatus(token="t", expiration_timestamp=expires_at))

    assert issued.value == "Bearer t"
    assert least <= issued.seconds <= most


def test_certificate_alone_is_no_token() -> None:
    status = plugin("").issued(ExecStatus(client_certificate_data="c", client_key_data="k"))

    assert status == Issued("", float("inf"))


@pytest.mark.parametrize(
    "status",
    [{"token": "t"}, {"clientCertificateData": "c", "clientKeyData": "k"}, {"token": "t", "clientKeyData": "k"}],
)
def test_token_or_certificate_with_its_key_is_a_credential(status: dict[str, str]) -> None:
    assert plugin(credential(status)).run().token == status.get("token")


@pytest.mark.parametrize(
    ("printed", "cause"),
    [
        pytest.param(credential({"token": "t"}, kind="Other"), OF_ANOTHER, id="another kind"),
        pytest.param(credential({"token": "t"}, version="v9"), OF_ANOTHER, id="another version"),
        pytest.param("oops", "it did not print an ExecCredential)", id="words"),
        pytest.param(credential(None), "it printed neither a token nor a certificate", id="no status"),
        pytest.param(credential({"token": " "}), "it printed neither a token nor a certificate", id="a blank token"),
        pytest.param(credential({"clientKeyData": "k"}), "it printed neither", id="a key without its certificate"),
        pytest.param(credential({"clientCertificateData": "c"}), "it printed neither", id="a certificate alone"),
    ],
)
def test_what_is_no_credential_is_refused_with_the_cause(printed: str, cause: str) -> None:
    with pytest.raises(SettingsError) as caught:
        plugin(printed).run()

    assert str(caught.value).startswith("here: the program returned no credentials (")
    assert cause in str(caught.value)


def test_program_that_is_not_there_is_told() -> None:
    gone = ExecPlugin("here", "the program", "./none", (), {}, VERSION, may_ask=False, folder=Path())

    with pytest.raises(SettingsError, match=r"\(no such file or directory\); run it by hand to see why$"):
        gone.run()
