"""Fixtures around the fake API server, for every folder whose tests talk HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from descheduler.kube.client import KubeClient, connect
from descheduler.kube.retry import RetryPolicy
from tests.certificates import Certificate, make_certificate
from tests.integration.fake_api import FakeApi


class Naps(list[float]):
    """Stands for `sleep`: notes the seconds and returns at once."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


@pytest.fixture
def fake_api() -> Iterator[FakeApi]:
    """A fake API server that is serving."""
    with FakeApi() as api:
        yield api


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """A certificate for servers on loopback."""
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def secure_api(certificate: Certificate) -> Iterator[FakeApi]:
    """A fake API server that is serving over https."""
    with FakeApi(certificate=certificate) as api:
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
