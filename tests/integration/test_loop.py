"""`descheduler loop` against the fake API server: cycle after cycle in one process, with its endpoint and its Lease."""

from __future__ import annotations

import json
import queue
import re
import signal
import socket
import threading
import urllib.request
from contextlib import closing
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.builders import pod_object
from tests.integration.credential_plugins import IN_TIME_SECONDS, wait_until
from tests.integration.fake_api import FakeApi
from tests.integration.faults import Silence, failure
from tests.integration.live_processes import PATIENCE_SECONDS, Cli, cli
from tests.integration.live_runs import TAINTED, crowded_cluster, eviction_requests, serve
from tests.series import first_of
from tests.telemetry.webhook import Webhook, webhook

__all__ = ["cli", "webhook"]

BROKEN = "apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy\nprofiles: 5\n"
LEADER = "descheduler-p-loop"
MIB = 1 << 10
CYCLES = "descheduler_loop_duration_seconds_count"


class Loop:
    """A process with `descheduler loop`, and what it says."""

    def __init__(self, cli: Cli, *flags: str) -> None:
        self.process = cli.start(*flags, "--listen", "127.0.0.1:0", command="loop")
        self.lines: list[str] = []
        self._address: queue.Queue[str] = queue.Queue()
        assert self.process.stdout is not None
        threading.Thread(target=self.process.stdout.read, daemon=True).start()
        threading.Thread(target=self._read, daemon=True).start()
        self.address = self._address.get(timeout=PATIENCE_SECONDS)

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            if found := re.search(r'"Serving /metrics and /healthz" address="([^"]+)"', line):
                self._address.put(found[1])

    def get(self, path: str) -> str:
        """What is served at `path`."""
        with urllib.request.urlopen(f"http://{self.address}{path}", timeout=PATIENCE_SECONDS) as answer:
            return str(answer.read(), "utf-8")

    def metric(self, name: str, **labels: str) -> float:
        """The sum of the samples with this name and these labels."""
        families = text_string_to_metric_families(self.get("/metrics"))
        samples = [each for family in families for each in family.samples if each.name == name]
        return sum(each.value for each in samples if labels.items() <= each.labels.items())

    def says(self, text: str) -> bool:
        """Whether a line of its log holds `text`."""
        return any(text in line for line in self.lines)

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """The exit code after this signal."""
        self.process.send_signal(number)
        return self.process.wait(IN_TIME_SECONDS)


def _is_served(loop: Loop) -> bool:
    """Whether its endpoint has a thread free."""
    try:
        return loop.get("/healthz") == "ok\n"
    except (HTTPException, OSError):
        return False


def crowd(fake_api: FakeApi, *names: str) -> None:
    for name in names:
        fake_api.add("/api/v1/pods", pod_object(name, node=TAINTED["metadata"]["name"]))


@pytest.mark.long
def test_each_cycle_reads_the_cluster_anew_and_counters_add_up(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster("p1"))
    loop = Loop(cli, "--interval", "100ms")

    assert wait_until(lambda: loop.metric("descheduler_pods_evicted_total", result="success") == 1)
    crowd(fake_api, "p2", "p3")
    assert wait_until(lambda: loop.metric("descheduler_pods_evicted_total", result="success") == 3)
    assert wait_until(lambda: loop.metric(CYCLES) >= 4)

    assert len(eviction_requests(fake_api)) == 3
    assert loop.get("/healthz") == "ok\n"
    assert loop.end() in {0, 143}


def test_a_signal_between_two_cycles_ends_it_well_and_gives_the_lease_back(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster())
    loop = Loop(cli, "--interval", "1h")
    assert wait_until(lambda: loop.says('"Cycle ended" exitCode=0'))

    assert "holderIdentity" in fake_api.leases.spec(LEADER)
    assert loop.end() == 0
    assert "holderIdentity" not in fake_api.leases.spec(LEADER)


