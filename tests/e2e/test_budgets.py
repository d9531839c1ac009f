"""Disruption budgets, as the real eviction API enforces them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from descheduler.plan.outcome import Outcome, OutcomeCode
from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import ApiError, Object, is_ready, wait_until
from tests.e2e.objects import BEHAVIOUR, deployment, disruption_budget, node
from tests.e2e.program import Program, policy
from tests.e2e.witness import Witness, watched_run

TAINTS = "RemovePodsViolatingNodeTaints"
NEVER_READY = {BEHAVIOUR: "never-ready"}


def test_run_takes_no_more_than_a_budget_allows(cluster: Cluster, program: Program) -> None:
    pods = run_on_tainted_node(cluster, web=4)
    budget = add_budget(cluster, "web", allowed=2, maxUnavailable=2)

    report = program.run(policy(TAINTS))

    assert report.evicted_apps() == {"web": 2}
    assert sorted(report.refusals().values()) == ["DisruptionBudget"] * 2
    assert {name for name, _ in report.pods("evicted")} | set(report.refusals()) == names(pods)
    wait_until("the budget is whole again", lambda: status_of(cluster, budget)["disruptionsAllowed"] == 2)


def test_refusal_that_the_plan_foresees_is_the_one_that_the_api_gives(cluster: Cluster, program: Program) -> None:
    pods = run_on_tainted_node(cluster, web=2)
    add_budget(cluster, "web", allowed=0, minAvailable=2)

    report = program.run(policy(TAINTS))

    assert report.evicted_apps() == {}
    assert set(report.refusals().values()) == {"DisruptionBudget"}
    assert [refusal_of(cluster, pod) for pod in pods] == [(429, "DisruptionBudget")] * 2


def test_budget_that_shrinks_behind_the_plan_stops_evictions_with_its_name(cluster: Cluster) -> None:
    pods = run_on_tainted_node(cluster, web=3)
    budget = add_budget(cluster, "web", allowed=2, maxUnavailable=2)

    result = watched_run(before_first_eviction(cluster, lambda: change_budget(cluster, budget, 0)), policy(TAINTS))

    refused = [outcome for outcome in result.outcomes if outcome.code is OutcomeCode.BUDGET]
    assert len(refused) >= 2
    assert {outcome.status_code for outcome in refused} == {429}
    assert all("The disruption budget web needs" in outcome.message for outcome in refused)
    assert uids(cluster.pods("web")) == uids(pods)


def test_other_pod_goes_in_the_place_of_one_that_the_api_refuses(cluster: Cluster) -> None:
    """A limit of one eviction is not spent on a refusal."""
    run_on_tainted_node(cluster, guarded=1, spare=1)
    budget = add_budget(cluster, "guarded", allowed=1, maxUnavailable=1)

    result = watched_run(
        before_first_eviction(cluster, lambda: change_budget(cluster, budget, 0)),
        policy(TAINTS, maxNoOfPodsToEvictTotal=1),
    )

    assert codes_by_app(result.outcomes) == {"guarded": OutcomeCode.BUDGET, "spare": OutcomeCode.DONE}


def test_pod_under_two_budgets_stays_however_much_they_allow(cluster: Cluster, program: Program) -> None:
    pods = run_on_tainted_node(cluster, web=2)
    add_budget(cluster, "web", allowed=2, maxUnavailable=2)
    add_budget(cluster, "second", app="web", allowed=1, maxUnavailable=1)

    report = program.run(policy(TAINTS))

    assert report.evicted_apps() == {}
    assert set(report.refusals().values()) == {"SeveralBudgets"}
    with pytest.raises(ApiError, match="more than one PodDisruptionBudget") as refused:
        cluster.api.evict(pods[0], dry_run=True)
    assert refused.value.status == 500


def test_second_budget_that_appears_behind_the_plan_is_told_from_a_server_fault(cluster: Cluster) -> None:
    pods = run_on_tainted_node(cluster, web=1)
    add_budget(cluster, "web", allowed=1, maxUnavailable=1)

    result = watched_run(
        before_first_eviction(cluster, lambda: add_budget(cluster, "second", app="web", allowed=1, maxUnavailable=1)),
        policy(TAINTS),
    )

    assert codes_by_app(result.outcomes) == {"web": OutcomeCode.SEVERAL_BUDGETS}
    assert uids(cluster.pods("web")) == uids(pods)


@pytest.mark.parametrize(
    ("unhealthy_policy", "evicted"),
    [
        pytest.param("AlwaysAllow", {"web": 2}, id="always: go whatever the budget says"),
        pytest.param("IfHealthyBudget", {}, id="if the budget is healthy: stay, since it is not"),
        pytest.param(None, {}, id="by default: stay, since the budget is not healthy"),
    ],
)
def test_pods_that_are_not_ready_under_a_budget_that_is_not_met(
    cluster: Cluster, program: Program, unhealthy_policy: str | None, evicted: Mapping[str, int]
) -> None:
    cluster.add_nodes(node("a"))
    cluster.create(deployment("web", cluster.namespace, replicas=2, annotations=NEVER_READY))
    pods = wait_until("both pods run", lambda: running(cluster, "web", 2))
    extra = {"unhealthyPodEvictionPolicy": unhealthy_policy} if unhealthy_policy else {}
    add_budget(cluster, "web", allowed=0, maxUnavailable=0, **extra)
    open_second_node(cluster)
    foreseen = [refusal_of(cluster, pod) for pod in pods]

    report = program.run(policy(TAINTS))

    assert report.evicted_apps() == evicted
    assert foreseen == ([None] * 2 if evicted else [(429, "DisruptionBudget")] * 2)


def test_pod_that_is_not_ready_goes_while_the_others_meet_the_budget(cluster: Cluster, program: Program) -> None:
    cluster.add_nodes(node("a"))
    cluster.create(deployment("broken", cluster.namespace, labels={"team": "shop"}, annotations=NEVER_READY))
    wait_until("the broken pod runs", lambda: running(cluster, "broken", 1))
    cluster.run(deployment("web", cluster.namespace, replicas=2, labels={"team": "shop"}))
    add_budget(cluster, "shop", allowed=0, selector={"matchLabels": {"team": "shop"}}, minAvailable=2)
    open_second_node(cluster)

    report = program.run(policy(TAINTS))

    assert report.evicted_apps() == {"broken": 1}
    assert sum(is_ready(pod) for pod in cluster.pods("web")) == 2


@pytest.mark.parametrize(
    ("ready", "broken", "spec", "evicted"),
    [
        pytest.param(8, 2, {"maxUnavailable": "25%"}, {"web": 1, "broken": 2}, id="a quarter of ten is three, two are"),
        pytest.param(7, 0, {"minAvailable": "50%"}, {"web": 3}, id="half of seven is four"),
        pytest.param(3, 0, {"minAvailable": 3}, {}, id="three of three"),
    ],
)
def test_share_that_the_controller_rounds_up_is_kept(
    cluster: Cluster, program: Program, ready: int, broken: int, spec: Mapping[str, Any], evicted: Mapping[str, int]
) -> None:
    cluster.add_nodes(node("a"))
    cluster.run(deployment("web", cluster.namespace, replicas=ready, labels={"team": "shop"}))
    if broken:
        labels = {"team": "shop"}
        unready = deployment("broken", cluster.namespace, replicas=broken, labels=labels, annotations=NEVER_READY)
        cluster.create(unready)
        wait_until("the broken pods run", lambda: running(cluster, "broken", broken))
    selector = {"matchLabels": {"team": "shop"}}
    add_budget(cluster, "shop", allowed=evicted.get("web", 0), selector=selector, **spec)
    open_second_node(cluster)

    report = program.run(policy(TAINTS))

    assert report.evicted_apps() == evicted


def run_on_tainted_node(cluster: Cluster, **replicas: int) -> list[Object]:
    """Deployments whose pods all run on node a, which no longer wants them; node b is free."""
    cluster.add_nodes(node("a"))
    pods = [
        pod
        for app, count in replicas.items()
        for pod in cluster.run(deployment(app, cluster.namespace, replicas=count))
    ]
    open_second_node(cluster)
    return pods


def open_second_node(cluster: Cluster) -> None:
    """Adds node b and taints node a."""
    cluster.add_nodes(node("b"))
    cluster.api.patch(node("a"), {"spec": {"taints": [{"key": "closed", "effect": "NoSchedule"}]}})


def add_budget(cluster: Cluster, name: str, *, allowed: int, app: str | None = None, **spec: object) -> Object:
    """A budget over the pods of `app`, by default of its own name, once it allows so many disruptions."""
    selector = {"selector": {"matchLabels": {"app": app}}} if app else {}
    budget = disruption_budget(name, cluster.namespace, **selector, **spec)
    cluster.create(budget)
    wait_allowed(cluster, budget, allowed)
    return budget


def change_budget(cluster: Cluster, budget: Object, max_unavailable: int) -> None:
    """Changes the budget and waits until its controller has seen it."""
    cluster.api.patch(budget, {"spec": {"maxUnavailable": max_unavailable}})
    wait_allowed(cluster, budget, max_unavailable)


def wait_allowed(cluster: Cluster, budget: Object, allowed: int) -> None:
    """Returns once the budget's controller says so for the present budget and all of its pods."""

    def is_counted() -> bool:
        found = cluster.api.get(budget)
        status = found.get("status", {})
        is_current = status.get("observedGeneration") == found["metadata"]["generation"]
        return bool(is_current and status["expectedPods"] > 0 and status["disruptionsAllowed"] == allowed)

    wait_until(f"budget {budget['metadata']['name']} allows {allowed}", is_counted)


