"""The command line on a living cluster: tests give the fixtures `cluster` and `policy`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.live_processes import Cli
from tests.living.cluster import LivingCluster
from tests.living.http import LivingServer


@pytest.fixture
def server(cluster: LivingCluster) -> Iterator[LivingServer]:
    """The cluster over HTTP, ten times as fast as real time."""
    with LivingServer(cluster, scale=10) as started:
        yield started


@pytest.fixture
def cli(server: LivingServer, tmp_path: Path, policy: str, capsys: pytest.CaptureFixture[str]) -> Iterator[Cli]:
    """The command line with the policy."""
    made = Cli(tmp_path, server.write_kubeconfig(tmp_path / "kubeconfig"), capsys)
    made.policy.write_text(policy)
    yield made
    made.close()
