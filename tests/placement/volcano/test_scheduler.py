"""Landings of pods that Volcano places: by their queue, their gang and the room of nodes."""

from __future__ import annotations

import pytest

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.model.pod import Pod
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.needs import landing_annotations
from descheduler.placement.prover import LandingProver
from descheduler.placement.volcano.jobs import Task
from descheduler.placement.volcano.live_session import LiveSession
from tests.placement.volcano.worlds import (
    Object,
    group,
    node,
    owned,
    plugin,
    pods,
    priority_class,
    prover_of,
    queue,
    scheduling,
)

NODES = [node("a", cpu="4"), node("b", cpu="4")]
LANDS, LANDS_IF, LIKELY, NO, UNKNOWN = (
    LandingVerdict(each) for each in ("lands", "lands_if", "likely", "no", "unknown")
)


def test_the_replacement_of_a_running_task_lands_where_volcano_scores_highest() -> None:
    prover, pod = prover_of(NODES, group("job", least=2, phase="Running"), owned(pods("job", 3, on="a")))

    landing = prover.consider(pod["job-0"])

    assert (landing.verdict, landing.node, landing.ties) == (LANDS, "b", ("b",))


def test_a_question_leaves_no_trace() -> None:
    prover, pod = prover_of(NODES, group("job", least=2, phase="Running"), owned(pods("job", 3, on="a")))
    prover.consider(pod["job-0"])
    digest = prover.cluster.digest()

    prover.consider(pod["job-1"])
    prover.prove([pod["job-0"], pod["job-1"]])

    assert prover.cluster.digest() == digest


def test_a_task_of_a_queue_over_its_share_never_comes_back() -> None:
    prover, pod = prover_of(
        NODES,
        queue("other"),
        group("job", phase="Running"),
        owned(pods("job", 6, on="a")),
        group("waiting", queue="other"),
        pods("waiting", 8),
    )

    landing = prover.consider(pod["job-0"])

    assert (landing.verdict, landing.message) == (
        NO,
        "the scheduler rejects the replacement pod: queue default has no room for the pod"
        " (plugin proportion in tier 2; 6 CPU of 4)",
    )


_NOT_ADMITTED = "job batch/job is not admitted to queue default (plugin proportion in tier 2: minResources do not fit"


def _large(*, least: int, of: int) -> list[Object]:
    """A running job whose least resources are more than what may be promised once it runs."""
    gang = group("job", least=least, phase="Running", minResources={"cpu": "9"})
    return [*NODES, gang, *owned(pods("job", of, on="a"))]


def test_a_job_below_its_minimum_stays_admitted_while_some_of_its_tasks_run() -> None:
    """Its phase is `Unknown` then, which is not `Pending` (volcano.md 3.1)."""
    prover, pod = prover_of(_large(least=3, of=3))

    landing = prover.consider(pod["job-0"])

    assert (landing.verdict, landing.node) == (LANDS, "b")


def test_a_job_of_which_no_task_runs_has_to_be_admitted_again() -> None:
    prover, pod = prover_of(_large(least=1, of=1))

    landing = prover.consider(pod["job-0"])

    assert landing.verdict is NO
    assert landing.message == f"the scheduler rejects the replacement pod: {_NOT_ADMITTED}; 9 CPU of 8)"


def test_a_job_that_leaves_whole_has_to_be_admitted_again() -> None:
    prover, pod = prover_of(_large(least=3, of=3))

    verdict = prover.prove_further([pod[f"job-{number}"] for number in range(3)], are_mates=True)

    assert verdict.verdict is NO
    assert [_NOT_ADMITTED in landing.message for landing in verdict.landings] == [True, True, True]


def test_a_job_below_its_minimum_has_to_be_admitted_again_where_no_plugin_minds_gangs() -> None:
    plugins = [plugin(name) for name in ("overcommit", "predicates")]
    configuration = {"actions": "enqueue, allocate", "tiers": [{"plugins": plugins}]}
    prover, pod = prover_of(_large(least=3, of=3), configuration=configuration)

    landing = prover.consider(pod["job-0"])

    assert landing.verdict is NO
    assert "is not admitted to queue default (plugin overcommit in tier 1" in landing.message


@pytest.mark.parametrize(
    ("number", "waiting"),
    [
        pytest.param(7, ["gang-0", "gang-1", "gang-2", "gang-3", "gang-4", "gang-5", "gang-6"], id="too few have room"),
        pytest.param(6, [], id="all have room"),
    ],
)
def test_a_pending_gang_gets_nodes_whole_or_not_at_all(number: int, waiting: list[str]) -> None:
    prover, _ = prover_of(
        NODES, group("job", phase="Running"), pods("job", 2, on="a"), group("gang", least=number), pods("gang", number)
    )

    assert [pod.name for pod in prover.still_pending()] == waiting


def test_a_pod_whose_podgroup_is_missing_is_refused() -> None:
    prover, pod = prover_of(NODES, group("other"), owned(pods("gone", 1, on="a")))

    landing = prover.consider(pod["gone-0"])

    assert landing.verdict is NO
    assert landing.message == "the scheduler rejects the replacement pod: PodGroup batch/gone does not exist"


