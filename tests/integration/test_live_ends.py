"""The process ends in time, whatever it hangs in, with a code and a sentence that say why."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.credential_plugins import IN_TIME_SECONDS, are_gone, wait_until, write_plugin
from tests.integration.fake_api import FakeApi, Request
from tests.integration.faults import Drip, Silence, failure
from tests.integration.live_processes import PATIENCE_SECONDS, Cli, cli
from tests.integration.live_runs import crowded_cluster, eviction_requests, serve

__all__ = ["cli"]


def sees(fake_api: FakeApi, is_meant: Callable[[Request], bool]) -> threading.Event:
    """An event that is set when a request comes that is meant."""
    seen = threading.Event()
    fake_api.on_request = lambda request: seen.set() if is_meant(request) else None
    return seen


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Exit code, standard output and the last line of standard error of a process that ends in time."""
    out, err = process.communicate(timeout=IN_TIME_SECONDS)
    assert "Traceback" not in err
    return process.returncode, out, err.splitlines()[-1]


def stopped(code: int, cause: str, doing: str) -> tuple[int, str, str]:
    """How a process ends that was stopped before its first eviction."""
    return code, "", f"error: stopped by {cause} while {doing}; nothing was evicted"


@pytest.mark.long
@pytest.mark.parametrize(
    ("number", "end"), [(signal.SIGTERM, (143, "SIGTERM")), (signal.SIGINT, (130, "SIGINT (Ctrl-C)"))]
)
@pytest.mark.parametrize("flag", ["--no-dry-run", "--dry-run"])
def test_signal_ends_a_run_whose_list_drips(
    fake_api: FakeApi, cli: Cli, number: signal.Signals, end: tuple[int, str], flag: str
) -> None:
    serve(fake_api, *crowded_cluster("p1"))
    fake_api.fail_always("GET", "/api/v1/pods", Drip())
    is_reading = sees(fake_api, lambda request: request.path == "/api/v1/pods")
    process = cli.start(flag)

    assert is_reading.wait(PATIENCE_SECONDS)
    process.send_signal(number)

    assert ended(process) in [stopped(*end, f"reading {kind}") for kind in ("nodes", "pods")]  # read side by side
    assert all("holderIdentity" not in lease["spec"] for lease in fake_api.leases.objects.values())


@pytest.mark.long
def test_deadline_ends_a_run_whose_list_drips(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster("p1"))
    fake_api.fail_always("GET", "/api/v1/pods", Drip())

    code, out, last = ended(cli.start("--deadline", "2s"))

    assert (code, out) == (4, "")
    assert last.startswith("error: stopped by --deadline 2s while ")
    assert last.endswith("; nothing was evicted")


def test_time_before_the_run_counts_for_the_deadline(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster("p1"))

    assert ended(cli.start("--deadline", "1us")) == stopped(4, "--deadline 1us", "reading the policy")
    assert fake_api.requests == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "flags", "last"),
    [
        ("snapshot", ["-o"], "error: stopped by SIGTERM while reading pods; no dump was written"),
        ("explain", ["pod", "default/p1"], "error: stopped by SIGTERM while reading the cluster and explaining"),
    ],
)
def test_signal_ends_a_command_that_reads_a_silent_cluster(
    fake_api: FakeApi, cli: Cli, tmp_path: Path, command: str, flags: list[str], last: str
) -> None:
    serve(fake_api, *crowded_cluster("p1"))
    fake_api.fail_always("GET", "/api/v1/pods", Silence())
    is_reading = sees(fake_api, lambda request: request.path == "/api/v1/pods")
    folder = tmp_path / "out"
    folder.mkdir()
    process = cli.start(*flags, *([str(folder / "dump")] if command == "snapshot" else []), command=command)

    assert is_reading.wait(PATIENCE_SECONDS)
    process.send_signal(signal.SIGTERM)

    assert ended(process) == (143, "", last)
    assert list(folder.iterdir()) == []


