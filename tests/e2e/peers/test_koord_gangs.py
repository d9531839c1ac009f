"""Groups of gangs of mixed match policies on the live koord-scheduler: what the table says that was measured.

What goes by the order of creation went the other way in 1 of 90 worlds on a machine under load.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

from descheduler.model.koordinator.gang_settings import POD_GROUP_LABEL
from tests.e2e.binaries import Binaries
from tests.e2e.control_plane import STORE, ControlPlane, running
from tests.e2e.kube_api import Object
from tests.e2e.objects import namespace, node, pod
from tests.e2e.peers.koordinator import SCHEDULER, install_koordinator, start_scheduler
from tests.placement.plugins.coscheduling.mixed_groups import MixedGroup, measured

_DOMAIN = "gang.scheduling.koordinator.sh/"
_QUIET_SECONDS = 14
"""For which nothing has changed; longer than the gangs wait at Permit."""


def test_replacements_in_mixed_groups_are_bound_as_the_table_says(peer_binaries: Binaries, data_folder: Path) -> None:
    worlds = {f"w{index}": world for index, world in enumerate(measured())}
    with running(data_folder, peer_binaries, parts=STORE) as plane:
        _start(plane, worlds)
        names = dict.fromkeys(worlds, ("a-0", "a-1", "b-0"))
        for name in worlds:
            _create(plane, name, names[name])
        assert _settled(plane, worlds) == {name: set(pods) for name, pods in names.items()}

        for name, world in worlds.items():
            if world.is_short:
                _delete(plane, name, ["a-1"])
        _settled(plane, worlds)
        come = {name: [f"{gone[0]}-{index + 5}" for index, gone in enumerate(w.replaced)] for name, w in worlds.items()}
        for name, world in worlds.items():
            _delete(plane, name, world.replaced)
            _create(plane, name, come[name])
        bound = _settled(plane, worlds)

    certain = {name: world for name, world in worlds.items() if not world.goes_by_order}
    found = {world.name: len(bound[name] & set(come[name])) for name, world in certain.items()}
    assert found == {world.name: world.is_bound * len(world.replaced) for world in certain.values()}


def _start(plane: ControlPlane, worlds: dict[str, MixedGroup]) -> None:
    install_koordinator(plane)
    made = node("n", cpu="64", memory="256Gi", pods=500)
    made["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    plane.api.patch(plane.api.create(made), {"spec": {"taints": None}})
    for name, world in worlds.items():
        plane.api.create(namespace(name))
        plane.api.create(_pod_group(name, "a", 2, world.first))
        plane.api.create(_pod_group(name, "b", 1, world.second))
    start_scheduler(plane)


def _pod_group(where: str, name: str, minimum: int, policy: str) -> Object:
    groups = json.dumps([f"{where}/a", f"{where}/b"])
    annotations = {f"{_DOMAIN}match-policy": policy, f"{_DOMAIN}groups": groups}
    return {
        "apiVersion": "scheduling.sigs.k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": where, "annotations": annotations},
        "spec": {"minMember": minimum, "scheduleTimeoutSeconds": 6},
    }


def _create(plane: ControlPlane, where: str, names: list[str] | tuple[str, ...]) -> None:
    for name in names:
        plane.api.create(pod(name, where, labels={POD_GROUP_LABEL: name[0]}, cpu="10m", schedulerName=SCHEDULER))


def _delete(plane: ControlPlane, where: str, names: list[str] | tuple[str, ...]) -> None:
    for name in names:
        plane.api.delete(pod(name, where), grace_seconds=0)


def _settled(plane: ControlPlane, worlds: dict[str, MixedGroup]) -> dict[str, set[str]]:
    """The bound pods of each world, once that has not changed for a while."""
    latest, since = _bound(plane, worlds), time.monotonic()
    while time.monotonic() - since < _QUIET_SECONDS:
        time.sleep(1)
        now = _bound(plane, worlds)
        if now != latest:
            latest, since = now, time.monotonic()
    return latest


def _bound(plane: ControlPlane, worlds: dict[str, MixedGroup]) -> dict[str, set[str]]:
    pods = {name: plane.api.pods(name) for name in worlds}
    return {
        name: {each["metadata"]["name"] for each in each_of if each["spec"].get("nodeName")}
        for name, each_of in pods.items()
    }
