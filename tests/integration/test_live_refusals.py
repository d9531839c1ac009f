"""What the API server refuses, loses or leaves open breaks no limit, and is made up for where it can be."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from descheduler import evaluate
from descheduler.cycle.options import EVICTIONS_IN_BACKGROUND
from descheduler.kube.client import KubeClient, connect
from descheduler.kube.retry import RetryPolicy
from descheduler.model.pod import EVICTION_IN_PROGRESS_ANNOTATION, REQUEST_EVICT_ONLY_ANNOTATION
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from tests.builders import NOW, Object, node_object, pod_object
from tests.integration.api_fixtures import Naps
from tests.integration.fake_api import FakeApi, Request
from tests.integration.faults import (
    Drop,
    EvictThenDrop,
    Fault,
    budget_refusal,
    budget_unobserved,
    evacuation,
    failure,
    several_budgets,
)
from tests.integration.live_runs import (
    FAST,
    TAINTED,
    asked_for,
    balancing,
    budget_object,
    codes,
    crowded_cluster,
    evicted_names,
    eviction_requests,
    run,
    serve,
    taint_policy,
)
from tests.migration.stand_ins import Clock

IN_BACKGROUND = replace(FAST, feature_gates={EVICTIONS_IN_BACKGROUND: True})
FORBIDDEN = failure(403, "Forbidden", "pods is forbidden")
TERMINATING = failure(
    403,
    "Forbidden",
    'pods "cart" is forbidden: unable to create new content in namespace default because it is being terminated',
    causes=(("NamespaceTerminating", "namespace default is being terminated"),),
)


@pytest.mark.parametrize(
    ("faults", "code", "num_calls"),
    [
        pytest.param([], OutcomeCode.DONE, 1, id="an eviction that is granted"),
        pytest.param([budget_refusal("b")], OutcomeCode.BUDGET, 1, id="a budget without room is not asked twice"),
        pytest.param([budget_unobserved("b")] * 2, OutcomeCode.DONE, 3, id="a request to come back is followed"),
        pytest.param([several_budgets()], OutcomeCode.SEVERAL_BUDGETS, 1, id="two budgets are never asked twice"),
        pytest.param([failure(404, "NotFound", "gone")], OutcomeCode.POD_GONE, 1, id="a pod that left by itself"),
        pytest.param([FORBIDDEN], OutcomeCode.FORBIDDEN, 1, id="a right that is missing"),
        pytest.param([TERMINATING], OutcomeCode.NAMESPACE_TERMINATING, 1, id="a namespace that is being deleted"),
        pytest.param([failure(500, "InternalError", "oops")], OutcomeCode.DONE, 2, id="a fault of the server"),
        pytest.param(
            [failure(500, "InternalError", "oops")] * 3, OutcomeCode.SERVER_ERROR, 3, id="a lasting fault of the server"
        ),
        pytest.param([Drop()], OutcomeCode.DONE, 2, id="a call that was lost on its way"),
        pytest.param([EvictThenDrop()], OutcomeCode.LEFT_WITHOUT_ANSWER, 1, id="an answer that was lost on its way"),
    ],
)
def test_each_answer_ends_in_its_outcome(
    fake_api: FakeApi, client: KubeClient, faults: list[Fault], code: OutcomeCode, num_calls: int
) -> None:
    serve(fake_api, *crowded_cluster("cart"))
    fake_api.on_eviction("cart", *faults, namespace="default")

    result = run(client, taint_policy())

    assert codes(result) == {"cart": code}
    assert asked_for(fake_api) == ["cart"] * num_calls


def test_pause_before_asking_again_is_the_one_the_server_wants(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("cart"))
    fake_api.on_eviction("cart", budget_unobserved("b", seconds=10), namespace="default")
    clock = Clock()

    run(client, taint_policy(), clock=clock)

    assert clock.seconds == pytest.approx(10, abs=1)


def test_refused_pods_are_replaced_until_the_limit_is_used_up(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2", "p3", "p4", "p5"))
    fake_api.on_eviction("p1", budget_refusal("b"), namespace="default")
    fake_api.on_eviction("p3", several_budgets(), namespace="default")

    result = run(client, taint_policy("maxNoOfPodsToEvictTotal: 2"))

    assert codes(result) == {
        "p1": OutcomeCode.BUDGET,
        "p2": OutcomeCode.DONE,
        "p3": OutcomeCode.SEVERAL_BUDGETS,
        "p4": OutcomeCode.DONE,
    }
    assert asked_for(fake_api) == ["p1", "p2", "p3", "p4"]


def test_long_row_of_refusals_does_not_keep_the_run_from_its_limit(fake_api: FakeApi, client: KubeClient) -> None:
    names = [f"p{number:02}" for number in range(20)]
    serve(fake_api, *crowded_cluster(*names))
    for name in names[:-1]:
        fake_api.on_eviction(name, budget_refusal("b"), namespace="default")

    result = run(client, taint_policy("maxNoOfPodsToEvictTotal: 1"))

    assert codes(result)[names[-1]] is OutcomeCode.DONE
    assert asked_for(fake_api) == names


def test_further_rounds_keep_the_pace(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2", "p3"))
    for name in ("p1", "p2"):
        fake_api.on_eviction(name, budget_refusal("b"), namespace="default")
    clock = Clock()

    run(client, taint_policy("maxNoOfPodsToEvictTotal: 1"), options=replace(FAST, qps=0.5, burst=1), clock=clock)

    assert asked_for(fake_api) == ["p1", "p2", "p3"]
    assert clock.seconds == pytest.approx(4)


def test_balancing_takes_another_pod_for_one_that_is_refused(fake_api: FakeApi, client: KubeClient) -> None:
    pods = [pod_object(f"p{number}", node="full", cpu="900m") for number in range(4)]
    objects = [node_object("full"), node_object("empty"), *pods]
    policy = balancing("{thresholds: {cpu: 20}, targetThresholds: {cpu: 50}}")
    serve(fake_api, *objects)
    first, second = (eviction.name for eviction in evaluate(policy, objects, now=NOW).evictions)
    fake_api.on_eviction(first, budget_refusal("b"), namespace="default")

    result = run(client, policy)

    assert codes(result)[first] is OutcomeCode.BUDGET
    assert second in evicted_names(fake_api, objects)
    assert len(evicted_names(fake_api, objects)) == 2
    assert len(eviction_requests(fake_api)) == 3


def test_budget_that_is_used_up_is_not_even_asked(fake_api: FakeApi, client: KubeClient) -> None:
    objects = crowded_cluster("p1", "p2", "p3", labels={"app": "web"})
    serve(fake_api, *objects, budget_object("web", {"app": "web"}, allowed=1))

    result = run(client, taint_policy())

    assert asked_for(fake_api) == ["p1"]
    assert [refusal.verdict.message for refusal in result.decisions.refusals] == [
        "PodDisruptionBudget default/web allows 1 disruption, used by other pods of this run (3 healthy, 3 required)"
    ] * 2


def test_pods_under_two_budgets_are_not_even_asked_for(fake_api: FakeApi, client: KubeClient) -> None:
    budgets = [budget_object(name, {"app": "web"}, allowed=3) for name in ("one", "two")]
    serve(fake_api, *crowded_cluster("p1", labels={"app": "web"}), *budgets)

    run(client, taint_policy())

    assert eviction_requests(fake_api) == []


def test_disruption_charged_in_an_earlier_round_stays_charged(fake_api: FakeApi, client: KubeClient) -> None:
    objects = crowded_cluster("p1", "p2", "p3", labels={"app": "web"})
    serve(fake_api, *objects, budget_object("web", {"app": "web"}, allowed=2))
    fake_api.on_eviction("p1", FORBIDDEN, namespace="default")

    run(client, taint_policy())

    assert asked_for(fake_api) == ["p1", "p2", "p3"]
    assert evicted_names(fake_api, objects) == {"p2", "p3"}


def test_pod_replaced_under_its_name_since_the_snapshot_is_left_alone(fake_api: FakeApi, client: KubeClient) -> None:
    """A StatefulSet brings the name back; the uid of the request keeps the new pod from being hit."""
    serve(fake_api, *crowded_cluster("db-0", owners=["StatefulSet/db"]))

    def replace_pod(request: Request) -> None:
        if request.method == "POST":
            fake_api.objects["/api/v1/pods"][0]["metadata"]["uid"] = "successor"

    fake_api.on_request = replace_pod

    result = run(client, taint_policy())

    assert codes(result) == {"db-0": OutcomeCode.POD_GONE}
    assert fake_api.pods() == ["db-0"]
    assert asked_for(fake_api) == ["db-0"]


def test_pod_that_somebody_deletes_meanwhile_frees_its_place_for_another(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2", "p3"))
    fake_api.on_eviction("p1", failure(404, "NotFound", 'pods "p1" not found'), namespace="default")

    result = run(client, taint_policy("maxNoOfPodsToEvictPerNode: 1"))

    assert codes(result) == {"p1": OutcomeCode.POD_GONE, "p2": OutcomeCode.DONE}


def test_pod_that_may_have_left_uses_the_limit_up(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2"))
    fake_api.on_eviction("p1", EvictThenDrop(), namespace="default")
    fake_api.fail_always("GET", "/api/v1/namespaces/default/pods/p1", failure(503, "ServiceUnavailable", "down"))

    result = run(client, taint_policy("maxNoOfPodsToEvictTotal: 1"))

    assert codes(result) == {"p1": OutcomeCode.OUTCOME_UNKNOWN}
    assert asked_for(fake_api) == ["p1"]


def test_lost_right_to_evict_is_asked_once_a_pod_and_then_reported(fake_api: FakeApi, client: KubeClient) -> None:
    names = ["p1", "p2", "p3"]
    serve(fake_api, *crowded_cluster(*names))
    for name in names:
        path = f"/api/v1/namespaces/default/pods/{name}/eviction"
        fake_api.fail_always("POST", path, FORBIDDEN)

    result = run(client, taint_policy("maxNoOfPodsToEvictTotal: 1"))

    assert codes(result) == dict.fromkeys(names, OutcomeCode.FORBIDDEN)
    assert asked_for(fake_api) == names
    assert result.decisions.moves == ()


def test_eviction_taken_over_by_another_controller_counts_and_is_not_asked_again(
    fake_api: FakeApi, client: KubeClient
) -> None:
    vm = pod_object("a-vm", node="tainted", annotations={REQUEST_EVICT_ONLY_ANNOTATION: ""})
    serve(fake_api, *crowded_cluster("b", "c", "d"), vm)
    fake_api.on_eviction("a-vm", evacuation(), evacuation(), namespace="default")
    fake_api.on_eviction("b", budget_refusal("b"), namespace="default")

    result = run(client, taint_policy("maxNoOfPodsToEvictTotal: 2"), options=IN_BACKGROUND)

    assert codes(result) == {"a-vm": OutcomeCode.HANDED_OVER, "b": OutcomeCode.BUDGET, "c": OutcomeCode.DONE}
    assert asked_for(fake_api) == ["a-vm", "b", "c"]
    assert [booked.pod.name for booked in result.decisions.background] == ["a-vm"]


def test_handed_over_eviction_alone_makes_no_further_round(fake_api: FakeApi, client: KubeClient) -> None:
    vm = pod_object("vm", node="tainted", annotations={REQUEST_EVICT_ONLY_ANNOTATION: ""})
    serve(fake_api, *crowded_cluster(), vm)
    fake_api.on_eviction("vm", evacuation(), namespace="default")

    result = run(client, taint_policy(), options=IN_BACKGROUND)

    assert [outcome.kind for outcome in result.outcomes] == [OutcomeKind.BACKGROUND]
    assert asked_for(fake_api) == ["vm"]


def test_evacuation_is_a_refusal_while_the_gate_is_off(fake_api: FakeApi, client: KubeClient) -> None:
    vm = pod_object("vm", node="tainted", annotations={REQUEST_EVICT_ONLY_ANNOTATION: ""})
    serve(fake_api, *crowded_cluster("other"), vm)
    fake_api.on_eviction("vm", evacuation(), namespace="default")

    result = run(client, taint_policy())

    assert codes(result) == {"other": OutcomeCode.DONE, "vm": OutcomeCode.THROTTLED}


def test_evacuation_in_progress_counts_against_the_limit(fake_api: FakeApi, client: KubeClient) -> None:
    annotations = {REQUEST_EVICT_ONLY_ANNOTATION: "", EVICTION_IN_PROGRESS_ANNOTATION: ""}
    vm = pod_object("vm", node="tainted", annotations=annotations)
    serve(fake_api, *crowded_cluster("p1", "p2"), vm)

    run(client, taint_policy("maxNoOfPodsToEvictTotal: 2"), options=IN_BACKGROUND)

    assert asked_for(fake_api) == ["p1"]


ANSWERS: dict[str, Fault | None] = {
    "granted": None,
    "lost call": Drop(),
    "lost answer": EvictThenDrop(),
    "budget": budget_refusal("b"),
    "later": budget_unobserved("b"),
    "several": several_budgets(),
    "forbidden": FORBIDDEN,
    "gone": failure(404, "NotFound", "gone"),
}
LEAVES = {"granted", "lost call", "lost answer", "later"}


@pytest.mark.long
@settings(max_examples=25, deadline=None)
@given(answers=st.lists(st.sampled_from(sorted(ANSWERS)), max_size=12), limit=st.integers(0, 6))
def test_exactly_as_many_pods_leave_as_the_limit_and_the_server_allow(answers: list[str], limit: int) -> None:
    objects: list[Object] = [TAINTED, node_object("free")]
    with FakeApi() as api, tempfile.TemporaryDirectory() as folder:
        for number, answer in enumerate(answers):
            objects.append(pod_object(f"p{number:02}", node="tainted"))
            if (fault := ANSWERS[answer]) is not None:
                api.on_eviction(f"p{number:02}", fault, namespace="default")
        serve(api, *objects)
        client = connect(str(api.write_kubeconfig(Path(folder) / "kubeconfig")), retry=RetryPolicy(sleep=Naps()))

        run(client, taint_policy(f"maxNoOfPodsToEvictTotal: {limit}"))

        client.close()
        assert len(evicted_names(api, objects)) == min(limit, sum(answer in LEAVES for answer in answers))
