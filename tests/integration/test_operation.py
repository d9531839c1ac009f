"""What keeps two runs apart, and what a run leaves behind for those who watch it, through the command line."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families

from descheduler.cycle.options import RunOptions, RunResult
from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.run import run_with
from descheduler.kube.client import KubeClient
from descheduler.kube.leases.settings import LeaseSettings
from descheduler.kube.leases.store import micro_time
from descheduler.migration import lease_settings as lease_settings_module
from descheduler.migration.lease_settings import LeaseOptions
from descheduler.plan.outcome import OutcomeCode
from descheduler.policy.load import load_policy
from descheduler.supervision import Watch
from tests.builders import NOW
from tests.cli.commands import Descheduler, descheduler, restored_logging
from tests.integration.fake_api import FakeApi, Request
from tests.integration.fake_leases import LEASES
from tests.integration.faults import failure
from tests.integration.live_runs import FAST, codes, crowded_cluster, eviction_requests, serve, taint_policy
from tests.telemetry.pushgateway import Pushgateway, pushgateway
from tests.telemetry.webhook import SECRET, Webhook, webhook

__all__ = ["descheduler", "pushgateway", "restored_logging", "webhook"]

LEASE = "descheduler-p"
OTHER = "other-host_1234"

Run = Callable[..., Any]


def foreign_lease(fake_api: FakeApi, *, seconds_ago: float) -> None:
    """Somebody else's lease for runs of the policy, renewed so long ago."""
    renewed = micro_time(datetime.now(UTC) - timedelta(seconds=seconds_ago))
    fake_api.leases.put(
        LEASE, holderIdentity=OTHER, renewTime=renewed, acquireTime=renewed, leaseDurationSeconds=60, leaseTransitions=0
    )


@pytest.fixture
def run(descheduler: Descheduler, kubeconfig: Path, fake_api: FakeApi, tmp_path: Path) -> Run:
    """A run on a cluster with pods p1 and p2 that do not tolerate their node; a function of further arguments."""
    serve(fake_api, *crowded_cluster("p1", "p2"))
    policy = tmp_path / "policy.yaml"
    policy.write_text(taint_policy())
    return lambda *arguments: descheduler("run", "--config", policy, "--kubeconfig", kubeconfig, *arguments)


def test_run_holds_the_lease_from_before_it_reads_until_its_end(run: Run, fake_api: FakeApi) -> None:
    ended = run()

    paths = [(request.method, request.path) for request in fake_api.requests]
    assert ended.code == 0
    assert paths[:2] == [("GET", f"{LEASES}/{LEASE}"), ("POST", LEASES)]
    assert paths[-1] == ("PUT", f"{LEASES}/{LEASE}")
    assert len(eviction_requests(fake_api)) == 2
    assert "holderIdentity" not in fake_api.leases.spec(LEASE)


def test_second_run_does_nothing_and_says_so(run: Run, fake_api: FakeApi, tmp_path: Path) -> None:
    foreign_lease(fake_api, seconds_ago=1)
    metrics = tmp_path / "run.prom"

    ended = run("--metrics-textfile", metrics)

    assert (ended.code, ended.out) == (0, "")
    assert ended.err.splitlines()[-1].startswith(f"another run is active: {OTHER} holds lease kube-system/{LEASE}")
    assert [request.method for request in fake_api.requests] == ["GET"]
    assert not metrics.exists()


def test_lease_of_a_dead_run_is_taken_over(run: Run, fake_api: FakeApi) -> None:
    foreign_lease(fake_api, seconds_ago=600)

    ended = run()

    assert ended.code == 0
    assert fake_api.pods() == []
    assert fake_api.leases.spec(LEASE)["leaseTransitions"] == 1


def test_lease_is_given_back_after_a_failure(run: Run, fake_api: FakeApi) -> None:
    del fake_api.objects["/api/v1/pods"]

    ended = run()

    assert ended.code == 1
    assert "holderIdentity" not in fake_api.leases.spec(LEASE)


def test_missing_right_to_the_lease_fails_the_run_before_it_reads(run: Run, fake_api: FakeApi) -> None:
    fake_api.fail_always("POST", LEASES, failure(403, "Forbidden", "leases is forbidden"))

    ended = run()

    assert ended.code == 1
    assert f"error: not allowed to create lease kube-system/{LEASE} (RBAC)" in ended.err
    assert {request.path for request in fake_api.requests} == {f"{LEASES}/{LEASE}", LEASES}


@pytest.mark.parametrize(
    "arguments",
    [["--no-lease"], ["--leader-elect=false"], ["--dry-run"]],
    ids=["without", "in upstream's words", "dry"],
)
def test_run_that_wants_no_lease_takes_none(run: Run, fake_api: FakeApi, arguments: list[str]) -> None:
    foreign_lease(fake_api, seconds_ago=1)

    ended = run(*arguments)

    assert ended.code == 0
    assert not any("leases" in request.path for request in fake_api.requests)


