"""Metrics that a process serves which runs cycle after cycle."""

from __future__ import annotations

import http.client
from collections.abc import Mapping

import pytest

from descheduler.telemetry.metrics.serving import Endpoint, ListenAddress, RunsSoFar, Served, served
from descheduler.telemetry.metrics.table import LAST_SUCCESS
from descheduler.telemetry.observer import RunObserver
from descheduler.telemetry.run_record import RunRecord
from tests.migration.stand_ins import Clock

LOCAL = ListenAddress("127.0.0.1", 0)
ENDPOINTS: Mapping[str, Endpoint] = {
    "/metrics": lambda: Served(b"a 1\n", "text/plain; version=1"),
    "/healthz": lambda: Served(b"late\n", status_code=503),
}


def answers(address: str, *asked: tuple[str, str]) -> list[tuple[int, str | None, str | None, bytes]]:
    """Status, type, length and body of the answer to each method and path."""
    found = []
    for method, path in asked:
        connection = http.client.HTTPConnection(address, timeout=5)
        connection.request(method, path)
        answer = connection.getresponse()
        found.append(
            (answer.status, answer.getheader("content-type"), answer.getheader("content-length"), answer.read())
        )
        connection.close()
    return found


def test_endpoints_are_served_by_their_path_and_nothing_else_is() -> None:
    plain = "text/plain; charset=utf-8"

    with served(LOCAL, ENDPOINTS) as address:
        found = answers(
            address,
            ("GET", "/metrics?x=1"),
            ("HEAD", "/metrics"),
            ("GET", "/healthz"),
            ("GET", "/metric"),
            ("POST", "/"),
        )

    assert address.startswith("127.0.0.1:")
    assert found[:4] == [
        (200, "text/plain; version=1", "4", b"a 1\n"),
        (200, "text/plain; version=1", "4", b""),
        (503, plain, "5", b"late\n"),
        (404, plain, "10", b"not found\n"),
    ]
    assert found[4][0] == 501


@pytest.mark.parametrize("host", ["", "::1"])
def test_every_address_or_one_of_ipv6_is_listened_on(host: str) -> None:
    try:
        with served(ListenAddress(host, 0), ENDPOINTS) as address:
            port = address.rpartition(":")[2]
            found = answers(f"127.0.0.1:{port}" if not host else address, ("GET", "/healthz"))
    except OSError:
        pytest.skip("no IPv6 here")

    assert address.startswith("[::")
    assert [status for status, *_ in found] == [503]


def run(exit_code: int, seconds: float, ended_at: float) -> RunRecord:
    clock = Clock()
    observer = RunObserver(clock=clock.now)
    with observer.run(), observer.plugin_run("p", "PodLifeTime", "deschedule"):
        clock.sleep(seconds)
    return RunRecord(observer=observer, exit_code=exit_code, ended_at=ended_at)


def samples(runs: RunsSoFar) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for family in runs.collect():
        for sample in family.samples:
            found.setdefault(sample.name, []).append(sample.value)
    return found


def test_what_counts_adds_up_and_all_else_is_of_the_last_run() -> None:
    runs = RunsSoFar()
    assert samples(runs) == {}

    for seconds in (1, 2):
        runs.add(run(0, seconds, ended_at=1000.0 * seconds))

    found = samples(runs)
    histogram = next(name for name in found if name.endswith("_sum"))
    assert found[histogram] == [3.0]
    assert found[histogram.replace("_sum", "_count")] == [2.0]
    assert found["descheduler_build_info"] == [1.0]
    assert found[LAST_SUCCESS] == [2000.0]
    assert f"{LAST_SUCCESS} 2000.0\n".encode() in runs.text


def test_run_that_failed_leaves_when_the_last_one_succeeded() -> None:
    runs = RunsSoFar()

    runs.add(run(1, 1, ended_at=500.0))
    assert LAST_SUCCESS not in samples(runs)
    for exit_code, ended_at in ((3, 1000.0), (1, 2000.0)):
        runs.add(run(exit_code, 1, ended_at))

    assert samples(runs)[LAST_SUCCESS] == [1000.0]
