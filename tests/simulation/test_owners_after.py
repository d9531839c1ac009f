"""Owners take note of evictions between the cycles of a simulation."""

from __future__ import annotations

from typing import Any

from descheduler.model.groups.workloads import JobFacts
from descheduler.simulation.carrying_out import CarriedOut
from tests.builders import Object, container_status, pod_object
from tests.placement.workloads import workload_object
from tests.simulation.loops import carry_out, evicting

INDEX = "batch.kubernetes.io/job-completion-index"
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

    after = carry_out(
        evicting(),
        workload_object("Job/sum", replicas=2, **spec),
        worker("one", containers=RESTARTED, labels={INDEX: "0"}),
        worker("other", labels={INDEX: "1"}),
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


def test_pods_that_left_before_the_one_that_fails_their_job_do_not_come() -> None:
    after = carry_out(
        evicting(),
        workload_object("Job/sum", replicas=2, completions=2, backoffLimit=1),
        worker("one", containers=RESTARTED),
        worker("other", containers=RESTARTED),
    )

    assert [each.fate for each in after.arrivals] == ["not created", "not created"]
    assert after.snapshot.pods == ()


def test_next_index_runs_in_the_place_of_one_that_fails() -> None:
    spec: Object = {"completions": 3, "completionMode": "Indexed", "backoffLimitPerIndex": 0}

    after = carry_out(
        evicting(),
        workload_object("Job/sum", replicas=2, **spec),
        worker("one", containers=RESTARTED, labels={INDEX: "0"}),
        worker("other", labels={INDEX: "1"}),
    )

    assert sorted((pod.labels[INDEX], bool(pod.node_name)) for pod in after.snapshot.pods) == [("1", True), ("2", True)]
    assert (sorted(job_of(after).failed_indexes), job_of(after).num_failed) == ([0], 1)


def member(ordinal: int, **facts: Any) -> Object:
    """A pod of the StatefulSet `db`."""
    return pod_object(f"db-{ordinal}", **{"owners": ["StatefulSet/db"], "node": "a", **facts})


def test_nothing_comes_above_an_ordinal_that_finds_no_node() -> None:
    too_large = pod_object("t", cpu="64")

    after = carry_out(
        evicting(),
        workload_object("StatefulSet/db", replicas=2, template=too_large),
        member(0, containers=RESTARTED),
        member(1, containers=RESTARTED),
    )

    assert [each.fate for each in after.arrivals] == ["pending", "not created"]


def test_ordinals_come_once_the_one_that_held_them_up_is_new() -> None:
    after = carry_out(
        evicting(),
        workload_object("StatefulSet/db", replicas=3),
        member(0, containers=RESTARTED, ready=False, node="b"),
        member(1, containers=RESTARTED),
    )

    assert [each.fate for each in after.arrivals] == ["scheduled", "scheduled"]
    assert [(pod.name, pod.is_ready) for pod in after.snapshot.pods] == [
        ("db-0", True),
        ("db-1", True),
        ("db-2", True),
    ]


def test_only_one_ordinal_comes_where_it_finds_no_node() -> None:
    """The newest template asks for more than any node has, and the partition keeps the first pod as it is."""
    spec: Object = {"updateStrategy": {"rollingUpdate": {"partition": 1}}, "template": pod_object("t", cpu="64")}
    status: Object = {"currentRevision": "db-1", "updateRevision": "db-2"}
    labels = {"controller-revision-hash": "db-1"}

    after = carry_out(
        evicting(),
        workload_object("StatefulSet/db", replicas=3, **spec) | {"status": status},
        member(0, containers=RESTARTED, ready=False, labels=labels),
    )

    assert [(pod.name, pod.is_ready) for pod in after.snapshot.pods] == [("db-0", True), ("db-1", False)]


def test_pod_of_a_daemon_set_comes_back_to_its_node() -> None:
    after = carry_out(
        evicting(podProtections={"defaultDisabled": ["DaemonSetPods"]}),
        workload_object("DaemonSet/agent"),
        pod_object("agent", owners=["DaemonSet/agent"], node="b", containers=RESTARTED),
    )

    assert {pod.name: pod.node_name for pod in after.snapshot.pods} == {"agent+": "b"}
