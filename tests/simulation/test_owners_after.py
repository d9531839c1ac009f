"""Owners take note of evictions between the cycles of a simulation."""

from __future__ import annotations

from typing import Any

from descheduler.model.workloads import JobFacts
from descheduler.simulation.carrying_out import CarriedOut
from tests.builders import Object, container_status, pod_object
from tests.placement.workloads import workload_object
from tests.simulation.loops import carry_out, evicting

RESTARTED = [container_status(restarts=9)]


def worker(name: str, **facts: Any) -> Object:
    """A pod of the Job `sum`."""
    return pod_object(name, owners=["Job/sum"], node="a", **facts)


def job_of(carried: CarriedOut) -> JobFacts:
    facts = carried.snapshot.workloads["job-sum"].job
    assert facts is not None
    return facts


def test_eviction_counts_against_the_limit_of_a_job() -> None:
    after = carry_out(
        evicting(),
        workload_object("Job/sum", completions=1, backoffLimit=1),
        worker("one", containers=RESTARTED),
    )

    assert job_of(after).num_failed == 1
    assert [each.fate for each in after.arrivals] == ["scheduled"]


def test_job_that_fails_loses_all_its_pods() -> None:
    after = carry_out(
        evicting(),
        workload_object("Job/sum", replicas=2, completions=2, backoffLimit=0),
        worker("one", containers=RESTARTED),
        worker("other"),
    )

    assert job_of(after).conditions == {"Failed"}
    assert [each.fate for each in after.arrivals] == ["not created"]
    assert after.snapshot.pods == ()


def test_index_that_fails_leaves_the_others_running() -> None:
    spec: Object = {"completions": 2, "completionMode": "Indexed", "backoffLimitPerIndex": 0}
    index = "batch.kubernetes.io/job-completion-index"

    after = carry_out(
        evicting(),
        workload_object("Job/sum", replicas=2, **spec),
        worker("one", containers=RESTARTED, labels={index: "0"}),
        worker("other", labels={index: "1"}),
    )

    assert job_of(after).failed_indexes == {0}
    assert [pod.name for pod in after.snapshot.pods] == ["other"]


def test_nothing_comes_where_the_owner_waits_for_a_pod_that_stays_as_it_is() -> None:
    after = carry_out(
        evicting(),
        workload_object("StatefulSet/db", replicas=2),
        pod_object("db-0", owners=["StatefulSet/db"], node="a", ready=False),
        pod_object("db-1", owners=["StatefulSet/db"], node="a", containers=RESTARTED),
    )

    assert [each.fate for each in after.arrivals] == ["not created"]


def test_pod_of_a_daemon_set_comes_back_to_its_node() -> None:
    after = carry_out(
        evicting(podProtections={"defaultDisabled": ["DaemonSetPods"]}),
        workload_object("DaemonSet/agent"),
        pod_object("agent", owners=["DaemonSet/agent"], node="b", containers=RESTARTED),
    )

    assert {pod.name: pod.node_name for pod in after.snapshot.pods} == {"agent+": "b"}
