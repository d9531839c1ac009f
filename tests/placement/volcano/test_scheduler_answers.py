"""What Volcano's scheduler says of pods and nodes: words of refusals, scores, doubts and its order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from descheduler.placement.framework.obstacle import Code, Shortage
from descheduler.placement.framework.scheduler_model import DoubtOf, Unit
from descheduler.placement.framework.scheduling_plugin import Compares
from descheduler.placement.needs import landing_annotations
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.placement.volcano.scheduler import VolcanoScheduler
from tests.placement.volcano.worlds import (
    Object,
    group,
    node,
    owned,
    pod_of,
    pods,
    priority_class,
    queue,
    scheduler_over,
    snapshot_of,
)

GPU = "nvidia.com/gpu"


def asking(cpu: str, **more: str) -> list[Object]:
    """The pod of a job, pending."""
    made = pods("job", 1, cpu=cpu)
    made[0]["spec"]["containers"][0]["resources"]["requests"] |= more
    return made


def test_node_lacks_what_it_has_too_little_of() -> None:
    """Each resource with what is asked for, what is free and what there is."""
    used = pods("used", 1, on="b", cpu="3")
    scheduler = scheduler_over(
        [node("a", **{GPU: "4"}), node("b", cpu="4", **{GPU: "1"})],
        [group("job"), group("used"), *used, *asking("2", **{GPU: "2"})],
    )

    found = scheduler.evaluate(pod_of(scheduler, "job-0"))

    assert found.feasible.tolist() == [True, False]
    (obstacle,) = found.obstacles_on(1)
    assert (obstacle.plugin, obstacle.code) == ("allocate", Code.UNSCHEDULABLE)
    assert obstacle.facts == (Shortage("cpu", 2000, 1000, 4000), Shortage(GPU, 2, 1, 1))
    assert scheduler.origin_of("allocate") == ""


@pytest.mark.parametrize(("cpu", "fits"), [("1", True), ("1001m", False)])
def test_pod_fits_into_what_is_idle(cpu: str, fits: bool) -> None:
    used = pods("used", 1, on="a", cpu="9")
    scheduler = scheduler_over(node("a"), group("job"), group("used"), used, asking(cpu))

    assert scheduler.evaluate(pod_of(scheduler, "job-0")).fits is fits


def test_filters_of_kube_scheduler_have_their_own_words_and_the_tier_that_runs_them() -> None:
    closed: Any = {**node("b"), "spec": {"unschedulable": True}}
    scheduler = scheduler_over(node("a"), closed, group("job"), asking("1"))

    found = scheduler.evaluate(pod_of(scheduler, "job-0"))

    assert found.feasible.tolist() == [True, False]
    assert found.first_obstacle_on(1).reasons == ("node(s) were unschedulable",)
    assert scheduler.origin_of(found.first_obstacle_on(1).plugin) == "plugin predicates in tier 2"
    assert scheduler.lasting_bits(found.first_obstacle_on(1).plugin) != 0
    assert scheduler.lasting_bits("allocate") == 0
    assert found.open_for_good().tolist() == [True, False]


def test_node_that_is_not_ready_is_left_out() -> None:
    broken: Any = node("b")
    broken["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    scheduler = scheduler_over(node("a"), broken, group("job"), asking("1"))

    found = scheduler.evaluate(pod_of(scheduler, "job-0"))

    assert found.feasible.tolist() == [True, False]
    assert "node(s) were not ready" in {reason for each in found.obstacles_on(1) for reason in each.reasons}


def test_plugins_of_volcano_refuse_nodes_under_their_own_names() -> None:
    labelled: Any = node("b")
    labelled["metadata"]["labels"] = {"volcano.sh/nodegroup-name": "slow"}
    affinity = {"nodeGroupAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ["fast"]}}
    asked = asking("1")
    asked[0]["metadata"]["labels"] = {"volcano.sh/queue-name": "research"}
    scheduler = scheduler_over(
        labelled,
        queue("research", affinity=affinity),
        group("job", queue="research"),
        asked,
        tiers=[["gang", "nodegroup"]],
    )

    found = scheduler.evaluate(pod_of(scheduler, "job-0"))

    assert not found.fits
    assert found.first_obstacle_on(0).reasons == ("plugin nodegroup of Volcano refuses the node",)
    assert scheduler.origin_of("nodegroup") == "plugin nodegroup in tier 1"
    assert [scheduler.runs(name) for name in ("nodegroup", "gang", "predicates")] == [True, True, False]


def test_node_of_the_best_score_is_chosen_with_its_lead() -> None:
    """Emptier nodes score higher; the lead is rounded up."""
    nodes = [node("a"), node("b"), node("c", cpu="5")]
    scheduler = scheduler_over(nodes, group("job"), asking("1"))
    found = scheduler.evaluate(pod_of(scheduler, "job-0"))

    choice, scores = found.choose(), scheduler.scores(found)

    assert choice is not None
    assert (choice.node, choice.ties, choice.is_sampled) == (0, (0, 1), False)
    assert scores.totals[0] == scores.totals[1] > scores.totals[2]
    assert choice.total == scores.totals[0]
    assert choice.margin is not None
    assert 0 <= choice.margin - (scores.totals[0] - scores.totals[2]) <= 1


def test_nodes_that_are_all_as_good_have_no_lead() -> None:
    scheduler = scheduler_over([node("a"), node("b")], group("job"), asking("1"))

    choice = scheduler.evaluate(pod_of(scheduler, "job-0")).choose()

    assert choice is not None
    assert (choice.ties, choice.margin) == ((0, 1), None)
    large = scheduler_over(node("a"), group("job"), asking("11"))
    assert large.evaluate(pod_of(large, "job-0")).choose() is None


@pytest.mark.parametrize(
    ("compared", "expected"), [((), [True, False, False]), ((Compares.REQUESTS,), [True, True, False])]
)
def test_nodes_that_would_take_a_pod_had_they_enough(compared: tuple[Compares, ...], expected: list[bool]) -> None:
    closed: Any = {**node("c"), "spec": {"unschedulable": True}}
    scheduler = scheduler_over(node("a"), node("b", cpu="1"), closed, group("job"), asking("2"))
    evaluation = scheduler.evaluate(pod_of(scheduler, "job-0"))

    found = scheduler.open_but_for(evaluation, frozenset(compared))

    assert found is not None
    assert found.tolist() == expected
    assert scheduler.openable(evaluation).tolist() == [True, False, False]


def test_no_room_helps_a_pod_whose_group_does_not_exist() -> None:
    """Nodes may be open to it once it is refused no more."""
    scheduler = scheduler_over(node("a"), group("other"), asking("1"))
    evaluation = scheduler.evaluate(pod_of(scheduler, "job-0"))

    assert scheduler.open_but_for(evaluation, frozenset(Compares)) is None
    assert scheduler.openable(evaluation).tolist() == [True]


@pytest.mark.parametrize(
    ("spec", "doubt"),
    [
        pytest.param({}, "", id="a plain pod"),
        pytest.param(
            {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "v"}}]},
            "how Volcano binds volumes is not modelled",
            id="a volume",
        ),
        pytest.param(
            {"volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]},
            "how Volcano binds volumes is not modelled",
            id="an ephemeral volume",
        ),
        pytest.param(
            {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]},
            "how Volcano allocates resource claims is not modelled",
            id="a claim",
        ),
    ],
)
def test_what_is_not_modelled_of_a_pod_is_told(spec: Object, doubt: str) -> None:
    scheduler = scheduler_over(node("a"), group("job"), pods("job", 1, spec=spec))
    pod = pod_of(scheduler, "job-0")

    assert scheduler.doubt(pod) == doubt
    assert scheduler.doubt(pod, DoubtOf.CHOICE) == scheduler.doubt(pod, DoubtOf.PREEMPTION) == ""
    order = "Volcano orders queues and jobs by what they hold at that moment"
    assert scheduler.doubt(pod, DoubtOf.ORDER) == order


def test_configuration_that_is_assumed_is_told() -> None:
    cluster = ShadowCluster(snapshot_of(node("a")), reads_annotations=landing_annotations())
    assumed = VolcanoScheduler(cluster, default_configuration())

    assert [sentence.partition(";")[0] for sentence in assumed.assumed()] == [
        "the pods of scheduler volcano are checked by the default configuration of Volcano",
        "the pods of scheduler volcano are checked as Volcano 1.10 schedules them",
    ]
    assert len(scheduler_over(node("a")).assumed()) == 1


def default_configuration() -> Any:
    from descheduler.placement.configuration.volcano import default_volcano_configuration
    from descheduler.placement.volcano.plugins.table import VOLCANO_PLUGINS

    return default_volcano_configuration(VOLCANO_PLUGINS)


def ordered(*objects: Any, names: str, **facts: Any) -> str:
    """Pods of jobs of one letter as they are tried."""
    scheduler = scheduler_over(node("a"), *objects, **facts)
    units = [Unit((pod_of(scheduler, f"{name}-0"),)) for name in names]
    found = scheduler.order(units)
    assert scheduler.next_of(units) is found[0]
    return "".join(unit.pods[0].name[0] for unit in found)


def test_jobs_are_tried_by_the_order_of_their_queues_and_then_their_own() -> None:
    queues = [queue("first", priority=9), queue("second", priority=1)]
    classes = [priority_class("high", 5), priority_class("low", 1)]
    jobs = [
        group("a", queue="second", priorityClassName="high"),
        group("b", queue="first", priorityClassName="low"),
        group("c", queue="first", priorityClassName="high"),
    ]
    made = [*queues, *classes, *jobs, *(pod for name in "abc" for pod in pods(name, 1))]

    assert ordered(*made, names="abc", tiers=[["priority", "gang"], ["predicates", "proportion"]]) == "cba"


def test_pod_without_a_group_is_tried_last() -> None:
    assert ordered(group("b"), pods("a", 1), pods("b", 1), names="ab") == "ba"


def test_pods_of_one_job_are_tried_by_priority() -> None:
    made = pods("job", 2)
    made[1]["spec"]["priority"] = 5
    scheduler = scheduler_over(node("a"), group("job"), made)
    units = [Unit((pod_of(scheduler, f"job-{number}"),)) for number in range(2)]

    assert [unit.pods[0].name for unit in scheduler.order(units)] == ["job-1", "job-0"]


@pytest.mark.parametrize(
    ("least", "roles", "is_unit"),
    [(1, {}, False), (2, {}, True), (1, {"worker": 1}, False), (1, {"worker": 2}, True), (0, {}, False)],
)
def test_pods_of_a_job_that_needs_several_are_placed_together(least: int, roles: dict[str, int], is_unit: bool) -> None:
    scheduler = scheduler_over(node("a"), group("job", least=least, minTaskMember=roles), pods("job", 2))

    assert scheduler.unit_of(pod_of(scheduler, "job-0")) == ("batch/job" if is_unit else "")


@pytest.mark.parametrize(
    ("number", "least", "reasons"),
    [
        pytest.param(2, 2, (), id="enough of them"),
        pytest.param(2, 3, ("gang batch/job has 2 of 3 tasks that it needs (minMember)",), id="one too few"),
    ],
)
def test_gang_waits_for_the_tasks_that_it_lacks(number: int, least: int, reasons: tuple[str, ...]) -> None:
    scheduler = scheduler_over(node("a"), group("job", least=least), pods("job", number))
    waiting = [pod_of(scheduler, f"job-{place}") for place in range(number)]

    assert tuple(reason for each in scheduler.held_back(waiting) for reason in each.reasons) == reasons


def test_pod_that_is_tried_alone_waits_for_others_of_its_gang() -> None:
    """One that completes a running gang waits for none."""
    waits = scheduler_over(node("a"), group("job", least=2), pods("job", 2))
    completes = scheduler_over(
        node("a"), group("job", least=2, phase="Running"), owned(pods("job", 1, on="a")), pods("job", 1, role="w")
    )

    found = waits.evaluate(pod_of(waits, "job-0"))
    done = completes.evaluate(pod_of(completes, "jobw-0"))

    assert found.conditions(0) == (
        "gang batch/job has 1 of 2 tasks that it needs (minMember): others have to find nodes",
    )
    assert done.conditions(0) == ()


def test_role_that_lacks_tasks_is_named() -> None:
    scheduler = scheduler_over(
        node("a"), group("job", least=2, minTaskMember={"ps": 1, "worker": 1}), pods("job", 2, role="worker")
    )
    waiting = [pod_of(scheduler, f"jobworker-{place}") for place in range(2)]

    (obstacle,) = scheduler.held_back(waiting)

    assert obstacle.reasons == ("gang batch/job has 0 of 1 tasks ps that it needs (minTaskMember)",)


@pytest.mark.parametrize(
    ("objects", "cpu", "message"),
    [
        pytest.param([group("other"), queue("q")], "1", "PodGroup batch/job does not exist", id="no group"),
        pytest.param(
            [group("job", queue="gone")], "1", "queue gone of PodGroup batch/job does not exist", id="no queue"
        ),
        pytest.param(
            [group("job", least=2)], "1", "job batch/job has 1 of 2 tasks that it needs (NotEnoughTasks)", id="too few"
        ),
        pytest.param([group("job")], "", "", id="one that asks for nothing is backfilled"),
    ],
)
def test_cycle_looks_at_no_node_for_a_pod_whose_job_is_not_tried(objects: Any, cpu: str, message: str) -> None:
    scheduler = scheduler_over(node("a"), objects, pods("job", 1, cpu=cpu, memory="" if not cpu else "1Gi"))

    refusals = scheduler.evaluate(pod_of(scheduler, "job-0")).refusals

    assert [reason for each in refusals for reason in each.reasons] == ([message] if message else [])


def test_pending_pod_that_asks_for_what_no_node_has_fits_nowhere() -> None:
    scheduler = scheduler_over(node("a"), group("job"), asking("1", **{"example.com/foo": "1"}))

    found = scheduler.evaluate(pod_of(scheduler, "job-0"))

    assert np.count_nonzero(found.feasible) == 0
    assert found.first_obstacle_on(0).reasons == ("Insufficient example.com/foo",)
