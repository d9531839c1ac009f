"""What a person sees of a live run: on a terminal as it goes on, and in a log that is piped."""

from __future__ import annotations

import os
import pty
import re
import signal
import threading

import pytest

from descheduler.telemetry.console import ERASE_LINE
from tests.integration.fake_api import FakeApi, Request
from tests.integration.faults import budget_refusal
from tests.integration.live_processes import PATIENCE_SECONDS, Cli, cli
from tests.integration.live_runs import crowded_cluster, serve

__all__ = ["cli"]

PROGRESS = re.compile(r"Evicted (\d+) of (\d+) pods")


def run_on_terminal(cli: Cli, *flags: str) -> tuple[int, str, str]:
    """Exit code, standard output, which is a pipe, and all that was written to the terminal."""
    ours, theirs = pty.openpty()
    process = cli.start(*flags, stderr=theirs)
    os.close(theirs)
    pieces: list[bytes] = []

    def read() -> None:
        try:
            while piece := os.read(ours, 4096):
                pieces.append(piece)
        except OSError:  # how Linux says that nobody writes any more
            return

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    out, _ = process.communicate(timeout=PATIENCE_SECONDS)
    reader.join(PATIENCE_SECONDS)
    os.close(ours)
    return process.returncode, out, b"".join(pieces).decode()


def left_on(terminal: str) -> list[str]:
    """The lines that stay, without what was erased."""
    return [line.rpartition(ERASE_LINE)[2].strip("\r") for line in terminal.split("\n")]


@pytest.mark.long
def test_terminal_shows_the_cluster_and_progress_and_no_log(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2", "p3"))

    code, out, terminal = run_on_terminal(cli)

    assert code == 0
    assert "3 pods evicted" in out
    first, *rest = left_on(terminal)
    assert re.fullmatch(r'Cluster: context "[^"]+" at https?://127\.0\.0\.1:\d+', first)
    assert rest == [""]
    assert PROGRESS.findall(terminal)[0] == ("0", "3")


@pytest.mark.long
def test_terminal_shows_what_somebody_should_look_at(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster("cart", "desk"))
    fake_api.on_eviction("cart", budget_refusal("web"), namespace="default")

    _, _, terminal = run_on_terminal(cli)

    (warning,) = [line for line in left_on(terminal) if line.startswith("W")]
    assert '"Pod not evicted" result="refused" pod="default/cart" reason="' in warning
    assert "budget" in warning


def test_terminal_that_asks_for_the_log_gets_it_and_the_cluster_once(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster("p1"))

    _, _, terminal = run_on_terminal(cli, "-v", "0")

    lines = left_on(terminal)
    assert '"Cluster" context="' in lines[0]
    assert sum("127.0.0.1" in line and "luster" in line for line in lines[:2]) == 1
    assert sum('"Evicted pod"' in line for line in lines) == 1


def test_first_line_of_a_piped_log_names_context_and_server(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster("p1"))

    _, _, err = cli.run()

    assert re.search(r'"Cluster" context="[^"]+" server="https?://127\.0\.0\.1:\d+"$', err.splitlines()[0])
    assert "\x1b" not in err


def test_piped_log_names_each_eviction_with_its_reason_without_being_asked(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2"))

    _, _, err = cli.run()

    evicted = [line for line in err.splitlines() if '"Evicted pod"' in line]
    assert len(evicted) == 2
    assert all('strategy="RemovePodsViolatingNodeTaints"' in line and 'reason=""' not in line for line in evicted)


@pytest.mark.long
@pytest.mark.parametrize(("number", "cause"), [(signal.SIGTERM, "SIGTERM"), (signal.SIGINT, "SIGINT (Ctrl-C)")])
def test_interrupted_run_says_what_was_done_and_what_is_left(
    fake_api: FakeApi, cli: Cli, number: signal.Signals, cause: str
) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2", "p3"))
    has_begun = threading.Event()

    def note(request: Request) -> None:
        if request.path.endswith("/eviction"):
            has_begun.set()

    fake_api.on_request = note
    process = cli.start("--client-connection-qps", "0.01", "--client-connection-burst", "1")

    assert has_begun.wait(PATIENCE_SECONDS)
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE_SECONDS)

    assert f'"Run stopped" cause="{cause}" exitCode={process.returncode} evicted=1 notAttempted=2' in err
    assert '"Evictions not attempted" count=2 err="the run was interrupted" code="stopped"' in err
    assert "1 pod evicted, 2 not attempted" in out
    assert re.search(rf"^Stopped by: +{re.escape(cause)}$", out, re.MULTILINE)


def test_a_pod_that_the_api_server_refuses_has_one_row(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster("cart", "desk"))
    fake_api.on_eviction("cart", budget_refusal("web"), namespace="default")

    _, out, _ = cli.run()

    assert len(re.findall(r"^default +cart ", out, re.MULTILINE)) == 1
    assert re.search(r"^1 +APIRefused ", out, re.MULTILINE)
    assert re.search(r"^Not evicted: +1 pod \(APIRefused 1\)$", out, re.MULTILINE)