def before_first_eviction(cluster: Cluster, act: Callable[[], object]) -> Witness:
    """A client that calls `act` once, between the plan and the first eviction."""
    acted: list[str] = []

    def before(method: str, path: str, _query: Mapping[str, str]) -> None:
        if method == "POST" and path.endswith("/eviction") and not acted:
            acted.append(path)
            act()

    return Witness(cluster.kubeconfig, before=before)


def refusal_of(cluster: Cluster, pod: Object) -> tuple[int, str] | None:
    """Status and first cause with which the API refuses to evict the pod; None when it would go."""
    try:
        cluster.api.evict(pod, dry_run=True)
    except ApiError as error:
        return error.status, error.body["details"]["causes"][0]["reason"]
    return None


def status_of(cluster: Cluster, budget: Object) -> Object:
    """What the budget's controller last said."""
    found: Object = cluster.api.get(budget)["status"]
    return found


def running(cluster: Cluster, app: str, count: int) -> list[Object] | None:
    """The pods of `app` when so many run."""
    found = [pod for pod in cluster.pods(app) if pod["status"]["phase"] == "Running"]
    return found if len(found) == count else None


def codes_by_app(outcomes: tuple[Outcome, ...]) -> dict[str, OutcomeCode]:
    """Workload → how the eviction of its one pod ended."""
    return {outcome.eviction.name.partition("-")[0]: outcome.code for outcome in outcomes}


def names(pods: list[Object]) -> set[str]:
    """Names of pods."""
    return {pod["metadata"]["name"] for pod in pods}


def uids(pods: list[Object]) -> set[str]:
    """Uids of pods."""
    return {pod["metadata"]["uid"] for pod in pods}
