"""The control plane on which the scripts were recorded: its only scheduler is koord-scheduler."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.binaries import Binaries
from tests.e2e.control_plane import ALL_PARTS, ControlPlane, running
from tests.e2e.peers.koordinator import install_koordinator, start_scheduler


@contextmanager
def phases_plane(folder: Path, binaries: Binaries) -> Iterator[ControlPlane]:
    """One in `folder`, stopped at the end."""
    parts = [part for part in ALL_PARTS if part != "kube-scheduler"]
    with running(folder, binaries, parts=parts) as plane:
        install_koordinator(plane)
        start_scheduler(plane)
        yield plane
