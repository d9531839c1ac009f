"""Answers that do not say what became of an eviction: whatever may have left counts as evicted, and is reported so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from descheduler.kube.client import KubeClient, connect
from descheduler.plan.outcome import OutcomeCode
from tests.cli.commands import Descheduler, descheduler, restored_logging
from tests.integration.fake_api import FakeApi, Request
from tests.integration.faults import (
    Answer,
    Drop,
    EvictLate,
    EvictThenAnswer,
    EvictThenClearText,
    EvictThenDrop,
    Fault,
    failure,
)
from tests.integration.live_runs import (
    codes,
    crowded_cluster,
    evicted_names,
    eviction_requests,
    run,
    serve,
    taint_policy,
)
from tests.migration.stand_ins import Clock

__all__ = ["descheduler", "restored_logging"]

CANDIDATES = [f"p{number:02}" for number in range(60)]
ONE_IN_TOTAL = "maxNoOfPodsToEvictTotal: 1"
HTML = b"<html>bad gateway</html>"

AFTER_THE_EFFECT = [
    pytest.param(EvictThenAnswer(failure(500, "InternalError", "etcdserver: request timed out")), id="500 of etcd"),
    pytest.param(EvictThenAnswer(Answer(502, HTML)), id="502 of a balancer"),
    pytest.param(EvictThenAnswer(Answer(503, HTML)), id="503 of a balancer"),
    pytest.param(EvictThenAnswer(failure(504, "Timeout", "request did not complete")), id="504"),
    pytest.param(EvictThenAnswer(Answer(302, HTML, {"Location": "/login"})), id="302"),
    pytest.param(EvictThenAnswer(Answer(408, HTML)), id="408"),
    pytest.param(EvictThenAnswer(Answer(429, b"Too Many Requests")), id="429 in plain text"),
    pytest.param(EvictThenAnswer(Answer(404, HTML)), id="404 of a proxy"),
    pytest.param(EvictThenDrop(), id="no answer"),
]


@pytest.fixture
def run_cli(descheduler: Descheduler, kubeconfig: Path, tmp_path: Path) -> Callable[..., Any]:
    """A run of the program with a policy that has these lines; a function of lines and flags."""

    def call(lines: str, *flags: str) -> Any:
        policy = tmp_path / "policy.yaml"
        policy.write_text(taint_policy(lines))
        return descheduler("run", "--config", policy, "--kubeconfig", kubeconfig, "-o", "json", *flags)

    return call


def fail_evictions(fake_api: FakeApi, fault: Fault) -> None:
    """Lets every eviction end so."""
    for name in CANDIDATES:
        fake_api.fail_always("POST", f"/api/v1/namespaces/default/pods/{name}/eviction", fault)


@pytest.mark.parametrize("fault", AFTER_THE_EFFECT)
def test_limit_of_one_lets_one_pod_go_whatever_the_answer_after_the_effect(
    fake_api: FakeApi, client: KubeClient, fault: Fault
) -> None:
    objects = crowded_cluster(*CANDIDATES)
    serve(fake_api, *objects)
    fail_evictions(fake_api, fault)

    result = run(client, taint_policy(ONE_IN_TOTAL))

    assert codes(result) == {"p00": OutcomeCode.LEFT_WITHOUT_ANSWER}
    assert evicted_names(fake_api, objects) == {"p00"}


def test_connection_that_is_damaged_after_the_effect_evicts_one_pod_under_a_limit_of_one(
    secure_api: FakeApi, tmp_path: Path
) -> None:
    """Only a handshake that fails says that nothing was sent."""
    objects = crowded_cluster(*CANDIDATES)
    serve(secure_api, *objects)
    fail_evictions(secure_api, EvictThenClearText())
    client = connect(str(secure_api.write_kubeconfig(tmp_path / "secure")))

    result = run(client, taint_policy(ONE_IN_TOTAL))

    client.close()
    assert codes(result) == {"p00": OutcomeCode.LEFT_WITHOUT_ANSWER}
    assert evicted_names(secure_api, objects) == {"p00"}


def test_token_that_was_rotated_in_mid_run_costs_one_call_and_a_look(secure_api: FakeApi, tmp_path: Path) -> None:
    """A call that creates something is never repeated behind the back of who has to judge its answer."""
    serve(secure_api, *crowded_cluster("cart"))
    token = tmp_path / "token"
    token.write_text("old")
    secure_api.token = "old"
    kubeconfig = yaml.safe_load(secure_api.write_kubeconfig(tmp_path / "secure").read_text())
    kubeconfig["users"][0]["user"] = {"tokenFile": str(token)}
    (tmp_path / "secure").write_text(yaml.safe_dump(kubeconfig))
    client = connect(str(tmp_path / "secure"))

    def rotate(request: Request) -> None:
        if request.path.endswith("/eviction") and secure_api.token == "old":
            token.write_text("new")
            secure_api.token = "new"

    secure_api.on_request = rotate

    result = run(client, taint_policy())

    client.close()
    asked = [request.method for request in secure_api.requests if "/pods/cart" in request.path]
    assert codes(result) == {"cart": OutcomeCode.DONE}
    assert asked == ["POST", "GET", "POST"]


@pytest.mark.parametrize("fault", [Answer(502, HTML), failure(500, "InternalError", "webhook failed"), Drop()])
def test_other_pod_takes_the_place_once_the_first_is_seen_to_have_stayed(
    fake_api: FakeApi, client: KubeClient, fault: Fault
) -> None:
    clock = Clock()
    objects = crowded_cluster("p1", "p2")
    serve(fake_api, *objects)
    fake_api.fail_always("POST", "/api/v1/namespaces/default/pods/p1/eviction", fault)

    result = run(client, taint_policy(ONE_IN_TOTAL), clock=clock)

    assert codes(result)["p2"] is OutcomeCode.DONE
    assert evicted_names(fake_api, objects) == {"p2"}
    assert clock.now() >= client.request_timeout_seconds


@pytest.mark.long
def test_server_slower_than_the_request_timeout_evicts_one_pod_under_a_limit_of_one(
    fake_api: FakeApi, run_cli: Callable[..., Any]
) -> None:
    objects = crowded_cluster(*CANDIDATES)
    serve(fake_api, *objects)
    fail_evictions(fake_api, EvictLate(0.8))

    ended = run_cli(ONE_IN_TOTAL, "--request-timeout", "300ms")

    document = json.loads(ended.out)
    assert (ended.code, document["counts"]["evicted"], document["unconfirmed"]) == (0, 1, 0)
    assert evicted_names(fake_api, objects) == {"p00"}


@pytest.mark.long
def test_pods_that_nobody_can_see_any_more_count_as_evicted_in_report_and_exit_code(
    fake_api: FakeApi, run_cli: Callable[..., Any]
) -> None:
    """A Job starts a failed run again, which would evict once more up to all limits."""
    names = ["p1", "p2", "p3", "p4"]
    objects = crowded_cluster(*names)
    serve(fake_api, *objects)
    for name in names:
        fake_api.fail_always("POST", f"/api/v1/namespaces/default/pods/{name}/eviction", EvictThenDrop())
        fake_api.fail_always("GET", f"/api/v1/namespaces/default/pods/{name}", Answer(503, HTML))

    ended = run_cli("", "--deadline", "3s")

    document = json.loads(ended.out)
    assert document["counts"]["evicted"] == document["unconfirmed"] == 4
    assert [result["code"] for result in document["results"]] == ["outcome-unknown"] * 4
    assert ended.code == 4
    assert "not confirmed: POST /api/v1/namespaces/default/pods/p1" in ended.out


def test_run_ends_as_failed_when_certainly_nothing_was_evicted(fake_api: FakeApi, run_cli: Callable[..., Any]) -> None:
    serve(fake_api, *crowded_cluster("p1"))
    fake_api.fail_always("POST", "/api/v1/namespaces/default/pods/p1/eviction", failure(422, "Invalid", "no"))

    ended = run_cli("")

    document = json.loads(ended.out)
    assert (ended.code, document["counts"]["failed"], fake_api.pods()) == (1, 1, ["p1"])


def test_deadline_that_cuts_the_wait_for_a_fate_leaves_the_pod_counted_as_evicted(
    fake_api: FakeApi, client: KubeClient
) -> None:
    clock = Clock()
    serve(fake_api, *crowded_cluster("p1", "p2"))
    fake_api.fail_always("POST", "/api/v1/namespaces/default/pods/p1/eviction", Answer(502, HTML))

    result = run(client, taint_policy(ONE_IN_TOTAL), deadline_seconds=10, clock=clock)

    assert codes(result) == {"p1": OutcomeCode.OUTCOME_UNKNOWN}
    assert len(eviction_requests(fake_api)) <= 3
