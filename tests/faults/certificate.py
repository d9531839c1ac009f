"""A certificate for loopback, made once for all schedules."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Certificate", "make_certificate"]


@dataclass(frozen=True, slots=True)
class Certificate:
    """Files of a self-signed certificate; `file` is also the authority that clients trust."""

    file: Path
    key: Path

    def server_context(self) -> ssl.SSLContext:
        """What a server needs to answer with it."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.file, self.key)
        return context


def make_certificate(folder: Path) -> Certificate | None:
    """A certificate in `folder`; None where there is no `openssl` to make it."""
    program = shutil.which("openssl")
    if program is None:
        return None
    made = Certificate(folder / "server.crt", folder / "server.key")
    command = [program, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-keyout", str(made.key), "-out", str(made.file), "-days", "2", "-subj", "/CN=faults"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1"]
    done = subprocess.run(command, capture_output=True, check=False)
    return made if done.returncode == 0 else None
