"""A session that keeps in step with the cluster: when it opens a new cycle, whom it tries with whom, whom it evicts."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.placement.shadow.shadow_cluster import Company
from descheduler.placement.volcano.scheduler import VolcanoScheduler
from tests.placement.volcano.worlds import (
    Object,
    group,
    node,
    plugin,
    pod_of,
    pods,
    priority_class,
    queue,
    scheduler_over,
)

GPU_MEMORY = "volcano.sh/gpu-memory"
WHOLE_GANGS = (("gang",),)
CARDS = plugin("deviceshare", arguments={"deviceshare.GPUSharingEnable": True})
ROOM = plugin("overcommit", arguments={"overcommit-factor": 1})


def with_card(made: list[Object], *, has_it: bool = False) -> list[Object]:
    """These pods with the memory of a whole card, which they have already or ask for."""
    (pod,) = made
    pod["spec"]["containers"][0]["resources"]["limits"] = {GPU_MEMORY: "16"}
    pod["metadata"]["annotations"] |= {"volcano.sh/gpu-index": "0"} if has_it else {}
    return [pod]


def refusals(scheduler: VolcanoScheduler, name: str) -> list[str]:
    """Why no node takes this pod now, whatever is there."""
    found = scheduler.evaluate(pod_of(scheduler, name)).refusals
    return [reason for obstacle in found for reason in obstacle.reasons]


@pytest.mark.parametrize("plugins", [("gang", CARDS), (CARDS,)], ids=["beside others", "alone"])
def test_cards_of_a_pod_without_a_job_are_free_once_it_is_gone(plugins: Any) -> None:
    """Also where no job waits for its admission."""
    cards = {GPU_MEMORY: "16", "volcano.sh/gpu-number": "1"}
    stranger = with_card(pods("stranger", 1, on="a"), has_it=True)
    asking = with_card(pods("job", 1))
    scheduler = scheduler_over(node("a", **cards), group("job"), stranger, asking, tiers=[plugins])
    asked = pod_of(scheduler, "job-0")
    before = scheduler.evaluate(asked).fits

    scheduler.cluster.remove(pod_of(scheduler, "stranger-0"))

    assert (before, scheduler.evaluate(asked).fits) == (False, True)


def test_job_is_admitted_to_the_room_that_a_pod_without_a_job_leaves() -> None:
    job = [group("job", phase="Pending", minResources={"cpu": "8"}), *pods("job", 1)]
    scheduler = scheduler_over(node("a"), pods("stranger", 1, on="a", cpu="3"), job, tiers=[["gang", ROOM]])
    before = refusals(scheduler, "job-0")

    scheduler.cluster.remove(pod_of(scheduler, "stranger-0"))

    assert "job batch/job is not admitted to queue default" in "".join(before)
    assert refusals(scheduler, "job-0") == []


@pytest.mark.parametrize(
    ("least", "is_held", "fault"),
    [
        pytest.param(3, False, [], id="enough of them"),
        pytest.param(4, False, ["job batch/job has 3 of 4 tasks that it needs (NotEnoughTasks)"], id="one too few"),
        pytest.param(3, True, [], id="enough with the one that has a node"),
        pytest.param(
            4, True, ["job batch/job has 3 of 4 tasks that it needs (NotEnoughTasks)"], id="one that has a node is one"
        ),
    ],
)
def test_each_pod_that_is_tried_with_others_counts_once(least: int, is_held: bool, fault: list[str]) -> None:
    """They come when the pods of the cluster are gone, so that the cluster has none of them."""
    others = scheduler_over(node("a"), group("job"), pods("job", 3))
    coming = [pod_of(others, f"job-{number}") for number in range(3)]
    scheduler = scheduler_over(node("a"), group("job", least=least))
    if is_held:
        scheduler.cluster.add(coming[1], 0)
    company = Company(tuple(coming), held=coming[1:2] if is_held else [])

    found = scheduler.evaluate(coming[0], company).refusals

    assert [reason for obstacle in found for reason in obstacle.reasons] == fault


WAITING = [group("waits", phase="Pending", minResources={"cpu": "99"}), *pods("waits", 1)]


@pytest.mark.parametrize(
    ("least", "running", "more", "is_helped"),
    [
        pytest.param(1, 0, [], False, id="it is enough alone"),
        pytest.param(2, 0, [], True, id="it needs another one"),
        pytest.param(2, 1, [], False, id="it completes those that run"),
        pytest.param(3, 1, [], True, id="it needs another one beside those that run"),
        pytest.param(2, 2, [], False, id="enough run"),
        pytest.param(2, 1, WAITING, True, id="another job waits for its admission"),
        pytest.param(2, 2, WAITING, False, id="enough run and another job waits"),
        pytest.param(2, 1, WAITING[:1], False, id="a job without pods waits"),
        pytest.param(2, 1, [group("other"), *pods("other", 1)], False, id="all other jobs are admitted"),
    ],
)
def test_pods_of_a_job_that_is_bound_with_others_may_be_helped(
    least: int, running: int, more: list[Object], is_helped: bool
) -> None:
    made = [*pods("job", running, on="a"), *pods("job", 1, role="next")]
    scheduler = scheduler_over(node("a"), group("job", least=least), made, more, tiers=[["gang", ROOM]])
    scheduler.opened()

    assert scheduler.can_be_helped(pod_of(scheduler, "jobnext-0")) is is_helped


@pytest.mark.parametrize(
    ("least", "roles", "hinders"),
    [
        pytest.param(1, {}, False, id="one more than it needs"),
        pytest.param(2, {}, True, id="no more than it needs"),
        pytest.param(1, {"": 1}, True, id="it needs some of a role"),
    ],
)
def test_pod_that_ends_counts_for_its_job_unless_that_has_one_to_spare(
    least: int, roles: dict[str, int], hinders: bool
) -> None:
    job = group("job", least=least, phase="Running", minTaskMember=roles)
    scheduler = scheduler_over(node("a"), job, pods("job", 2, on="a"), tiers=WHOLE_GANGS)
    ending, other = pod_of(scheduler, "job-0"), pod_of(scheduler, "job-1")

    assert scheduler.hinders_while_ending(ending, other) is hinders


@pytest.mark.parametrize(("guaranteed", "is_evicted"), [("0", True), ("8", False)])
def test_nobody_is_evicted_by_a_scheduler_that_ends(guaranteed: str, is_evicted: bool) -> None:
    """8 CPU of 10 are guaranteed to a queue, and each of the two others would be given the other 2."""
    kept = [queue("kept", guarantee={"resource": {"cpu": guaranteed}}), group("kept", queue="kept")]
    other = [queue("other"), group("other", queue="other", phase="Running"), *pods("other", 8, on="a")]
    low = [group("low", phase="Running"), *pods("low", 2, on="a")]
    high = [priority_class("high", 9), group("job", priorityClassName="high"), *pods("job", 1)]
    tiers = [["priority"], ["predicates", "proportion"]]
    scheduler = scheduler_over(node("a"), kept, other, low, high, tiers=tiers, actions="allocate, preempt")

    evicted = scheduler.evicted_for(scheduler.evaluate(pod_of(scheduler, "job-0")))

    assert (evicted is not None) is is_evicted


def test_nobody_is_evicted_for_a_pod_without_a_job() -> None:
    low = [group("low", phase="Running"), *pods("low", 10, on="a")]
    scheduler = scheduler_over(node("a"), low, pods("gone", 1), actions="allocate, preempt")

    assert scheduler.evicted_for(scheduler.evaluate(pod_of(scheduler, "gone-0"))) is None
