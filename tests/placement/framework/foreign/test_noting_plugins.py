"""Plugins of others may note on a pod what it was given, and have a say in which Reservation it uses."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import msgspec
import pytest

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import load_scheduler_configuration
from descheduler.placement.framework.attempt import put_on_node
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.framework.scheduling_plugin import annotations_read_by, shadow_cluster_of
from descheduler.placement.schedulers.koord_scheduler import KOORD_KUBE_VERSION, MANIFEST
from descheduler.placement.shadow.shadow_cluster import Placed
from tests.builders import Object, make_node, make_pod, make_snapshot
from tests.placement.framework.foreign import node_licenses
from tests.placement.framework.foreign.node_licenses import LICENSE, LICENSED, LICENSES
from tests.placement.framework.foreign.worlds import TABLE, configured
from tests.placement.plugins.reservation.worlds import koord_pod, nodes, reservation_object

_TABLE = {**TABLE, "NodeLicenses": node_licenses.ROW}


def licensed(name: str, *, node: str = "", number: str = "") -> Pod:
    """A pod that needs a license, or has one by the annotation of its scheduler."""
    pod = make_pod(name, cpu="1", node=node, owners=[f"ReplicaSet/{name}"])
    return msgspec.structs.replace(pod, annotations={LICENSED: "yes", **({LICENSE: number} if number else {})})


def scheduler_over(*pods: Pod) -> Scheduler:
    """A scheduler that runs the plugin over two nodes of 4 CPUs and two licenses."""
    both = [make_node(name, cpu="4", labels={LICENSES: "2"}) for name in "ab"]
    profile = configured(names=["NodeLicenses"], table=_TABLE).profiles[0]
    return Scheduler(shadow_cluster_of(make_snapshot(both, pods), _TABLE), profile, plugins=_TABLE)


def placed(scheduler: Scheduler, pod: Pod, node: int = 0) -> Placed:
    """`pod` on a node that takes it."""
    evaluation = scheduler.evaluate(pod)
    assert evaluation.feasible[node]
    return put_on_node(evaluation, node).placed


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
