"""Room on the node that the plan chose: there or nowhere, whichever node the scheduler would prefer."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from descheduler.migration.job.machine import JobTerms
from descheduler.migration.job.surge import Surge
from descheduler.migration.roads.adoption import adopted_task
from descheduler.migration.room.placement_away import keep_away, keep_on
from descheduler.migration.room.provider import CannotHold
from descheduler.model.koordinator.eviction_annotations import TARGET_NODE_ANNOTATION
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from tests.living.builders import LOWEST, deployment, living_cluster, node
from tests.living.cluster import LivingCluster
from tests.living.faults import FaultyWay, Killed
from tests.migration.roads.playing import Play
from tests.migration.roads.test_jobs import left_over, users_job

Object = dict[str, Any]
KOORD = "koord-scheduler"
PREFERRED, CHOSEN = "n2", "n3"
PROVIDERS = ("koordinator", "placeholder")
IMPATIENT = JobTerms(unplaced_patience=timedelta(seconds=60))


def world(*, taken: str = "") -> LivingCluster:
    """A pod on n1, room on the large n2, and on the small n3 but for what is `taken`."""
    nodes = [node("n1", taints=["gone=soon:NoSchedule"]), node(PREFERRED, cpu="16"), node(CHOSEN, cpu="2")]
    workloads = [deployment("web", 1, on=["n1"], scheduler=KOORD, cpu="1")]
    if taken:
        workloads.append(deployment("other", 1, on=[CHOSEN], cpu=taken))
    return living_cluster(nodes, workloads, [LOWEST])


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(("held_on", "node_name"), [("", PREFERRED), (CHOSEN, CHOSEN)])
def test_room_is_held_on_the_chosen_node_and_else_where_the_scheduler_prefers(
    provider: str, held_on: str, node_name: str
) -> None:
    cluster = world()
    play = Play(cluster, provider)

    play.evict(*cluster.pods("web"), held_on=held_on)

    assert [(job.held_on, job.node_name) for job in play.jobs()] == [(held_on, node_name)]


def test_the_replacement_uses_its_reservation_on_the_chosen_node() -> None:
    cluster = world()

    (outcome,) = Play(cluster).evict(*cluster.pods("web"), held_on=CHOSEN)

    assert (outcome.code, outcome.landed_on, cluster.nodes_of("web")) == (OutcomeCode.DONE, CHOSEN, [CHOSEN])


def test_the_second_pod_of_a_surge_comes_to_the_chosen_node() -> None:
    cluster = world()

    (outcome,) = Play(cluster, surge=Surge()).evict(*cluster.pods("web"), held_on=CHOSEN)

    assert cluster.api.sent("PATCH", "/scale")
    assert (outcome.code, cluster.nodes_of("web")) == (OutcomeCode.DONE, [CHOSEN])


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("held_on", "taken"),
    [
        pytest.param(CHOSEN, "1500m", id="the node has become too full"),
        pytest.param("n4", "", id="the node is gone"),
        pytest.param("n1", "", id="the node is that of the pod"),
    ],
)
def test_nothing_is_evicted_where_the_chosen_node_has_no_room(provider: str, held_on: str, taken: str) -> None:
    cluster = world(taken=taken)
    before = cluster.pods("web")

    (outcome,) = Play(cluster, provider, terms=IMPATIENT).evict(*before, held_on=held_on)

    assert (outcome.kind, outcome.code) == (OutcomeKind.REFUSED, OutcomeCode.NO_ROOM)
    assert outcome.message.startswith(f"no room on node {held_on}: ")
    assert not cluster.api.sent("POST", "/eviction")
    assert (cluster.pods("web"), left_over(cluster)) == (before, [])


@pytest.mark.parametrize("provider", PROVIDERS)
def test_nothing_is_evicted_where_no_node_can_be_called_so(provider: str) -> None:
    cluster = world()

    (outcome,) = Play(cluster, provider).evict(*cluster.pods("web"), held_on="n3/status")

    assert (outcome.code, cluster.nodes_of("web")) == (OutcomeCode.NO_ROOM, ["n1"])
    assert outcome.message.endswith("is not the name of a node: 'n3/status'")


@pytest.mark.parametrize("keeps_objects", [True, False], ids=["PodMigrationJob", "ConfigMap"])
def test_a_run_that_takes_the_job_up_awaits_the_replacement_on_the_same_node(keeps_objects: bool) -> None:
    cluster = world()
    first = killed_at(cluster, "/eviction", keeps_objects=keeps_objects)
    second = Play(cluster, keeps_objects=keeps_objects)
    with suppress(Killed):
        first.evict(*cluster.pods("web"), held_on=CHOSEN)

    second.take_up()

    (job,) = second.jobs()
    assert (job.phase, job.held_on, cluster.nodes_of("web")) == ("Succeeded", CHOSEN, [CHOSEN])


@pytest.mark.parametrize("last", ["/status", "/reservations"], ids=["before it asks for room", "once it has"])
def test_a_users_job_whose_run_was_killed_gets_its_room_on_the_same_node(last: str) -> None:
    cluster = world()
    job = users_job(cluster.pods("web")[0]["metadata"]["name"], ttl="5m")
    cluster.add({**job, "metadata": {"name": "by-hand", "annotations": {TARGET_NODE_ANNOTATION: CHOSEN}}})
    first, second = killed_at(cluster, last), Play(cluster)
    with suppress(Killed):
        first.run([adopted_task(each) for each in first.jobs()])

    second.run([adopted_task(each) for each in second.jobs()])

    assert [(each.phase, each.node_name) for each in second.jobs()] == [("Succeeded", CHOSEN)]


def killed_at(cluster: LivingCluster, ending: str, *, keeps_objects: bool = True) -> Play:
    """A run whose last call is the first one to write to a path that ends so."""
    way = FaultyWay(cluster.api)
    for method in ("POST", "PATCH"):
        way.before(method, ending, partial(setattr, way, "is_dead", True))
    return Play(cluster, keeps_objects=keeps_objects).through(way)


def test_a_pod_with_terms_of_its_own_can_go_to_the_node_by_each_of_them_alone() -> None:
    x, y = ({"matchExpressions": [{"key": key, "operator": "Exists"}]} for key in "xy")
    spec: Object = {"affinity": {"nodeAffinity": required(x, y)}}

    keep_away("n1", spec)
    keep_on("n3", spec)

    assert spec["affinity"]["nodeAffinity"] == required(*({**term, "matchFields": NAMES} for term in (x, y)))


def test_a_pod_without_terms_gets_one() -> None:
    spec: Object = {}

    keep_away("n1", spec)
    keep_on("n3", spec)

    assert spec == {"affinity": {"nodeAffinity": required({"matchFields": NAMES})}}


def test_no_chosen_node_changes_nothing() -> None:
    spec: Object = {"containers": []}

    keep_on("", spec)

    assert spec == {"containers": []}


def test_a_refused_name_is_shown_in_part_and_without_steering_a_terminal() -> None:
    with pytest.raises(CannotHold) as refused:
        keep_on("\x1b[2J" + "n" * 1000, {})

    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 200


NAMES = [
    {"key": "metadata.name", "operator": "NotIn", "values": ["n1"]},
    {"key": "metadata.name", "operator": "In", "values": ["n3"]},
]


def required(*terms: Object) -> Object:
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}
