"""Which Lease a run takes, in whose name, and for how long it lasts."""

from __future__ import annotations

import socket
import uuid
from pathlib import Path

import msgspec

_NAMESPACE_FILE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
_DEFAULT_NAMESPACE = "kube-system"


class LeaseSettings(msgspec.Struct, frozen=True):
    """Which Lease, and for how long it holds without being renewed.

    It is renewed every `renew_seconds`, by default a third of its duration, and given up for lost after two thirds
    without success, while the others still respect it.
    """

    namespace: str
    name: str
    duration_seconds: int = 60
    renew_seconds: float | None = None

    def __post_init__(self) -> None:
        if self.duration_seconds < 1:
            raise ValueError(f"duration_seconds is {self.duration_seconds}, at least 1 is needed")

    @property
    def period_seconds(self) -> float:
        """The time from one renewal to the next."""
        return self.duration_seconds / 3 if self.renew_seconds is None else self.renew_seconds

    @property
    def patience_seconds(self) -> float:
        """The time after which a Lease that could not be renewed counts as lost."""
        return self.duration_seconds * 2 / 3


def make_identity() -> str:
    """A name for this run that no other run has, in upstream's form: `<hostname>_<uuid>`."""
    return f"{socket.gethostname()}_{uuid.uuid4()}"


def own_namespace(file: Path = _NAMESPACE_FILE) -> str:
    """The namespace of the pod that this runs in, `kube-system` outside of pods."""
    try:
        return file.read_text("utf-8").strip() or _DEFAULT_NAMESPACE
    except (OSError, UnicodeDecodeError):
        return _DEFAULT_NAMESPACE
