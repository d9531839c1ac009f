"""The certificates that a kubeconfig names or holds, as files: the TLS of Python reads keys from nothing else."""

from __future__ import annotations

import base64
import os
import ssl
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from descheduler.process_end import bind_to_process

__all__ = ["MissingFileError", "TlsFiles", "load_tls_files"]


class MissingFileError(Exception):
    """A file that a kubeconfig names is not there; the text is its path."""


class TlsFiles(msgspec.Struct, frozen=True):
    """What TLS to the API server goes by; None for what is not set. `server_name` is the name its certificate is for.

    Without an authority those of the machine are trusted.
    """

    authority: str | None = None
    certificate: str | None = None
    key: str | None = None
    is_verified: bool = True
    server_name: str | None = None


def load_tls_files(cluster: Mapping[str, object], user: Mapping[str, object]) -> TlsFiles:
    """What these entries of a kubeconfig say, whose paths are absolute; contents are preferred, as in client-go.

    Certificates are loaded once, so that bad ones are told before anything is sent. Raises MissingFileError, OSError
    and ValueError.
    """
    certificate, key = _file(user, "client-certificate"), _file(user, "client-key")
    server_name = cluster.get("tls-server-name")
    tls = TlsFiles(
        authority=_file(cluster, "certificate-authority"),
        certificate=certificate,
        # A key alone is of no use; client-go passes over it.
        key=key if certificate else None,
        is_verified=not cluster.get("insecure-skip-tls-verify"),
        server_name=str(server_name) if server_name else None,
    )
    _try(tls)
    return tls


def _file(entries: Mapping[str, object], name: str) -> str | None:
    content, path = entries.get(f"{name}-data"), entries.get(name)
    if content:
        return _temporary(base64.standard_b64decode(str(content)))
    if path and not Path(str(path)).is_file():
        raise MissingFileError(os.path.normpath(str(path)))
    return os.path.normpath(str(path)) if path else None


def _temporary(content: bytes) -> str:
    """A file that only this user can read, and that goes with the process."""
    import tempfile

    handle, name = bind_to_process(lambda: tempfile.mkstemp(prefix="descheduler-"), _remove)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    return name


def _remove(made: tuple[int, str]) -> None:
    with suppress(OSError):
        Path(made[1]).unlink()


def _try(tls: TlsFiles) -> None:
    context = ssl.create_default_context(cafile=tls.authority)
    if tls.certificate:
        # Without a password OpenSSL would ask the terminal for that of an encrypted key.
        context.load_cert_chain(tls.certificate, tls.key, password="")
