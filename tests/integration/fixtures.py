"""Fixtures around the fake API server, for every folder whose tests talk HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from descheduler.kube.client import KubeClient, connect
from descheduler.kube.retry import RetryPolicy
from tests.integration.fake_api import FakeApi

__all__ = ["Naps", "client", "fake_api", "kubeconfig", "naps"]


class Naps(list[float]):
    """Stands for `sleep`: notes the seconds and returns at once."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


@pytest.fixture
def fake_api() -> Iterator[FakeApi]:
    """A fake API server that is serving."""
    with FakeApi() as api:
        yield api


@pytest.fixture
def kubeconfig(fake_api: FakeApi, tmp_path: Path) -> Path:
    """A kubeconfig for the fake API server."""
    return fake_api.write_kubeconfig(tmp_path / "kubeconfig")


@pytest.fixture
def naps() -> Naps:
    """The waits that the client's retries asked for."""
    return Naps()


@pytest.fixture
def client(kubeconfig: Path, naps: Naps) -> Iterator[KubeClient]:
    """A client of the fake API server that never really waits between attempts."""
    connected = connect(str(kubeconfig), retry=RetryPolicy(sleep=naps))
    yield connected
    connected.close()
