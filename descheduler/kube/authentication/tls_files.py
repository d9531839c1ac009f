"""The certificates that a kubeconfig names or holds. Contents that it holds are never left on a disk.

The TLS of Python reads keys from files alone. So contents are loaded into a context at once, from memory where the
system has files there, and the files are gone before anything is sent: a run that is killed leaves no key behind.
"""

from __future__ import annotations

import base64
import os
import ssl
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

import msgspec
from urllib3.util.ssl_ import create_urllib3_context


class MissingFileError(Exception):
    """A file that a kubeconfig names is not there; the text is its path."""


class TlsFiles(msgspec.Struct, frozen=True):
    """What TLS to the API server goes by; None for what is not set. `server_name` is the name its certificate is for.

    Files are read for each connection, so that renewed ones count. Where the kubeconfig has contents instead, `context`
    holds everything, and `proxy_context` the same without the certificate of the client. Without an authority those of
    the machine are trusted.
    """

    authority: str | None = None
    certificate: str | None = None
    key: str | None = None
    is_verified: bool = True
    server_name: str | None = None
    context: ssl.SSLContext | None = None
    proxy_context: ssl.SSLContext | None = None


def load_tls_files(cluster: Mapping[str, object], user: Mapping[str, object]) -> TlsFiles:
    """What these entries of a kubeconfig say, whose paths are absolute; contents are preferred, as in client-go.

    Certificates are loaded once, so that bad ones are told before anything is sent. Raises MissingFileError, OSError
    and ValueError.
    """
    server_name = cluster.get("tls-server-name")
    tls = TlsFiles(
        is_verified=not cluster.get("insecure-skip-tls-verify"), server_name=str(server_name) if server_name else None
    )
    contents = (
        cluster.get("certificate-authority-data"),
        user.get("client-certificate-data"),
        user.get("client-key-data"),
    )
    with ExitStack() as files:
        authority = _file(cluster, "certificate-authority", files)
        certificate, key = _file(user, "client-certificate", files), _file(user, "client-key", files)
        # A key alone is of no use; client-go passes over it.
        key = key if certificate else None
        context = _context(authority, is_verified=tls.is_verified)
        if certificate:
            # Without a password OpenSSL would ask the terminal for that of an encrypted key.
            context.load_cert_chain(certificate, key, password="")
        if not any(contents):
            return msgspec.structs.replace(tls, authority=authority, certificate=certificate, key=key)
        proxy_context = _context(authority, is_verified=tls.is_verified)
        return msgspec.structs.replace(tls, context=context, proxy_context=proxy_context)


def _file(entries: Mapping[str, object], name: str, files: ExitStack) -> str | None:
    """The file with what `entries` name or hold; one of contents is there until `files` ends."""
    content, path = entries.get(f"{name}-data"), entries.get(name)
    if content:
        return files.enter_context(_file_of(base64.standard_b64decode(str(content))))
    if path and not Path(str(path)).is_file():
        raise MissingFileError(os.path.normpath(str(path)))
    return os.path.normpath(str(path)) if path else None


@contextmanager
def _file_of(content: bytes) -> Iterator[str]:
    """A file with `content`: in memory where the system has such files, else in the temporary folder for this user."""
    with _opened() as file:
        file.write(content)
        file.flush()
        yield f"/proc/self/fd/{file.fileno()}" if isinstance(file.name, int) else file.name


def _opened() -> IO[bytes]:
    """The file to write to, which is gone when it is closed; one in memory has a number as its name."""
    with suppress(OSError, AttributeError):  # AttributeError: not on Linux
        file = os.fdopen(os.memfd_create("descheduler"), "wb")
        if os.access(f"/proc/self/fd/{file.fileno()}", os.R_OK):
            return file
        file.close()
    import tempfile

    return tempfile.NamedTemporaryFile(prefix="descheduler-")


def _context(authority: str | None, *, is_verified: bool) -> ssl.SSLContext:
    """What connections go by whose server is checked by `authority`."""
    context = create_urllib3_context(cert_reqs=ssl.CERT_REQUIRED if is_verified else ssl.CERT_NONE)
    if authority is None:
        context.load_default_certs()
    else:
        context.load_verify_locations(authority)
    return context
