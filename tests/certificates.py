"""A self-signed certificate for servers on loopback, made with the program openssl when the first test wants one."""

from __future__ import annotations

import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Certificate:
    """A certificate, which is also the authority that vouches for it, and its key, in PEM."""

    file: Path
    key_file: Path

    def server_context(self) -> ssl.SSLContext:
        """What a server needs to answer with it."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.file, self.key_file)
        return context


def make_certificate(folder: Path) -> Certificate:
    """A new certificate for 127.0.0.1 in `folder`."""
    made = Certificate(folder / "tls.crt", folder / "tls.key")
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-days", "2", "-subj", "/CN=loopback", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-out", str(made.file), "-keyout", str(made.key_file)),
        ],
        check=True,
        capture_output=True,
    )
    return made