@pytest.mark.long
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_stops_a_cycle_in_order(fake_api: FakeApi, cli: Cli, number: signal.Signals, code: int) -> None:
    serve(fake_api, *crowded_cluster("p1"))
    fake_api.fail_always("GET", "/api/v1/pods", Silence())
    loop = Loop(cli, "--interval", "1h")
    assert wait_until(lambda: any(request.path == "/api/v1/pods" for request in fake_api.requests))

    assert loop.end(number) == code
    assert all("holderIdentity" not in lease["spec"] for lease in fake_api.leases.objects.values())


@pytest.mark.long
def test_a_cycle_that_fails_is_told_and_the_next_one_goes_on(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster("p1"))
    fake_api.fail_next("GET", "/api/v1/nodes", failure(403, "Forbidden"))
    loop = Loop(cli, "--interval", "2s")
    assert wait_until(lambda: loop.metric("descheduler_run_exit_code") == 1)
    assert not eviction_requests(fake_api)

    assert wait_until(lambda: loop.metric("descheduler_pods_evicted_total", result="success") == 1)

    assert loop.metric("descheduler_run_exit_code") == 0
    loop.end()


def _replace(file: Path, text: str) -> None:
    """In one step: the first lines of a policy are a policy, too."""
    beside = file.with_suffix(".new")
    beside.write_text(text)
    beside.replace(file)


@pytest.mark.long
def test_the_policy_is_read_again_for_each_cycle(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster("p1"))
    good = cli.policy.read_text()
    loop = Loop(cli, "--interval", "100ms", "--dry-run")
    assert wait_until(lambda: loop.metric("descheduler_moves_planned") == 1)

    cli.policy.write_text(BROKEN)
    assert wait_until(lambda: loop.metric("descheduler_run_exit_code") == 2)
    _replace(cli.policy, good)
    assert wait_until(lambda: loop.metric("descheduler_run_exit_code") == 0)

    assert loop.metric("descheduler_moves_planned") == 1
    assert loop.says("policy.yaml:")
    loop.end()


@pytest.mark.long
def test_webhook_is_told_of_each_cycle_whose_policy_cannot_be_read(
    fake_api: FakeApi, cli: Cli, webhook: Webhook
) -> None:
    serve(fake_api, *crowded_cluster())
    loop = Loop(cli, "--interval", "100ms", "--notify-url", webhook.url, "--notify-when", "problems")
    assert wait_until(lambda: loop.says('"Cycle ended"'))
    assert webhook.requests == []

    cli.policy.write_text(BROKEN)

    assert wait_until(lambda: len(webhook.requests) > 1)
    assert all(json.loads(body)["exitCode"] == 2 for _, _, body in webhook.requests)
    assert loop.metric("descheduler_run_exit_code") == 2
    loop.end()


def test_a_policy_that_is_invalid_at_the_start_ends_it(cli: Cli) -> None:
    cli.policy.write_text(BROKEN)

    code, _, err = cli.run("--listen", "127.0.0.1:0", command="loop")

    assert code == 2
    assert "policy.yaml:" in err


@pytest.mark.long
def test_of_two_processes_one_leads_and_the_other_follows_it(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster())
    first = Loop(cli, "--interval", "1h")
    assert wait_until(lambda: first.says('"Cycle ended"'))
    second = Loop(cli, "--interval", "1h")
    assert wait_until(lambda: second.says('"Waiting: another process leads"'))
    assert second.get("/healthz") == "ok\n"
    assert second.metric(CYCLES) == 0

    assert first.end() == 0

    assert wait_until(lambda: second.metric(CYCLES) == 1)
    assert second.end() == 0


@pytest.mark.long
def test_a_process_that_waits_ends_by_a_signal(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster())
    first = Loop(cli, "--interval", "1h")
    assert wait_until(lambda: first.says('"Leading"'))
    second = Loop(cli, "--interval", "1h")
    assert wait_until(lambda: second.says('"Waiting: another process leads"'))

    assert second.end() == 0
    assert "holderIdentity" in fake_api.leases.spec(LEADER)
    first.end()