def test_a_pod_with_scheduling_gates_is_not_scheduled() -> None:
    gated = owned(pods("job", 1, on="a", spec={"schedulingGates": [{"name": "example.com/wait"}]}))
    prover, pod = prover_of([*NODES, group("job", phase="Running"), *gated])

    landing = prover.consider(pod["job-0"])

    assert landing.verdict is NO
    assert landing.message == (
        "the scheduler rejects the replacement pod: waiting for scheduling gates: [example.com/wait]"
    )


def test_plugins_that_are_not_modelled_make_the_landing_likely() -> None:
    configuration = {
        "actions": "enqueue, allocate",
        "tiers": [{"plugins": [{"name": name} for name in ("gang", "predicates", "numaaware", "usage")]}],
    }
    world: list[Object] = [*NODES, group("job", phase="Running"), *owned(pods("job", 1, on="a"))]
    prover, pod = prover_of(world, configuration=configuration)

    landing = prover.consider(pod["job-0"])

    assert (landing.verdict, landing.cause) == (LIKELY, "parts of Volcano that are not modelled: numaaware, usage")


def test_a_pending_job_goes_first_and_leaves_no_room() -> None:
    prover, pod = prover_of(
        [node("a", cpu="4")],
        group("job", phase="Running"),
        owned(pods("job", 4, on="a")),
        group("waiting"),
        pods("waiting", 1),
    )

    landing = prover.consider(pod["job-0"])

    assert landing.verdict is NO
    assert "queue default has no room for the pod (plugin proportion in tier 2; 5 CPU of 4)" in landing.message


def test_replacement_that_waits_for_a_pending_pod_is_on_no_node_when_others_are_looked_at() -> None:
    """Pod `early-0` may as well be on the node where the replacement would be if `late-0` were not there."""
    nodes = [{**node(name, cpu="1"), "metadata": {"name": name, "labels": {"name": name}}} for name in ("a", "b")]
    closed = {**node("old"), "spec": {"unschedulable": True}}
    urgent = group("urgent", phase="Running", priorityClassName="high")
    pending = [group("early"), *pods("early", 1), group("late"), *pods("late", 1)]
    only_on_b = pods("urgent", 1, on="old", spec={"nodeSelector": {"name": "b"}})
    document = {"actions": "allocate", "tiers": [{"plugins": [plugin("priority"), plugin("predicates")]}]}
    world = (closed, nodes, priority_class("high", 10), urgent, owned(only_on_b), pending)
    prover, pod = prover_of(*world, configuration=document)

    landing = prover.consider(pod["urgent-0"])

    assert (landing.verdict, landing.node) == (LANDS_IF, "b")
    assert landing.conditions == ("pending pod batch/late-0 may be scheduled there first",)
    assert [(end.nodes, sorted(node for _, node in end.others)) for end in prover.ends(pod["urgent-0"])] == [
        (("b", "b"), ["a", "b"])
    ]


def test_nothing_is_known_where_no_queues_were_read() -> None:
    objects = [*NODES, group("job", phase="Running"), *owned(pods("job", 1, on="a"))]
    snapshot = snapshot_from_objects(objects, SnapshotRequest(annotations=landing_annotations()))

    landing = LandingProver(snapshot, configuration=scheduling()).consider(snapshot.pods[0])

    assert (landing.verdict, landing.cause) == (UNKNOWN, "no queues of Volcano were read (volcano)")


@pytest.mark.parametrize(("switch", "verdict"), [(True, NO), (False, LANDS)], ids=["filters on", "filters off"])
def test_filters_that_are_switched_off_refuse_no_node(switch: bool, verdict: LandingVerdict) -> None:
    plugins = [{"name": "gang"}, {"name": "predicates", "enablePredicate": switch}]
    closed = {**node("b", cpu="4"), "spec": {"unschedulable": True}}
    world = [node("a", cpu="0"), closed, group("job", phase="Running"), *owned(pods("job", 1, on="a"))]
    prover, pod = prover_of(world, configuration={"actions": "enqueue, allocate", "tiers": [{"plugins": plugins}]})

    assert prover.consider(pod["job-0"]).verdict is verdict


def test_whole_gangs_are_proved_together() -> None:
    prover, pod = prover_of(NODES, group("job", least=3, phase="Running"), owned(pods("job", 3, on="a")))
    gang = [pod[f"job-{number}"] for number in range(3)]

    verdict = prover.prove_further(gang, are_mates=True)

    assert verdict.verdict in (LANDS, LANDS_IF)


def test_a_large_pending_gang_is_asked_about_pod_by_pod(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is worked out for one of its pods does not grow with the gang."""
    number, num_found, find = 40, 0, LiveSession._waiting

    def counted(self: LiveSession, pod: Pod) -> Task:
        nonlocal num_found
        num_found += 1
        return find(self, pod)

    monkeypatch.setattr(LiveSession, "_waiting", counted)
    gang = [group("gang", least=number), *pods("gang", number)]
    prover, _ = prover_of([node("a", cpu="20"), node("b", cpu="20")], gang)

    assert len(list(prover.pending_nodes())) == number
    assert num_found < 4 * number