@pytest.mark.long
@pytest.mark.parametrize("log_format", ["text", "json"])
def test_second_signal_names_the_pods_whose_eviction_is_under_way(fake_api: FakeApi, cli: Cli, log_format: str) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2"))
    for name in ("p1", "p2"):
        fake_api.fail_always("POST", f"/api/v1/namespaces/default/pods/{name}/eviction", Silence())
    is_evicting = sees(fake_api, lambda request: len(eviction_requests(fake_api)) == 2)
    process = cli.start("--log-format", log_format)

    assert is_evicting.wait(PATIENCE_SECONDS)
    while process.poll() is None:  # the system makes one of equal signals that come together
        process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
    out, err = process.communicate(timeout=IN_TIME_SECONDS)

    assert (process.returncode, out) == (-signal.SIGTERM, "")
    named = [line for line in err.splitlines() if "Eviction not confirmed" in line]
    assert len(named) == 2
    assert all(f"default/p{number}" in line for number, line in enumerate(named, start=1))
    assert fake_api.leases.spec("descheduler-p")["holderIdentity"]


@pytest.fixture
def plugin_pids(cli: Cli, secure_api: FakeApi) -> Path:
    """The kubeconfig asks a credential plugin that hangs: the file with its process id and that of its child."""
    return write_plugin(cli.kubeconfig, secure_api, "sleep 600 &\nNOTE\nwait")


@pytest.mark.long
@pytest.mark.parametrize(
    "script",
    [
        pytest.param("sleep 600 &\nNOTE\nwait", id="waits for its child"),
        pytest.param("sleep 600 &\nNOTE\ncat credential", id="has ended and left a child that may still print"),
    ],
)
def test_signal_ends_a_run_and_its_credential_plugin_that(cli: Cli, secure_api: FakeApi, script: str) -> None:
    pids = write_plugin(cli.kubeconfig, secure_api, script)
    process = cli.start()

    assert wait_until(pids.exists)
    process.send_signal(signal.SIGTERM)

    assert ended(process) == stopped(143, "SIGTERM", "loading the kubeconfig and its credentials")
    assert are_gone(pids)


def test_nothing_that_a_credential_plugin_starts_outlives_the_run(cli: Cli, secure_api: FakeApi) -> None:
    serve(secure_api, *crowded_cluster("p1"))
    pids = write_plugin(cli.kubeconfig, secure_api, "sleep 600 > /dev/null &\nNOTE\ncat credential")

    process = cli.start()
    _, err = process.communicate(timeout=PATIENCE_SECONDS)

    assert (process.returncode, secure_api.pods()) == (0, []), err
    assert are_gone(pids)


@pytest.mark.long
def test_deadline_ends_a_run_whose_credential_plugin_hangs(cli: Cli, plugin_pids: Path) -> None:
    code, out, last = ended(cli.start("--deadline", "4s"))

    assert (code, out) == (4, "")
    assert last.startswith("error: stopped by --deadline 4s while ")


@pytest.mark.long
def test_signal_during_the_push_of_metrics_keeps_the_exit_code(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster("p1"))
    fake_api.fail_always("PUT", "/metrics/job/descheduler-p", Silence())
    is_pushing = sees(fake_api, lambda request: request.path.startswith("/metrics"))
    process = cli.start("-o", "json", "--metrics-push-url", fake_api.url)

    assert is_pushing.wait(PATIENCE_SECONDS)
    process.send_signal(signal.SIGTERM)
    code, out, last = ended(process)

    assert code == 0
    assert json.loads(out)["counts"]["evicted"] == 1
    assert '"Metrics may be incomplete"' in last


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_second_signal_during_the_push_of_metrics_keeps_the_exit_code(
    fake_api: FakeApi, cli: Cli, number: signal.Signals
) -> None:
    """The outcome is written, and the log does not say otherwise."""
    serve(fake_api, *crowded_cluster("p1"))
    fake_api.fail_always("PUT", "/metrics/job/descheduler-p", Silence())
    is_pushing = sees(fake_api, lambda request: request.path.startswith("/metrics"))
    process = cli.start("-o", "json", "--metrics-push-url", fake_api.url)

    assert is_pushing.wait(PATIENCE_SECONDS)
    while process.poll() is None:  # the system makes one of equal signals that come together
        process.send_signal(number)
        time.sleep(0.05)
    out, err = process.communicate(timeout=IN_TIME_SECONDS)

    assert (process.returncode, json.loads(out)["counts"]["evicted"]) == (0, 1), err
    assert "Traceback" not in err
    assert "outcome not written" not in err


