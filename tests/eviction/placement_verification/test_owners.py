"""What the owners of evicted pods do decides about verified evictions, and is shown of all others."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import Round
from descheduler.cycle.plugins import REGISTRY
from descheduler.model.verdict import Reason
from descheduler.plan.decisions import Decisions
from descheduler.policy.load import load_policy
from descheduler.report.plan.making import make_plan
from descheduler.report.tables.summary import landing_summary
from tests.builders import NOW, Object, ago, node_object, owner, pod_object
from tests.placement.workloads import cluster_of, workload_object

OLD = "old:NoSchedule"
NODES = [node_object("n1", cpu="4", taints=[OLD]), node_object("n2", cpu="4")]
DISRUPTED = {"onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}


def policy_of(*, verifies: bool = True) -> dict[str, Any]:
    """Evicts what does not tolerate the taint of a node, DaemonSets included."""
    evictor = {"podProtections": {"defaultDisabled": ["DaemonSetPods", "FailedBarePods"]}}
    verification = {"preevictionfilter": {"enabled": ["PlacementVerification"]}} if verifies else {}
    return {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerPolicy",
        "profiles": [
            {
                "name": "p",
                "pluginConfig": [
                    {"name": "DefaultEvictor", "args": evictor},
                    {"name": "RemovePodsViolatingNodeTaints"},
                    {"name": "PlacementVerification", "args": {}},
                ],
                "plugins": {"deschedule": {"enabled": ["RemovePodsViolatingNodeTaints"]}, **verification},
            }
        ],
    }


def run(*objects: Object, verifies: bool = True, nodes: list[Object] = NODES) -> Decisions:
    snapshot = cluster_of(*nodes, *objects)
    return decide(
        load_policy(policy_of(verifies=verifies), REGISTRY), snapshot, now=NOW, this_round=Round(most_assessed=100)
    )


def refusals(decisions: Decisions) -> dict[str, tuple[Reason | None, str]]:
    return {each.pod.name: (each.verdict.reason, each.verdict.message) for each in decisions.refusals}


def evicted(decisions: Decisions) -> dict[str, str]:
    """Name of each pod that leaves → what its owner does."""
    return {
        move.pod.name: move.landing.replacement.answer.returns.value
        for move in decisions.moves
        if move.landing is not None
    }


def job(name: str, status: Object | None = None, **spec: Any) -> list[Object]:
    """A Job and its pod on the tainted node."""
    facts: dict[str, Any] = {"completions": 1, **spec}
    made = workload_object(f"Job/{name}", **facts) | {"status": status or {}}
    return [made, pod_object(f"{name}-0", node="n1", owners=[f"Job/{name}"])]


def stateful(*ordinals: int, replicas: int = 3, nodes: str = "n1", **spec: Any) -> list[Object]:
    """The StatefulSet `db`, with ready pods of these ordinals."""
    made = workload_object("StatefulSet/db", replicas=replicas, **spec)
    return [made, *(pod_object(f"db-{number}", node=nodes, owners=["StatefulSet/db"]) for number in ordinals)]


@pytest.mark.parametrize(
    ("objects", "loss"),
    [
        pytest.param(job("b0", backoffLimit=0), "Job b0 (backoffLimit: 0, 0 failed before)", id="no failure allowed"),
        pytest.param(
            job("b6used", {"failed": 6}, backoffLimit=6), "Job b6used (backoffLimit: 6, 6 failed before)", id="used up"
        ),
        pytest.param(
            job("faildisr", podFailurePolicy={"rules": [{"action": "FailJob", **DISRUPTED}]}),
            "Job faildisr (podFailurePolicy: FailJob)",
            id="by its failure policy",
        ),
        pytest.param(
            job("idx", completionMode="Indexed", backoffLimitPerIndex=0),
            "index 0 of Job idx (backoffLimitPerIndex: 0)",
            id="its index",
        ),
    ],
)
def test_eviction_that_fails_a_job_is_refused_by_a_code_of_its_own(objects: list[Object], loss: str) -> None:
    decisions = run(*objects)

    assert evicted(decisions) == {}
    assert list(refusals(decisions).values()) == [(Reason.OWNER_FAILS, f"the eviction fails {loss}")]


def test_job_that_goes_on_loses_its_pod() -> None:
    ignored = {"rules": [{"action": "Ignore", **DISRUPTED}]}
    decisions = run(
        *job("b0ignore", backoffLimit=0, podFailurePolicy=ignored),
        *job("b6", backoffLimit=6),
        *job("susp", suspend=True),
        *job("late", {"startTime": ago(90)}, activeDeadlineSeconds=60),
    )

    assert evicted(decisions) == {
        "b0ignore-0": "later",
        "b6-0": "later",
        "late-0": "not created",
        "susp-0": "not created",
    }


def test_job_loses_one_pod_at_a_time() -> None:
    """Pods that leave together share a back-off, during which the Job creates none."""
    pods = [pod_object(f"sum-{number}", node="n1", owners=["Job/sum"]) for number in range(2)]

    decisions = run(*pods, workload_object("Job/sum", replicas=2, completions=2))

    assert evicted(decisions) == {"sum-0": "later"}
    assert refusals(decisions)["sum-1"][0] is Reason.CONDITIONAL_LANDING


def test_eviction_that_fails_a_job_is_shown_where_nothing_is_verified() -> None:
    plan = make_plan(run(*job("b0", backoffLimit=0), verifies=False))

    landing = plan.moves[0].landing
    assert landing is not None
    assert (landing.returns, landing.verdict) == ("owner ends", "no")
    assert landing.message == "the eviction fails Job b0 (backoffLimit: 0, 0 failed before)"
    assert landing.message in plan.warnings
    assert landing_summary(plan.landings).startswith("1 not created because the eviction fails or ends the Job")


def test_evictions_that_fail_many_jobs_make_one_warning() -> None:
    jobs = [each for number in range(5) for each in job(f"b{number}", backoffLimit=0)]

    warnings = make_plan(run(*jobs, verifies=False)).warnings

    assert [text for text in warnings if "fail or end" in text] == [
        "5 evictions fail or end Jobs: default/b0, default/b1, default/b2 and 2 more;"
        " default/b0: the eviction fails Job b0 (backoffLimit: 0, 0 failed before)"
    ]
    assert not any(text.startswith("the eviction fails") for text in warnings)


@pytest.mark.parametrize(
    "lower",
    [
        pytest.param({"ready": False, "node": "n2"}, id="not ready"),
        pytest.param({"ready": False, "phase": "Pending", "node": ""}, id="pending"),
        pytest.param({"deleted": 5, "node": "n2"}, id="terminating on a lost node"),
    ],
)
def test_ordered_stateful_set_loses_no_pod_above_one_that_is_not_ready(lower: Object) -> None:
    decisions = run(*stateful(1, 2), pod_object("db-0", owners=["StatefulSet/db"], **lower))

    assert evicted(decisions) == {}
    waits = Reason.CONDITIONAL_LANDING, "StatefulSet db waits until pod db-0 is ready (onConditional: refuse)"
    assert {name: refusals(decisions)[name] for name in ("db-1", "db-2")} == {"db-1": waits, "db-2": waits}


@pytest.mark.parametrize(
    ("first", "second", "condition"),
    [
        pytest.param(
            "db-0",
            "db-1",
            "StatefulSet db waits until pod db-0, which is evicted as well, is ready again",
            id="the lower ordinal first",
        ),
        pytest.param(
            "db-1",
            "db-0",
            "pod db-1, which is evicted as well, waits until this pod of StatefulSet db is ready again",
            id="the higher ordinal first",
        ),
    ],
)
def test_ordered_stateful_set_loses_one_pod_a_run(first: str, second: str, condition: str) -> None:
    """Plugins go from node to node."""
    nodes = [*NODES, node_object("n3", cpu="4", taints=[OLD])]
    pods = [pod_object(name, node=node, owners=["StatefulSet/db"]) for name, node in ((first, "n1"), (second, "n3"))]

    decisions = run(*pods, workload_object("StatefulSet/db", replicas=2), nodes=nodes)

    assert evicted(decisions) == {first: "when gone"}
    assert refusals(decisions) == {second: (Reason.CONDITIONAL_LANDING, f"{condition} (onConditional: refuse)")}


def test_ordinals_from_another_start_are_created_again() -> None:
    spec: dict[str, Any] = {"ordinals": {"start": 5}, "podManagementPolicy": "Parallel"}

    decisions = run(*stateful(5, 6, 7, 8, **spec))

    assert evicted(decisions) == {"db-5": "when gone", "db-6": "when gone", "db-7": "when gone", "db-8": "not created"}


def test_pod_below_the_partition_lands_with_the_size_that_it_has() -> None:
    """The new template asks for more than the other node has; the pod comes back by the revision before it."""
    labels = {"controller-revision-hash": "db-1"}
    spec: dict[str, Any] = {"updateStrategy": {"rollingUpdate": {"partition": 2}}, "template": pod_object("t", cpu="9")}
    made = workload_object("StatefulSet/db", replicas=2, **spec)
    made["status"] = {"currentRevision": "db-1", "updateRevision": "db-2"}

    decisions = run(made, pod_object("db-0", node="n1", cpu="1", owners=["StatefulSet/db"], labels=labels))

    assert [move.to_node for move in decisions.moves] == ["n2"]


def test_pod_whose_size_admission_may_set_again_goes_only_where_both_sizes_land() -> None:
    def vpa(cpu: str) -> list[Object]:
        pod = pod_object("db", node="n1", cpu=cpu, owners=["ReplicaSet/db"], annotations={"vpaUpdates": "cpu request"})
        return [pod, workload_object("ReplicaSet/db", template=pod_object("t", cpu="1"))]

    fits, too_large = run(*vpa("3")), run(*vpa("5"))

    assert evicted(fits) == {"db": "at once"}
    assert refusals(too_large)["db"][0] is Reason.CONDITIONAL_LANDING


def test_pod_that_differs_from_a_template_nobody_can_have_edited_goes_only_where_both_sizes_land() -> None:
    """A webhook that leaves no annotation has set the size; what was resized in place comes back by the template."""
    workload = workload_object("ReplicaSet/db", template=pod_object("t", cpu="1"), deployment="db")
    pod = pod_object("db", node="n1", cpu="5", owners=["ReplicaSet/db"])
    resized = {**pod, "metadata": {**pod["metadata"], "generation": 2}}
    deployment = workload_object("Deployment/db")

    refused, goes = run(pod, workload, deployment), run(resized, workload, deployment)

    condition = "the replacement pod keeps the requests of its template (admission changed them for this pod)"
    assert refusals(refused) == {"db": (Reason.CONDITIONAL_LANDING, f"{condition} (onConditional: refuse)")}
    assert evicted(goes) == {"db": "at once"}


def test_daemon_set_pod_that_its_node_is_not_to_have_goes_for_good() -> None:
    agent = pod_object("agent", node="n1", owners=["DaemonSet/agent"])

    decisions = run(agent, workload_object("DaemonSet/agent"))

    assert evicted(decisions) == {"agent": "not created"}
    assert [move.to_node for move in decisions.moves] == [None]


@pytest.mark.parametrize("kind", ["Workflow", "TaskRun", "VirtualMachineInstance"])
def test_pod_of_an_owner_of_an_unknown_kind_is_not_taken_to_come_back(kind: str) -> None:
    reference = owner(f"{kind}/x", group="example.com/v1")

    decisions = run(pod_object("step", node="n1", owners=[reference]))

    cause = f"it is unknown whether an owner of kind {kind} (example.com) creates an evicted pod again"
    assert refusals(decisions) == {"step": (Reason.UNKNOWN_LANDING, f"{cause} (onUnknown: refuse)")}


def test_nothing_is_evicted_in_a_namespace_that_is_being_deleted_as_nothing_comes_back() -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
    pod = pod_object("web", node="n1", owners=["ReplicaSet/web"])

    decisions = run(pod, workload_object("ReplicaSet/web"), namespace | {"status": {"phase": "Terminating"}})

    why = "namespace default is being deleted: the API server refuses evictions in it"
    told = (Reason.NAMESPACE_TERMINATING, f"{why}, and a replacement pod is not created")
    assert (refusals(decisions), evicted(decisions)) == ({"web": told}, {})


def test_pod_whose_template_names_a_node_comes_there() -> None:
    template = workload_object("ReplicaSet/web")
    template["spec"]["template"]["spec"]["nodeName"] = "n1"

    decisions = run(pod_object("web", node="n1", owners=["ReplicaSet/web"]), template)

    assert [move.to_node for move in decisions.moves] == ["n1"]
