"""Why Volcano tries no task of a pod: its queue, its gang or the scheduler itself, and what that counts."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.placement.landings.landing import LandingVerdict
from tests.placement.volcano.worlds import Object, group, node, owned, plugin, pods, prover_of, queue

NO, UNKNOWN = LandingVerdict.NO, LandingVerdict.UNKNOWN
OLD: Any = {**node("old"), "spec": {"unschedulable": True}}


def refused(*objects: Any, plugins: Any, actions: str = "enqueue, allocate", cpu: str = "1", **more: Any) -> str:
    """Why the pod of a job that runs on the cordoned node does not come back, of two nodes with 10 CPU each."""
    tiers = [{"plugins": [plugin(each) if isinstance(each, str) else each for each in plugins]}]
    victim = owned(pods("job", 1, on="old", cpu=cpu, **more))
    prover, pod = prover_of(OLD, node("a"), *objects, victim, configuration={"actions": actions, "tiers": tiers})
    landing = prover.consider(pod["job-0"])
    assert landing.verdict in (NO, UNKNOWN)
    return landing.message.removeprefix("the scheduler rejects the replacement pod: ")


def job(**spec: Any) -> Object:
    return group("job", **{"phase": "Running", **spec})


QUEUES = ("gang", "predicates", "proportion")
CAPACITY = ("gang", "predicates", "capacity")


def test_resources_of_which_a_queue_has_enough_are_not_told() -> None:
    """2 CPU are wanted of 2, and 3 GiB of 2."""
    limited = queue("q", capability={"cpu": "2", "memory": "2Gi"})
    other = [group("other", queue="q", phase="Running"), *pods("other", 1, on="a", memory="2Gi")]

    found = refused(limited, job(queue="q"), other, plugins=CAPACITY)

    assert found == "queue q has no room for the pod (plugin capacity in tier 1; 3Gi memory of 2Gi)"


def test_queue_that_holds_all_that_it_deserves_is_told_with_what_that_is() -> None:
    """In every resource, pods among them: 2 of 4 pods, CPU and GiB."""
    small = {"cpu": "4", "memory": "4Gi", "pods": "4"}
    waiting = [group("waits", queue="rest"), *pods("waits", 9)]
    full = [group("full", phase="Running"), *pods("full", 3, on="a")]
    old: Any = {**node("old", cpu="0", memory="0", pods="0"), "spec": {"unschedulable": True}}
    victim = owned(pods("job", 1, on="old"))
    tiers = [{"plugins": [plugin(name) for name in QUEUES]}]
    prover, pod = prover_of(
        old,
        node("a", **small),
        queue("rest"),
        job(),
        full,
        waiting,
        victim,
        configuration={"actions": "enqueue, allocate", "tiers": tiers},
    )

    message = prover.consider(pod["job-0"]).message

    assert "queue default holds all that it deserves (plugin proportion in tier 1; 4 CPU of 2" in message


@pytest.mark.parametrize(
    ("plugins", "who"),
    [
        (("gang", "predicates", "overcommit"), "plugin overcommit in tier 1"),
        (("predicates", "capacity"), "plugin capacity in tier 1"),
    ],
)
def test_job_that_is_not_admitted_names_the_plugin_that_votes_against_it(plugins: Any, who: str) -> None:
    """Its only task leaves, so that it has to be admitted again."""
    found = refused(queue("q", capability={"cpu": "20"}), job(queue="q", minResources={"cpu": "25"}), plugins=plugins)

    assert found.startswith(f"job batch/job is not admitted to queue q ({who}: minResources do not fit")


def test_capability_that_least_resources_exceed_is_told() -> None:
    found = refused(
        queue("q", capability={"cpu": "5"}),
        job(queue="q", minResources={"cpu": "6", "memory": "1Gi"}),
        plugins=CAPACITY,
    )

    assert found.endswith("minResources do not fit; 6 CPU of 5)")


@pytest.mark.parametrize(
    ("actions", "cpu", "message"),
    [
        pytest.param("enqueue, backfill", "1", "action allocate is not configured", id="requests"),
        pytest.param("enqueue, allocate", "", "action backfill is not configured", id="none"),
    ],
)
def test_action_that_would_place_the_pod_has_to_be_configured(actions: str, cpu: str, message: str) -> None:
    assert (
        refused(job(), plugins=("gang", "predicates"), actions=actions, cpu=cpu, memory="" if not cpu else "1Gi")
        == message
    )


def test_guarantees_beyond_the_cluster_end_the_scheduler() -> None:
    found = refused(queue("kept", guarantee={"resource": {"cpu": "99"}}), job(), plugins=QUEUES)

    assert "Volcano ends: the guarantees of queues are more than the cluster has left for them" in found


def test_nothing_is_known_where_no_podgroups_were_read() -> None:
    assert "no PodGroups of Volcano were read" in refused(plugins=QUEUES)