@pytest.mark.long
def test_a_run_by_hand_can_take_place_between_two_cycles(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster())
    loop = Loop(cli, "--interval", "1h")
    assert wait_until(lambda: loop.says('"Cycle ended"'))
    crowd(fake_api, "p1")

    code, out, _ = cli.run()

    assert (code, len(eviction_requests(fake_api))) == (0, 1)
    assert "p1" in out
    loop.end()


@pytest.mark.long
def test_a_process_whose_lease_was_taken_ends(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster())
    loop = Loop(cli, "--interval", "1h", "--lease-duration", "1s")
    assert wait_until(lambda: loop.says('"Cycle ended"'))

    fake_api.leases.put(
        LEADER, holderIdentity="other", leaseDurationSeconds=60, renewTime="2030-01-01T00:00:00.000000Z"
    )

    assert loop.process.wait(PATIENCE_SECONDS) == 4
    assert wait_until(lambda: loop.says('"Ending: no longer leading"'))


@pytest.mark.long
def test_a_cycle_says_that_the_process_leads_no_more(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster("p1"))
    fake_api.fail_always("GET", "/api/v1/pods", Silence())
    loop = Loop(cli, "--interval", "1h", "--lease-duration", "6s")
    assert wait_until(lambda: any(request.path == "/api/v1/pods" for request in fake_api.requests))

    fake_api.leases.put(
        LEADER, holderIdentity="other", leaseDurationSeconds=60, renewTime="2030-01-01T00:00:00.000000Z"
    )

    assert loop.process.wait(PATIENCE_SECONDS) == 4
    assert wait_until(lambda: loop.says(f"stopped by the loss of its Lease (lease kube-system/{LEADER} was taken over"))


def test_an_address_that_is_taken_is_named(cli: Cli) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]

        code, _, err = cli.run("--listen", f"127.0.0.1:{port}", command="loop")

    assert (code, err.splitlines()[-1]) == (
        1,
        f"error: cannot listen on 127.0.0.1:{port}: address already in use; choose another with --listen",
    )


@pytest.mark.parametrize("text", ["8080", ":x", ":70000", "host"])
def test_an_address_that_is_none_is_wrong_usage(cli: Cli, text: str) -> None:
    code, _, err = cli.run("--listen", text, command="loop")

    assert (code, f"'{text}' is not an address such as :8080" in err) == (2, True)


@pytest.mark.long
def test_other_paths_and_methods_are_refused_and_silent_clients_do_no_harm(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster())
    loop = Loop(cli, "--interval", "1h")
    host, _, port = loop.address.partition(":")
    silent = [socket.create_connection((host, int(port))) for _ in range(40)]

    assert wait_until(lambda: _is_served(loop))
    with pytest.raises(HTTPError, match="404"):
        loop.get("/debug/pprof")
    with pytest.raises(HTTPError, match="501"):
        urllib.request.urlopen(f"http://{loop.address}/metrics", data=b"x", timeout=PATIENCE_SECONDS)

    for each in silent:
        each.close()
    assert loop.end() in {0, 143}


@pytest.mark.long
@pytest.mark.parametrize("num_cycles", first_of(1, [30, 1000]))
def test_memory_does_not_grow_from_cycle_to_cycle(fake_api: FakeApi, cli: Cli, num_cycles: int) -> None:
    """The first ten cycles load and cache what later ones use again."""
    serve(fake_api, *crowded_cluster(*(f"p{number}" for number in range(50))))
    loop = Loop(cli, "--interval", "1ms", "--dry-run", "-q")
    seconds = 2.0 * num_cycles + PATIENCE_SECONDS
    assert wait_until(lambda: loop.metric(CYCLES) >= 10, seconds=seconds)
    before = _resident_kib(loop.process.pid)

    assert wait_until(lambda: loop.metric(CYCLES) >= num_cycles, seconds=seconds)

    assert _resident_kib(loop.process.pid) - before < 4 * MIB
    loop.end()


def _resident_kib(pid: int) -> int:
    """The memory of a process, in KiB."""
    (line,) = (line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1])