@pytest.mark.parametrize("prefix", ["--lease-", "--leader-elect-resource-"], ids=["own words", "upstream's words"])
def test_lease_may_be_named(run: Run, fake_api: FakeApi, prefix: str) -> None:
    run(f"{prefix}name=mine", f"{prefix}namespace=tools", "--leader-elect-lease-duration=90s")

    (request,) = fake_api.sent("POST", "/leases")
    assert request.path == "/apis/coordination.k8s.io/v1/namespaces/tools/leases"
    assert request.body["metadata"] == {"name": "mine", "namespace": "tools"}
    assert request.body["spec"]["leaseDurationSeconds"] == 90


def test_name_that_no_lease_can_have_is_refused(run: Run, fake_api: FakeApi) -> None:
    ended = run("--lease-name", "Not_A_Name")

    assert ended.code == 2
    assert fake_api.requests == []


def test_run_that_loses_its_lease_evicts_no_further_pod(
    fake_api: FakeApi, client: KubeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2", "p3"))
    quick = LeaseSettings("kube-system", LEASE, renew_seconds=0.01)
    monkeypatch.setattr(lease_settings_module, "lease_settings", lambda policy, options: quick)
    stop = threading.Event()

    def lose_at_first_eviction(request: Request) -> None:
        if request.path.endswith("/eviction"):
            foreign_lease(fake_api, seconds_ago=0)

    fake_api.on_request = lose_at_first_eviction

    result = _run_slowly(client, stop)

    assert codes(result) == {"p1": OutcomeCode.DONE, "p2": OutcomeCode.LEASE_LOST, "p3": OutcomeCode.LEASE_LOST}
    assert result.guard == f"the loss of its Lease (lease kube-system/{LEASE} was taken over by {OTHER})"
    assert fake_api.leases.spec(LEASE)["holderIdentity"] == OTHER


def test_run_that_is_told_to_stop_gives_its_lease_back(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2"))
    stop = threading.Event()
    fake_api.on_request = lambda request: stop.set() if request.path.endswith("/eviction") else None

    result = _run_slowly(client, stop)

    assert codes(result) == {"p1": OutcomeCode.DONE, "p2": OutcomeCode.STOPPED}
    assert result.guard == "request"
    assert "holderIdentity" not in fake_api.leases.spec(LEASE)


def _run_slowly(client: KubeClient, stop: threading.Event) -> RunResult:
    """A run that waits for `stop` wherever its pace has it wait."""
    options: RunOptions = replace(FAST, qps=0.001, burst=1, lease=LeaseOptions())
    policy = load_policy(taint_policy(), REGISTRY)
    return run_with(client, policy, options, Watch(stop, sleep=lambda seconds: _wait(stop)), now=NOW)


def _wait(stop: threading.Event) -> None:
    assert stop.wait(timeout=30)


def samples(text: str) -> dict[str, float]:
    """`name{label="value",...}` → value, labels in name order."""
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = ",".join(f'{name}="{value}"' for name, value in sorted(sample.labels.items()))
            found[f"{sample.name}{{{labels}}}" if labels else sample.name] = sample.value
    return found


def test_metrics_of_a_run_are_written_to_a_file(run: Run, fake_api: FakeApi, tmp_path: Path) -> None:
    fake_api.on_eviction("p2", failure(422, "Invalid", "no"), namespace="default")
    file = tmp_path / "descheduler.prom"

    ended = run("--metrics-textfile", file)

    found = samples(file.read_text())
    where, plugin = 'namespace="default",node="tainted",profile="p"', 'strategy="RemovePodsViolatingNodeTaints"'
    assert ended.code == 0
    assert found[f'descheduler_pods_evicted_total{{{where},result="success",{plugin}}}'] == 1
    assert found[f'descheduler_pods_evicted_total{{{where},result="error",{plugin}}}'] == 1
    assert found['descheduler_eviction_outcomes{code="server-error",result="failed"}'] == 1
    assert found['descheduler_snapshot_objects{kind="Pod"}'] == 2
    assert found["descheduler_run_exit_code"] == 0
    assert found["descheduler_run_dry"] == 0
    assert found["descheduler_loop_duration_seconds_count"] == 1
    assert found["descheduler_last_success_timestamp_seconds"] == found["descheduler_run_timestamp_seconds"]
    assert list(tmp_path.glob("descheduler.prom*")) == [file]


def test_metrics_of_a_failed_run_keep_when_the_last_one_succeeded(run: Run, fake_api: FakeApi, tmp_path: Path) -> None:
    file = tmp_path / "descheduler.prom"
    run("--metrics-textfile", file)
    succeeded = samples(file.read_text())["descheduler_last_success_timestamp_seconds"]
    del fake_api.objects["/api/v1/pods"]

    ended = run("--metrics-textfile", file)

    found = samples(file.read_text())
    assert ended.code == 1
    assert found["descheduler_run_exit_code"] == 1
    assert found["descheduler_last_success_timestamp_seconds"] == succeeded
    assert "descheduler_moves_planned" not in {name.partition("{")[0] for name in found}


def test_metrics_of_a_dry_run_count_no_eviction(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "descheduler.prom"

    run("--metrics-textfile", file, "--dry-run")

    found = samples(file.read_text())
    assert found['descheduler_moves_planned{profile="p",strategy="RemovePodsViolatingNodeTaints"}'] == 2
    assert found["descheduler_run_dry"] == 1
    assert not any(name.startswith("descheduler_pods_evicted_total") for name in found)


def test_metrics_are_pushed_under_the_name_of_the_policy(run: Run, pushgateway: Pushgateway) -> None:
    ended = run("--metrics-push-url", pushgateway.url)

    assert ended.code == 0
    assert list(pushgateway.groups) == [f"/metrics/job/{LEASE}", f"/metrics/job/{LEASE}/group/last_success"]
    every, last = (samples(text) for text in pushgateway.groups.values())
    assert every["descheduler_run_exit_code"] == 0
    assert "descheduler_last_success_timestamp_seconds" not in every
    assert last == {"descheduler_last_success_timestamp_seconds": every["descheduler_run_timestamp_seconds"]}


def test_failed_run_pushes_no_success(run: Run, pushgateway: Pushgateway, fake_api: FakeApi) -> None:
    del fake_api.objects["/api/v1/pods"]

    run("--metrics-push-url", pushgateway.url, "--metrics-push-job", "mine")

    assert list(pushgateway.groups) == ["/metrics/job/mine"]


def test_metrics_that_go_nowhere_are_a_warning(run: Run, pushgateway: Pushgateway, tmp_path: Path) -> None:
    pushgateway.status_code = 503

    ended = run("--metrics-push-url", pushgateway.url, "--metrics-textfile", tmp_path / "none" / "file.prom")

    warnings = [line for line in ended.err.splitlines() if line.startswith("W")]
    assert ended.code == 0
    assert '"Metrics not written"' in warnings[0]
    assert 'reason="no such file or directory"' in warnings[0]
    assert '"Metrics not pushed"' in warnings[1]
    assert "503" in warnings[1]


@pytest.mark.parametrize("url", ["pushgateway:9091", "ftp://host", "http://", "http://user:secret@host"])
def test_url_that_cannot_be_pushed_to_is_refused(run: Run, fake_api: FakeApi, url: str) -> None:
    ended = run("--metrics-push-url", url)

    assert ended.code == 2
    assert fake_api.requests == []
    assert "secret" not in ended.err


def test_webhook_is_told_what_the_run_came_to(run: Run, webhook: Webhook) -> None:
    ended = run("--notify-url", webhook.url)

    ((_, _, body),) = webhook.requests
    told = json.loads(body)
    assert (told["name"], told["summary"], told["exitCode"], told["problem"]) == (LEASE, "pods: 2 evicted", 0, False)
    assert (ended.code, SECRET in ended.err) == (0, False)


def test_webhook_is_told_of_a_run_that_fails(run: Run, fake_api: FakeApi, webhook: Webhook) -> None:
    fake_api.fail_always("GET", "/api/v1/nodes", failure(403, "Forbidden"))

    ended = run("--notify-url", webhook.url, "--notify-when", "problems")

    ((_, _, body),) = webhook.requests
    told = json.loads(body)
    assert (ended.code, told["exitCode"], told["problem"]) == (1, 1, True)
    assert told["summary"] == "the run failed, and nothing was evicted; the log says why"


def test_webhook_is_told_of_a_policy_that_cannot_be_read(run: Run, webhook: Webhook, tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(taint_policy("profiles: 5"))

    ended = run("--notify-url", webhook.url, "--notify-when", "problems")

    ((_, _, body),) = webhook.requests
    told = json.loads(body)
    assert (ended.code, told["exitCode"], told["problem"], told["name"]) == (2, 2, True, "descheduler")
    assert told["summary"] == "the run has an invalid policy or wrong flags, and nothing was evicted; the log says why"


def test_webhook_is_not_told_of_a_run_that_finds_another_one(run: Run, fake_api: FakeApi, webhook: Webhook) -> None:
    foreign_lease(fake_api, seconds_ago=1)

    run("--notify-url", webhook.url, "--notify-when", "always")

    assert webhook.requests == []


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--notify-url", f"https://me:{SECRET}@hooks.example.com"], "contains credentials; use --notify-token-file"),
        (["--notify-url", f"hooks.example.com/{SECRET}"], "is not a URL such as https://hooks.example.com/"),
        (["--notify-url", "http://a", "--notify-url-file", "b"], "--notify-url and --notify-url-file exclude each"),
        (["--notify-token-file", "b"], "--notify-token-file needs --notify-url or --notify-url-file"),
    ],
)
def test_flags_of_a_webhook_are_checked_before_the_run(
    run: Run, fake_api: FakeApi, flags: list[str], message: str
) -> None:
    ended = run(*flags)

    assert (ended.code, message in ended.err, SECRET in ended.err) == (2, True, False)
    assert fake_api.requests == []
