"""`descheduler run` against the fake API server, as a process of its own where signals and the whole program matter."""

from __future__ import annotations

import json
import signal
import threading

import jsonschema
import pytest

from descheduler.report.published_schema import published_schema
from tests.builders import Object
from tests.integration.fake_api import FakeApi, Request
from tests.integration.faults import budget_refusal, failure
from tests.integration.live_processes import PATIENCE_SECONDS, Cli, cli
from tests.integration.live_runs import crowded_cluster, eviction_requests, serve

__all__ = ["cli"]


def checked(kind: str, text: str) -> Object:
    """The document in `text`, which the published schema of its kind allows."""
    document: Object = json.loads(text)
    jsonschema.validate(document, json.loads(published_schema(kind)))
    return document


def test_run_evicts_and_reports_on_standard_output(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster("cart", "desk"))

    code, out, err = cli.run("-o", "json")

    outcome = checked("outcome", out)
    assert (code, fake_api.pods()) == (0, [])
    assert [result["pod"]["name"] for result in outcome["results"]] == ["cart", "desk"]
    assert outcome["counts"]["evicted"] == 2
    assert "Traceback" not in err


def test_dry_run_reports_the_plan_and_evicts_nothing(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster("cart"))

    code, out, _ = cli.run("--dry-run", "-o", "json")

    plan = checked("plan", out)
    assert code == 0
    assert [move["pod"]["name"] for move in plan["moves"]] == ["cart"]
    assert {request.method for request in fake_api.requests} == {"GET"}


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        pytest.param((), 0, id="done, whatever was refused"),
        pytest.param(("--detailed-exitcode",), 3, id="incomplete, where that is asked for"),
    ],
)
def test_refused_eviction_shows_in_the_exit_code_where_that_is_asked_for(
    fake_api: FakeApi, cli: Cli, flags: tuple[str, ...], code: int
) -> None:
    serve(fake_api, *crowded_cluster("cart", "desk"))
    fake_api.on_eviction("cart", budget_refusal("web"), namespace="default")

    found, out, _ = cli.run("-o", "json", *flags)

    outcome = checked("outcome", out)
    assert found == code
    assert {result["pod"]["name"]: result["code"] for result in outcome["results"]} == {
        "cart": "budget",
        "desk": "done",
    }


def test_forbidden_list_is_one_message_and_exit_code_1(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster("cart"))
    fake_api.fail_always("GET", "/api/v1/pods", failure(403, "Forbidden", "forbidden"))

    code, out, err = cli.run()

    assert (code, out) == (1, "")
    assert err.splitlines()[-1].startswith(
        "error: not allowed to list pods (RBAC); add to the rules of the ClusterRole: "
    )


def test_pace_flags_are_taken(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2"))

    code, _, _ = cli.run("--client-connection-qps", "100", "--client-connection-burst", "1")

    assert (code, fake_api.pods()) == (0, [])


@pytest.mark.long
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signal_in_mid_run_ends_it_in_order_and_with_a_report(
    fake_api: FakeApi, cli: Cli, number: signal.Signals, code: int
) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2", "p3", "p4"))
    has_begun = threading.Event()

    def note(request: Request) -> None:
        if request.path.endswith("/eviction"):
            has_begun.set()

    fake_api.on_request = note
    process = cli.start("--client-connection-qps", "0.01", "--client-connection-burst", "1", "-o", "json")

    assert has_begun.wait(PATIENCE_SECONDS)
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE_SECONDS)

    outcome = checked("outcome", out)
    assert process.returncode == code, err
    assert '"Run stopped" cause="SIG' in err
    assert f"exitCode={code}" in err
    assert [result["code"] for result in outcome["results"]] == ["done", "stopped", "stopped", "stopped"]
    assert len(eviction_requests(fake_api)) == 1
    assert len(fake_api.objects["/apis/events.k8s.io/v1/events"]) == 2


@pytest.mark.long
def test_signal_while_the_api_server_is_away_ends_the_run(fake_api: FakeApi, cli: Cli) -> None:
    """Waits between attempts are cut short."""
    serve(fake_api, *crowded_cluster("p1"))
    is_asking = threading.Event()
    fake_api.fail_always("GET", "/api/v1/pods", failure(503, "ServiceUnavailable", "down", retry_after_seconds=600))
    fake_api.on_request = lambda request: is_asking.set() if request.path == "/api/v1/pods" else None
    process = cli.start()

    assert is_asking.wait(PATIENCE_SECONDS)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=PATIENCE_SECONDS)

    assert (process.returncode, out) == (143, "")
    assert err.splitlines()[-1] == "error: stopped by SIGTERM while reading pods; nothing was evicted"


@pytest.mark.long
def test_eviction_is_logged_while_the_run_goes_on_and_only_once(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2"))
    process = cli.start(
        "--client-connection-qps", "0.01", "--client-connection-burst", "1", "-v", "1", "--deadline", "20s"
    )
    assert process.stderr is not None

    seen = []
    for line in process.stderr:
        seen.append(line)
        if '"Evicted pod"' in line:
            break
    is_under_way = process.poll() is None
    process.send_signal(signal.SIGTERM)
    _, rest = process.communicate(timeout=PATIENCE_SECONDS)

    assert is_under_way
    assert 'pod="default/p1"' in seen[-1]
    assert rest.count('"Evicted pod"') == 0
    assert rest.count('"Pod not evicted"') == 1


@pytest.mark.long
def test_loss_of_the_reader_of_the_outcome_is_logged(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster("p1"))
    process = cli.start("-o", "json")
    assert process.stdout is not None
    process.stdout.close()

    assert process.stderr is not None
    err = process.stderr.read()

    assert process.wait(PATIENCE_SECONDS) == 0
    assert '"Outcome not written" err="standard output was closed by its reader"' in err


def test_events_that_are_not_written_are_in_the_log(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster("p1"))
    fake_api.fail_always(
        "POST", "/apis/events.k8s.io/v1/namespaces/default/events", failure(403, "Forbidden", "no events")
    )

    _, _, err = cli.run()

    assert '"Events not written" reason="2 of 2 events could not be written: ' in err


def test_broken_objects_that_are_skipped_are_in_the_log(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster("p1"))
    fake_api.objects["/api/v1/pods"].append({"metadata": {"name": "odd", "namespace": "default"}, "spec": 3})

    _, _, err = cli.run("--skip-broken-objects", "--dry-run")

    assert '"Invalid objects skipped" num=1 first="' in err


def test_fatal_message_is_an_event_where_the_log_is_json(fake_api: FakeApi, cli: Cli) -> None:
    serve(fake_api, *crowded_cluster("p1"))
    fake_api.fail_always("GET", "/api/v1/pods", failure(403, "Forbidden", "forbidden"))

    code, _, err = cli.run("--log-format", "json")

    event = [json.loads(line) for line in err.splitlines()][-1]
    assert (code, event["level"]) == (1, "error")
    assert event["msg"].startswith("error: not allowed to list pods (RBAC); add to the rules of the ClusterRole: ")
