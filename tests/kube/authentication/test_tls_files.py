"""Certificates and keys that a kubeconfig holds are used, and are in no folder."""

from __future__ import annotations

import base64
import os
import ssl
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from descheduler.kube.authentication.tls_files import load_tls_files
from descheduler.kube.client import connect
from descheduler.transport.errors import ExchangeError, SettingsError
from tests.certificates import Certificate, make_certificate
from tests.integration.fake_api import FakeApi
from tests.kube.authentication.kubeconfigs import write_kubeconfig


class Mutual(Certificate):
    """A certificate of a server that wants the same one of its clients."""

    def server_context(self) -> ssl.SSLContext:
        context = super().server_context()
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(self.file)
        return context


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Mutual:
    """The certificate of server and client."""
    made = make_certificate(tmp_path_factory.mktemp("tls"))
    return Mutual(made.file, made.key_file)


@pytest.fixture
def api(certificate: Mutual) -> Iterator[FakeApi]:
    """A server that answers only who shows the certificate."""
    with FakeApi(certificate=certificate) as started:
        yield started


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The temporary folder of this process."""
    made = tmp_path / "temporary"
    made.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(made))
    return made


@pytest.fixture
def without_memory_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that has no files in memory."""

    def refused(*_: object) -> int:
        raise OSError("not permitted")

    monkeypatch.setattr(os, "memfd_create", refused)


def content(file: Path) -> str:
    return base64.b64encode(file.read_bytes()).decode()


def user_of(certificate: Certificate) -> dict[str, Any]:
    return {"client-certificate-data": content(certificate.file), "client-key-data": content(certificate.key_file)}


def fetch(api: FakeApi, folder: Path, user: dict[str, Any], **cluster: Any) -> bytes:
    """An answer to who has this kubeconfig."""
    client = connect(str(write_kubeconfig(folder, api, user, **cluster)))
    try:
        return client.fetch("/version", bytes)
    finally:
        client.close()


def test_contents_are_shown_to_the_server_and_are_in_no_folder(
    api: FakeApi, certificate: Mutual, folder: Path, tmp_path: Path
) -> None:
    authority = {"certificate-authority-data": content(certificate.file)}

    assert fetch(api, tmp_path, user_of(certificate), **authority)
    assert list(folder.iterdir()) == []


def test_contents_need_no_folder_to_write_to(api: FakeApi, certificate: Mutual, folder: Path, tmp_path: Path) -> None:
    folder.rmdir()

    assert fetch(api, tmp_path, user_of(certificate), **{"certificate-authority-data": content(certificate.file)})


@pytest.mark.parametrize("by_path", ["client-certificate", "client-key", "certificate-authority"])
def test_contents_and_files_go_together(api: FakeApi, certificate: Mutual, tmp_path: Path, by_path: str) -> None:
    entries = {**user_of(certificate), "certificate-authority-data": content(certificate.file)}
    del entries[f"{by_path}-data"]
    entries[by_path] = str(certificate.key_file if by_path == "client-key" else certificate.file)
    cluster = {name: entries.pop(name) for name in list(entries) if name.startswith("certificate-authority")}

    assert fetch(api, tmp_path, entries, **cluster)


def test_server_of_another_authority_is_refused(api: FakeApi, certificate: Mutual, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = make_certificate(tmp_path / "other")

    with pytest.raises(ExchangeError, match="certificate"):
        fetch(api, tmp_path, user_of(certificate), **{"certificate-authority-data": content(other.file)})


def test_server_is_not_checked_where_the_kubeconfig_says_so(api: FakeApi, certificate: Mutual, tmp_path: Path) -> None:
    assert fetch(api, tmp_path, user_of(certificate), **{"insecure-skip-tls-verify": True})


def test_name_of_the_server_is_checked(api: FakeApi, certificate: Mutual, tmp_path: Path) -> None:
    cluster = {"certificate-authority-data": content(certificate.file), "tls-server-name": "other.example"}

    with pytest.raises(ExchangeError, match="certificate"):
        fetch(api, tmp_path, user_of(certificate), **cluster)


@pytest.mark.usefixtures("without_memory_files")
def test_without_files_in_memory_only_this_user_can_read_what_is_gone_once_it_is_loaded(
    certificate: Mutual, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: list[int] = []
    load = ssl.SSLContext.load_cert_chain

    def watched(context: ssl.SSLContext, certificate: str, key: str, password: str) -> None:
        modes.extend(file.stat().st_mode & 0o777 for file in folder.iterdir())
        load(context, certificate, key, password)

    monkeypatch.setattr(ssl.SSLContext, "load_cert_chain", watched)

    tls = load_tls_files({}, user_of(certificate))

    assert modes == [0o600, 0o600]
    assert list(folder.iterdir()) == []
    assert (tls.certificate, tls.key) == (None, None)


@pytest.mark.usefixtures("without_memory_files")
def test_key_of_another_certificate_leaves_no_file(
    api: FakeApi, certificate: Mutual, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    other = make_certificate(tmp_path / "other")
    user = {**user_of(certificate), "client-key-data": content(other.key_file)}

    with pytest.raises(SettingsError, match="malformed"):
        fetch(api, tmp_path, user)

    assert list(folder.iterdir()) == []
