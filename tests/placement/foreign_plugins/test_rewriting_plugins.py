"""Plugins of others may rewrite pods and nodes at the points at which Koordinator's framework extension lets them."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import msgspec
import numpy as np
import pytest

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import load_scheduler_configuration
from descheduler.placement.framework.feasibility import put_on_node
from descheduler.placement.framework.obstacle_counts import ObstacleCounts
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.framework.scheduling_plugin import annotations_read_by, shadow_cluster_of
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.prover import LandingProver
from descheduler.placement.schedulers.koord_scheduler import KOORD_KUBE_VERSION, MANIFEST
from descheduler.placement.shadow.shadow_cluster import Placed
from tests.builders import Object, make_node, make_pod, make_snapshot
from tests.placement.foreign_plugins import node_licenses
from tests.placement.foreign_plugins.node_licenses import LEGACY, LICENSE, LICENSED, LICENSES, RETIRED
from tests.placement.foreign_plugins.worlds import TABLE, configured
from tests.placement.plugins.reservation.worlds import koord_pod, nodes, reservation_object

_TABLE = {**TABLE, "NodeLicenses": node_licenses.ROW}


def licensed(name: str, *, cpu: str = "1", node: str = "", number: str = "", labels: Mapping[str, str] = {}) -> Pod:
    """A pod that needs a license, or has one by the annotation of its scheduler."""
    pod = make_pod(name, cpu=cpu, node=node, labels=dict(labels), owners=[f"ReplicaSet/{name}"])
    return msgspec.structs.replace(pod, annotations={LICENSED: "yes", **({LICENSE: number} if number else {})})


def scheduler_over(*pods: Pod, retired: bool = False) -> Scheduler:
    """A scheduler that runs the plugin over two nodes of 4 CPUs and two licenses, the second perhaps retired."""
    labels = [{LICENSES: "2"}, {LICENSES: "2", **({RETIRED: ""} if retired else {})}]
    both = [make_node(name, cpu="4", labels=each) for name, each in zip("ab", labels, strict=True)]
    profile = configured(names=["NodeLicenses"], table=_TABLE).profiles[0]
    return Scheduler(shadow_cluster_of(make_snapshot(both, pods), _TABLE), profile, plugins=_TABLE)


def placed(scheduler: Scheduler, pod: Pod, node: int = 0) -> Placed:
    """`pod` on a node that takes it."""
    evaluation = scheduler.evaluate(pod)
    assert evaluation.feasible[node]
    return put_on_node(evaluation, node).placed


def test_pod_is_taken_for_another_on_the_nodes_that_are_rewritten_alone() -> None:
    scheduler = scheduler_over(retired=True)

    evaluation = scheduler.evaluate(licensed("p"))

    assert evaluation.nodes.tolist() == [0]
    assert evaluation.first_obstacle_on(1).reasons == ("node(s) had a retired sidecar",)
    assert ObstacleCounts(evaluation).by_reason() == {"node(s) had a retired sidecar": 1}


def test_node_is_taken_for_another_by_its_filters_and_by_nobody_else() -> None:
    busy = make_pod("busy", cpu="4", node="b")
    scheduler = scheduler_over(busy, retired=True)
    before = scheduler.cluster.digest()

    legacy = scheduler.evaluate(licensed("p", labels={LEGACY: ""})).nodes.tolist()
    plain = scheduler.evaluate(make_pod("plain", cpu="1", node="")).nodes.tolist()

    assert (legacy, plain) == ([0, 1], [0])
    assert scheduler.cluster.digest() == before


def test_nothing_is_refused_for_good_where_nodes_may_be_rewritten() -> None:
    scheduler, pod = scheduler_over(), make_pod("p", node="", node_selector={"no": "such"})

    assert scheduler.evaluate(pod).nodes.tolist() == []
    assert scheduler.evaluate(pod).open_for_good().all()


def test_pod_takes_as_much_room_as_it_is_resized_to() -> None:
    scheduler, pod = scheduler_over(), licensed("p")
    before = scheduler.cluster.table.requested.copy()

    taken = placed(scheduler, pod)

    assert scheduler.cluster.table.requested[:, 0].tolist()[0] == 1500
    scheduler.cluster.take_off(taken)
    assert np.array_equal(scheduler.cluster.table.requested, before)


def test_resized_pods_fill_a_node_sooner_than_they_ask_for() -> None:
    nodes = [make_node("a", unschedulable=True), make_node("b", cpu="3", labels={LICENSES: "9"})]
    victims = [licensed(f"v{index}", node="a") for index in range(3)]
    prover = LandingProver(
        make_snapshot(nodes, victims), configuration=configured(names=["NodeLicenses"], table=_TABLE), plugins=_TABLE
    )

    verdicts = [prover.prove(victims[:number]).verdict for number in (2, 3)]

    assert verdicts == [LandingVerdict.LANDS, LandingVerdict.NO]


def test_what_a_pod_was_given_is_noted_on_it() -> None:
    scheduler = scheduler_over(licensed("running", node="a", number="0"))

    taken = placed(scheduler, licensed("p"))

    assert taken.patch == {LICENSE: "1"}
    assert taken.pod.annotations == {LICENSED: "yes", LICENSE: "1"}
    assert placed(scheduler, make_pod("plain", node="")).patch == {}


def test_cluster_that_is_read_again_has_what_was_noted() -> None:
    pods = [licensed(f"p{index}") for index in range(3)]
    scheduler = scheduler_over()
    taken = [placed(scheduler, pod, node) for pod, node in zip(pods, (0, 1, 0), strict=True)]
    names = scheduler.cluster.table.names
    bound = [msgspec.structs.replace(each.pod, node_name=names[each.node]) for each in taken]

    again = scheduler_over(*bound)

    full = [each.evaluate(licensed("further")).nodes.tolist() for each in (scheduler, again)]
    assert full == [[1], [1]]


def koord_world(*objects: Object) -> Scheduler:
    """koord-scheduler with the plugin, and with Reservation at Reserve."""
    document = copy.deepcopy(dict(MANIFEST))
    plugins = document["profiles"][0]["plugins"]
    plugins["reserve"]["enabled"] += [{"name": "Reservation"}, {"name": "NodeLicenses"}]
    for point in ("preFilter", "filter", "preBind"):
        plugins[point]["enabled"].append({"name": "NodeLicenses"})
    configuration = load_scheduler_configuration(document, version=KOORD_KUBE_VERSION, plugins=_TABLE)
    request = SnapshotRequest(keep_templates=True, annotations=annotations_read_by(_TABLE.values()))
    cluster = shadow_cluster_of(snapshot_from_objects(objects, request), _TABLE, KOORD_KUBE_VERSION)
    return Scheduler(cluster, configuration.profiles[0], plugins=_TABLE)


@pytest.mark.parametrize(
    ("asks", "used", "number"),
    [
        pytest.param({LICENSED: "yes"}, "high", "2", id="the highest number"),
        pytest.param({}, "full", None, id="no license, so that only room counts"),
    ],
)
def test_plugin_has_a_say_in_which_reservation_is_used(asks: Mapping[str, str], used: str, number: str | None) -> None:
    node, *_ = nodes(a="16")
    node["metadata"]["labels"][LICENSES] = "4"
    held = [
        reservation_object("low", node="a", cpu="4", annotations={LICENSE: "1"}),
        reservation_object("high", node="a", cpu="4", annotations={LICENSE: "2"}),
        reservation_object("full", node="a", cpu="1"),
    ]
    scheduler = koord_world(node, *held, koord_pod("p", cpu="1", annotations=dict(asks)))
    (pod,) = scheduler.cluster.snapshot.pods

    taken = placed(scheduler, pod)

    assert f'"name":"{used}"' in taken.patch["scheduling.koordinator.sh/reservation-allocated"]
    assert taken.patch.get(LICENSE) == number


def test_license_that_a_reservation_holds_is_for_its_owners() -> None:
    node, *_ = nodes(a="16")
    node["metadata"]["labels"][LICENSES] = "1"
    held = reservation_object("r", node="a", cpu="4", annotations={LICENSE: "0"})
    pods = [koord_pod(app, app=app, cpu="1", annotations={LICENSED: "yes"}) for app in ("web", "other")]
    scheduler = koord_world(node, held, *pods)

    found = {pod.name: scheduler.evaluate(pod).nodes.tolist() for pod in scheduler.cluster.snapshot.pods}

    assert found == {"web": [0], "other": []}