@pytest.mark.long
def test_signal_ends_a_run_whose_report_nobody_reads(fake_api: FakeApi, cli: Cli) -> None:
    """The report is larger than what a pipe takes; what was evicted decides the exit code."""
    serve(fake_api, *crowded_cluster(*(f"p{number:04}" for number in range(200))))
    process = cli.start("-o", "json", "--client-connection-qps", "10000", "--client-connection-burst", "10000")

    assert wait_until(lambda: len(eviction_requests(fake_api)) == 200)
    assert wait_until(lambda: "holderIdentity" not in fake_api.leases.spec("descheduler-p"))
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)

    assert process.wait(IN_TIME_SECONDS) == 0
    assert process.stderr is not None
    assert '"Outcome not written"' in process.stderr.read()


@pytest.mark.long
def test_log_that_nobody_reads_holds_no_run_up(fake_api: FakeApi, cli: Cli) -> None:
    """400 lines at this verbosity are more than a pipe takes."""
    serve(fake_api, *crowded_cluster(*(f"p{number:04}" for number in range(400))))
    pace = ("--client-connection-qps", "10000", "--client-connection-burst", "10000")
    process = cli.start("-o", "json", "-v", "4", *pace)
    assert process.stdout is not None
    reader = threading.Thread(target=process.stdout.read, daemon=True)
    reader.start()

    assert process.wait(IN_TIME_SECONDS) == 0
    assert fake_api.pods() == []


def test_answer_to_an_event_that_no_clock_can_hold_ends_no_run(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2"))
    events = "/apis/events.k8s.io/v1/namespaces/default/events"
    fake_api.fail_always("POST", events, failure(500, "InternalError", "no", retry_after_seconds=10**400))

    code, out, _ = ended(cli.start("-o", "json"))

    assert (code, json.loads(out)["counts"]["evicted"]) == (0, 2)


def test_old_metrics_that_cannot_be_read_change_no_exit_code(fake_api: FakeApi, cli: Cli, tmp_path: Path) -> None:
    serve(fake_api, *crowded_cluster("p1"))
    metrics = tmp_path / "m.prom"
    metrics.write_text('a_b{x="1", ="z"} 1.5\n')

    code, _, _ = ended(cli.start("--metrics-textfile", str(metrics)))

    assert (code, fake_api.pods()) == (0, [])


@pytest.mark.long
def test_suspended_run_that_resumes_evicts_nothing_more(fake_api: FakeApi, cli: Cli) -> None:
    """Another run has taken the Lease meanwhile, and the pace would allow five evictions at once."""
    serve(fake_api, *crowded_cluster(*(f"p{number:02}" for number in range(20))))
    pace = ("--client-connection-qps", "2", "--client-connection-burst", "5")
    process = cli.start("-o", "json", "--lease-duration", "2s", *pace)

    assert wait_until(lambda: len(eviction_requests(fake_api)) >= 5)
    process.send_signal(signal.SIGSTOP)
    time.sleep(2.5)
    num_evicted = len(eviction_requests(fake_api))
    fake_api.leases.put(
        "descheduler-p",
        holderIdentity="other",
        renewTime="2999-01-01T00:00:00.000000Z",
        acquireTime="2999-01-01T00:00:00.000000Z",
        leaseDurationSeconds=60,
    )
    process.send_signal(signal.SIGCONT)
    out, err = process.communicate(timeout=IN_TIME_SECONDS)

    assert process.returncode == 4, err
    assert len(eviction_requests(fake_api)) == num_evicted
    assert json.loads(out)["counts"]["evicted"] == num_evicted
    assert fake_api.leases.spec("descheduler-p")["holderIdentity"] == "other"
