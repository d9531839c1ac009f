"""Devices of resource claims on the real control plane, whose claim controller and scheduler have the last word."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from descheduler.cycle.options import RunResult
from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.run import run_with
from descheduler.policy.load import load_policy
from descheduler.supervision import Watch
from tests.e2e.cluster import Cluster
from tests.e2e.devices import CLAIM, Tally, claim_template, claims_of, devices_of, play, tainted, tainted_by_rules
from tests.e2e.draining import Drained, drained
from tests.e2e.kube_api import Object, wait_until
from tests.e2e.objects import READY_AFTER, deployment, disruption_budget, node
from tests.e2e.witness import FAST, Witness
from tests.placement.considered import consider
from tests.placement.plugins.dynamic_resources.test_replacements import (
    CORDONED,
    TEMPLATE,
    X_ON_A,
    X_ON_B,
    B,
    pod_with_own_claim,
    world,
)
from tests.placement.plugins.dynamic_resources.worlds import claim, device, device_class, request, slice_of

NUM_PODS = int(os.environ.get("PODS_WITH_DEVICES", "60"))
"""`PODS_WITH_DEVICES=300` takes some minutes more."""
NUM_ROUNDS = 3
PROFILE = Path("config/profiles/dra.yaml")
APPS, REPLICAS = ("left", "right"), 20
NUM_TAINTED, MOST_RUNS = 6, 10
SICK = {"key": "sick", "value": "yes"}
VERIFIED, GATE = "- name: PlacementVerification", "DRADeviceTaintRules"
"""Where the profile may say which gates the scheduler of the tests has on."""
TaintDevices = Callable[[Cluster, Sequence[str], Object], None]


def test_replacements_get_devices_or_wait_as_was_said(fresh_cluster: Cluster) -> None:
    tally = play(fresh_cluster, num_pods=NUM_PODS, num_rounds=NUM_ROUNDS, seed=1)
    print(tally.text, flush=True)

    assert tally.disagreements == []
    assert tally.num_bound_as_said > NUM_PODS / 4
    assert tally.num_with_devices_as_said > NUM_PODS / 8
    assert tally.num_pending_as_said > NUM_PODS / 10
    assert set(tally.said) == {"lands", "no"}


by_slices_and_by_rules = pytest.mark.parametrize(
    "taint_devices",
    [
        pytest.param(tainted, id="by their ResourceSlices"),
        pytest.param(tainted_by_rules, id="by DeviceTaintRules"),
    ],
)


@by_slices_and_by_rules
def test_pods_leave_tainted_devices_within_their_budgets(cluster: Cluster, taint_devices: TaintDevices) -> None:
    found = left(cluster, "NoSchedule", evict_by_profile, taint_devices)

    assert (found.num_evictions, found.num_moved_again, found.num_violations) == (2 * NUM_TAINTED, 0, 0)


@by_slices_and_by_rules
def test_kube_controller_manager_deletes_pods_for_no_execute_whatever_their_budgets_allow(
    cluster: Cluster, taint_devices: TaintDevices
) -> None:
    """A run that comes before names all of them and evicts none."""
    runs: list[RunResult] = []

    def taint_and_run(cluster: Cluster, devices: Sequence[str], taint: Object) -> None:
        with cluster.asleep():
            taint_devices(cluster, devices, taint)
            runs.append(run_profile(cluster))

    found = left(cluster, "NoExecute", lambda _cluster: None, taint_and_run)

    assert (found.num_evictions, found.num_violations > 0) == (2 * NUM_TAINTED, True)
    assert [len(run.outcomes) for run in runs] == [0]
    assert [each.verdict.code for run in runs for each in run.decisions.refusals] == ["NoExecute"] * 2 * NUM_TAINTED


@pytest.mark.parametrize(
    ("slices", "place", "devices", "is_as_said"),
    [
        pytest.param([X_ON_A, X_ON_B], "b", ["b/x"], True, id="on the node and with the device that were named"),
        pytest.param([X_ON_A, X_ON_B], "b", ["b/y"], False, id="with another device"),
        pytest.param([X_ON_A, X_ON_B], "a", ["a/x"], False, id="on another node"),
        pytest.param([X_ON_A, X_ON_B], None, [], False, id="on no node"),
        pytest.param([X_ON_A], None, [], True, id="on no node, as there is no device"),
        pytest.param([X_ON_A], "b", ["b/x"], False, id="on a node, although there is no device"),
    ],
)
def test_what_becomes_of_a_replacement_is_compared_with_what_was_said(
    slices: list[Object], place: str | None, devices: list[str], is_as_said: bool
) -> None:
    tally, victim = Tally(), pod_with_own_claim("victim", "a")
    pod = {"spec": {"nodeName": place} if place else {}, "status": {}}

    tally.compare("web", consider(world(CORDONED, B, *slices, *victim, TEMPLATE)), pod, devices)

    assert len(tally.disagreements) == (not is_as_said)
    assert tally.num_with_devices_as_said + tally.num_pending_as_said == is_as_said


def left(
    cluster: Cluster, effect: str, act: Callable[[Cluster], None], taint_devices: TaintDevices = tainted
) -> Drained:
    """What an observer sees from the taint until all pods have other devices, and `act` has done its part."""
    fill(cluster)
    claims = claims_of(cluster)
    names = [each for app in APPS for pod in cluster.pods(app)[:NUM_TAINTED] for each in devices_of(pod, claims)]

    def leave(_cluster: Cluster, _nodes: list[str]) -> None:
        taint_devices(cluster, names, {**SICK, "effect": effect})
        act(cluster)
        wait_until("tainted devices are free", lambda: not in_use(cluster) & {*names}, 90.0)

    found = drained(cluster, [], leave)
    print(f"{effect}: {found.text}", flush=True)
    return found


def fill(cluster: Cluster) -> None:
    """Two Deployments under budgets, each pod with one of eight devices of its node."""
    names = [f"{cluster.namespace}-{number}" for number in range(8)]
    cluster.create(device_class())
    for name in names:
        cluster.create(slice_of(name, *(device(f"d{number}") for number in range(8))))
    cluster.add_nodes(*map(node, names))
    own = {"name": CLAIM, "resourceClaimTemplateName": CLAIM}
    cluster.create(claim_template(CLAIM, cluster.namespace, claim("c", request("r"))["spec"]))
    for app in APPS:
        cluster.create(disruption_budget(app, cluster.namespace, maxUnavailable=2))
        pods = partial(deployment, annotations={READY_AFTER: "1s"}, resourceClaims=[own])
        cluster.create(pods(app, cluster.namespace, replicas=REPLICAS))
    wait_ready(cluster)


def evict_by_profile(cluster: Cluster) -> None:
    """Runs of the shipped profile, each when the replacements of the one before are ready, until none evicts a pod."""
    for _ in range(MOST_RUNS):
        if not run_profile(cluster).outcomes:
            return
        wait_ready(cluster)
    pytest.fail(f"{MOST_RUNS} runs were too few")


def run_profile(cluster: Cluster) -> RunResult:
    """One run of the shipped profile."""
    text = PROFILE.read_text().replace(VERIFIED, f"{VERIFIED}\n        args: {{featureGates: {{{GATE}: true}}}}", 1)
    policy, client = load_policy(text, REGISTRY), Witness(cluster.kubeconfig).client()
    return run_with(client, policy, FAST, Watch(), now=datetime.now(UTC))


def wait_ready(cluster: Cluster) -> None:
    for app in APPS:
        cluster.wait_ready(app, REPLICAS, timeout_seconds=120.0)


def in_use(cluster: Cluster) -> set[str]:
    """`pool/device` of all devices that claims have."""
    results: list[Object] = [
        result
        for each in claims_of(cluster)
        for result in each.get("status", {}).get("allocation", {}).get("devices", {}).get("results", ())
    ]
    return {f"{result['pool']}/{result['device']}" for result in results}
