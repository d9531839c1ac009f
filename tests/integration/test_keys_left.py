"""No private key of a kubeconfig is left in the temporary folder, however a run ends."""

from __future__ import annotations

import base64
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.certificates import Certificate
from tests.integration.fake_api import FakeApi
from tests.integration.live_processes import PATIENCE_SECONDS, Cli, cli
from tests.integration.live_runs import crowded_cluster, eviction_requests, serve

__all__ = ["cli"]

SLOW = ("--client-connection-qps", "1", "--client-connection-burst", "1", "--lease-duration", "2s")


@pytest.fixture
def fake_api(certificate: Certificate) -> Iterator[FakeApi]:
    """A server with TLS: keys are read for no other."""
    with FakeApi(certificate=certificate) as started:
        yield started


@pytest.fixture
def folder(cli: Cli, certificate: Certificate, tmp_path: Path) -> Path:
    """The temporary folder of the run, whose kubeconfig holds certificates and a key."""
    made = tmp_path / "temporary"
    made.mkdir()
    document = yaml.safe_load(cli.kubeconfig.read_text())
    files = {"client-certificate-data": certificate.file, "client-key-data": certificate.key_file}
    contents = {name: base64.b64encode(file.read_bytes()).decode() for name, file in files.items()}
    document["users"][0]["user"] |= contents
    document["clusters"][0]["cluster"]["certificate-authority-data"] = contents["client-certificate-data"]
    cli.kubeconfig.write_text(yaml.safe_dump(document))
    cli.environment["TMPDIR"] = str(made)
    return made


@pytest.fixture
def running(fake_api: FakeApi, cli: Cli, folder: Path) -> subprocess.Popen[str]:
    """A run that has evicted one of many pods."""
    serve(fake_api, *crowded_cluster(*(f"p{number:02}" for number in range(20))))
    process = cli.start(*SLOW)
    end = time.monotonic() + PATIENCE_SECONDS
    while not eviction_requests(fake_api) and time.monotonic() < end:
        time.sleep(0.02)
    return process


def names(folder: Path) -> list[str]:
    """The files of this program in the folder."""
    return [file.name for file in folder.iterdir() if file.name.startswith("descheduler")]


@pytest.mark.long
def test_no_file_is_there_while_it_runs(running: subprocess.Popen[str], folder: Path) -> None:
    assert names(folder) == []


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_no_file_is_left_by_a_signal(running: subprocess.Popen[str], folder: Path, number: signal.Signals) -> None:
    running.send_signal(number)
    running.communicate(timeout=PATIENCE_SECONDS)

    assert running.returncode != 0
    assert names(folder) == []


@pytest.mark.long
def test_no_file_is_left_when_the_lease_is_lost(
    running: subprocess.Popen[str], fake_api: FakeApi, folder: Path
) -> None:
    later = "2999-01-01T00:00:00.000000Z"
    fake_api.leases.put("descheduler-p", holderIdentity="other", renewTime=later, leaseDurationSeconds=60)
    running.communicate(timeout=PATIENCE_SECONDS)

    assert running.returncode == 4
    assert names(folder) == []


@pytest.mark.long
def test_no_file_is_left_at_the_deadline(fake_api: FakeApi, cli: Cli, folder: Path) -> None:
    serve(fake_api, *crowded_cluster(*(f"p{number:02}" for number in range(20))))

    process = cli.start(*SLOW, "--deadline", "3s")
    _, err = process.communicate(timeout=PATIENCE_SECONDS)

    assert process.returncode == 4, err
    assert names(folder) == []
