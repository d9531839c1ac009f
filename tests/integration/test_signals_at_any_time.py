"""Signals at random times of a live run: what counts is how the process ends, and that nothing of it is left."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.certificates import Certificate
from tests.faults.processes import Process, Zygote
from tests.integration.credential_plugins import are_gone, write_plugin
from tests.integration.fake_api import FakeApi
from tests.integration.live_processes import PATIENCE_SECONDS
from tests.integration.live_runs import crowded_cluster, serve, taint_policy

pytestmark = pytest.mark.long

NUM_RUNS = 24
MOST_SECONDS = 1.0
"""When the first signal comes at the latest, from the start of the process; a run takes about half of it."""
DOCUMENTED = {0, 130, 143}

Signals = Sequence[tuple[float, signal.Signals]]


@pytest.fixture
def zygote() -> Iterator[Zygote]:
    """Starts runs of the program, which is loaded once for all."""
    with Zygote() as forking:
        yield forking


def draw_signals(seed: int) -> Signals:
    """One to four signals with their times in seconds, in order and often close together."""
    chance = random.Random(seed)
    drawn, at = [], chance.uniform(0.0, MOST_SECONDS)
    for _ in range(chance.choice([1, 1, 2, 4])):
        drawn.append((at, chance.choice([signal.SIGINT, signal.SIGTERM])))
        at += chance.choice([0.001, 0.02, 0.3])
    return drawn


def play(zygote: Zygote, folder: Path, signals: Signals) -> Process:
    """A run of the policy in `folder` from start to end, amid these signals.

    On a busy machine one may end the process before it opens its files.
    """
    (folder / "err").touch()
    flags = ["run", "-o", "json", "--config", str(folder / "policy.yaml"), "--kubeconfig", str(folder / "kubeconfig")]
    process = zygote.start(flags, stdout=str(folder / "out"), stderr=str(folder / "err"), folder=str(folder))
    for at, number in signals:
        time.sleep(max(0.0, process.started_at + at - time.monotonic()))
        process.send(number)
    assert process.ended.wait(PATIENCE_SECONDS)
    return process


def faults_amid(zygote: Zygote, folder: Path, certificate: Certificate, signals: Signals) -> list[str]:
    """What is wrong with the end of a run that gets these signals."""
    with FakeApi(certificate=certificate) as api:
        serve(api, *crowded_cluster("p1", "p2", "p3"))
        pids = write_plugin(folder / "kubeconfig", api, "sleep 600 > /dev/null &\nNOTE\ncat credential")
        (folder / "policy.yaml").write_text(taint_policy())
        process = play(zygote, folder, signals)
        told = (folder / "err").read_text()
        checks = {
            f"exit code {process.exit_code}": process.exit_code in DOCUMENTED,
            f"success, and {api.pods()} stayed": process.exit_code != 0 or not api.pods(),
            told: not any(word in told for word in ("Traceback", "Exception ignored", "internal error")),
            "a child is left": not pids.exists() or are_gone(pids),
        }
    return [fault for fault, is_well in checks.items() if not is_well]


@pytest.mark.parametrize("first", range(0, NUM_RUNS, NUM_RUNS // 2))
def test_run_ends_as_documented_whenever_signals_come(
    zygote: Zygote, certificate: Certificate, tmp_path: Path, first: int
) -> None:
    found = {}
    for seed in range(first, first + NUM_RUNS // 2):
        folder = tmp_path / str(seed)
        folder.mkdir()
        if faults := faults_amid(zygote, folder, certificate, draw_signals(seed)):
            found[seed, str(draw_signals(seed))] = faults

    assert found == {}
