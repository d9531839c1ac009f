"""Credential plugins: a program named in a kubeconfig that prints a token or a client certificate.

Follows `client.authentication.k8s.io/v1` as client-go 1.36 does (`plugin/pkg/client/auth/exec/exec.go`). What the
program prints is never repeated: it is the credential itself, or a message that may hold one.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

import msgspec

from descheduler.kube.authentication.credentials import Issued
from descheduler.process_end import bound_to_process
from descheduler.transport.errors import SettingsError
from descheduler.transport.header_values import bearer

_EXPIRY_LEEWAY_SECONDS = 10.0
_MOST_BYTES = 1 << 20
"""Of output: a token and a certificate with its key are some KB."""


class ExecStatus(msgspec.Struct, rename="camel", frozen=True):
    """What the program gives: a token, a client certificate in PEM with its key, or both."""

    token: str | None = None
    client_certificate_data: str | None = None
    client_key_data: str | None = None
    expiration_timestamp: datetime | None = None

    def __repr__(self) -> str:
        return "ExecStatus(...)"


class _ExecCredential(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str
    status: ExecStatus | None = None


_decode_credential = msgspec.json.Decoder(_ExecCredential).decode


@dataclass(frozen=True, slots=True)
class ExecPlugin:
    """The program `command` with its arguments; `cluster` is told to it when not None.

    `owner` names it in messages, after `where`, the kubeconfig.
    """

    where: str
    owner: str
    command: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(repr=False)
    api_version: str
    may_ask: bool
    folder: Path
    cluster: Mapping[str, object] | None = field(default=None, repr=False)

    def run(self) -> ExecStatus:
        """What the program prints. Raises SettingsError, which says what is wrong and nothing of what was printed."""
        program = self.command
        if os.sep in program:  # as client-go: relative to the kubeconfig, and never to the present folder
            program = str(self.folder / program)
        try:
            # The program's own messages go to people only: a log could keep what they hold.
            with self._started(program) as process:
                printed = self._read(process)
        except (OSError, ValueError, RecursionError) as error:
            raise self._fault(str(getattr(error, "strerror", None) or "it cannot be started").lower()) from None
        if process.returncode != 0:
            raise self._fault(f"exit code {process.returncode}")
        return self._decode(printed)

    @contextmanager
    def _started(self, program: str) -> Iterator[subprocess.Popen[bytes]]:
        """The running program, which ends with the context at the latest, and with it what it has started itself.

        It has a session of its own, by which all of that is known, unless it may ask questions at the terminal.
        """
        is_interactive = self._is_interactive()

        def start() -> subprocess.Popen[bytes]:
            return subprocess.Popen(  # noqa: S603 - a program that the kubeconfig names; no shell is involved
                [program, *self.arguments],
                stdin=None if is_interactive else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=None if _is_terminal(sys.stderr) else subprocess.DEVNULL,
                env={**os.environ, **self.environment, "KUBERNETES_EXEC_INFO": self._info()},
                start_new_session=not is_interactive,
            )

        def kill(process: subprocess.Popen[bytes]) -> None:
            process.kill()
            if not is_interactive:
                with suppress(OSError):  # nothing of it is left
                    os.killpg(process.pid, signal.SIGKILL)

        with bound_to_process(start, kill) as process, process:
            try:
                yield process
            finally:
                kill(process)

    def issue(self) -> Issued:
        """The bearer token of a new run, until shortly before it expires. Raises SettingsError."""
        return self.issued(self.run())

    def issued(self, status: ExecStatus) -> Issued:
        """The bearer token in `status`, which is "" when the program gives a certificate only."""
        expires_at = status.expiration_timestamp
        seconds = float("inf")
        if expires_at is not None:
            zoned = expires_at if expires_at.tzinfo else expires_at.replace(tzinfo=UTC)
            seconds = max(0.0, (zoned - datetime.now(UTC)).total_seconds() - _EXPIRY_LEEWAY_SECONDS)
        return Issued(bearer(status.token or "", f"the token of {self.owner}"), seconds)

    def _read(self, process: subprocess.Popen[bytes]) -> bytes:
        """All that the program prints until it ends. Raises SettingsError when that is too much."""
        printed = b"" if process.stdout is None else process.stdout.read(_MOST_BYTES + 1)
        if len(printed) > _MOST_BYTES:
            raise self._fault(f"it printed more than {_MOST_BYTES >> 20} MiB")
        process.wait()
        return printed

    def _decode(self, printed: bytes) -> ExecStatus:
        try:
            credential = _decode_credential(printed)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise self._fault("it did not print an ExecCredential") from None
        if credential.kind != "ExecCredential" or credential.api_version != self.api_version:
            raise self._fault(f"it did not print an ExecCredential of {self.api_version}")
        status = credential.status or ExecStatus()
        if not (status.token or "").strip() and not (status.client_certificate_data and status.client_key_data):
            raise self._fault("it printed neither a token nor a certificate with its key")
        return status

    def _is_interactive(self) -> bool:
        return self.may_ask and _is_terminal(sys.stdin)

    def _info(self) -> str:
        spec: dict[str, object] = {"interactive": self._is_interactive()}
        if self.cluster is not None:
            spec["cluster"] = self.cluster
        info = {"apiVersion": self.api_version, "kind": "ExecCredential", "spec": spec}
        return msgspec.json.encode(info).decode()

    def _fault(self, cause: str) -> SettingsError:
        return SettingsError(f"{self.where}: {self.owner} returned no credentials ({cause}); run it by hand to see why")


def _is_terminal(stream: TextIO | None) -> bool:
    """Whether people read or write a standard stream; it is None when the process was started without it."""
    return stream is not None and not stream.closed and stream.isatty()
