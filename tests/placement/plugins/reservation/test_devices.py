"""Devices that Reservations hold (§6.9): who gets them, and which."""

from __future__ import annotations

import json

from descheduler.placement.framework.allocation import allocations_of
from tests.builders import Object, node_object
from tests.placement.plugins.reservation.worlds import World, koord_pod, reservation_object

_CORE, _RATIO = "koordinator.sh/gpu-core", "koordinator.sh/gpu-memory-ratio"


def gpu(percent: int) -> dict[str, str]:
    """So much of GPUs, 100 a card."""
    return {_CORE: str(percent), _RATIO: str(percent)}


def gpu_node(num_gpus: int) -> list[Object]:
    """Node a with so many cards, and its Device."""
    node = node_object("a", cpu="16", memory="64Gi")
    node["status"]["allocatable"] |= gpu(100 * num_gpus)
    cards = [
        {
            "type": "gpu",
            "minor": minor,
            "health": True,
            "id": f"GPU-{minor}",
            "resources": {**gpu(100), "koordinator.sh/gpu-memory": "80Gi"},
        }
        for minor in range(num_gpus)
    ]
    device = {
        "apiVersion": "scheduling.koordinator.sh/v1alpha1",
        "kind": "Device",
        "metadata": {"name": "a"},
        "spec": {"devices": cards},
    }
    return [node, device]


def allocated(**percents: int) -> dict[str, str]:
    """The annotation of who has so much of each card, by minor."""
    entries = [{"minor": int(minor[1:]), "resources": gpu(percent)} for minor, percent in percents.items()]
    return {"scheduling.koordinator.sh/device-allocated": json.dumps({"gpu": entries})}


def gpu_reservation(name: str, percent: int, devices: dict[str, str], **spec: object) -> Object:
    """A Reservation on node a that holds these devices."""
    return reservation_object(name, node="a", reserved={"cpu": "4", **gpu(percent)}, annotations=devices, **spec)  # type: ignore[arg-type]


def gpu_pod(name: str, percent: int, **facts: object) -> Object:
    """A pod that asks for so much of GPUs."""
    return koord_pod(name, requests={"cpu": "1", **gpu(percent)}, **facts)  # type: ignore[arg-type]


def minors(world: World, pod: str) -> tuple[str, list[str]]:
    """The Reservation that a pod uses, and the cards that it gets."""
    found = allocations_of(world.placed(pod).placed)
    used = "".join(each.name for each in found if each.kind == "reservation")
    return used, [each.name for each in found if each.kind == "gpu"]


def test_owner_gets_the_card_that_its_reservation_holds() -> None:
    world = World([*gpu_node(2), gpu_reservation("r", 100, allocated(m1=100)), gpu_pod("p", 100)])

    assert minors(world, "p") == ("r", ["1"])


def test_others_do_not_get_the_card_that_is_reserved() -> None:
    objects = [
        *gpu_node(2),
        gpu_reservation("r", 100, allocated(m0=100)),
        gpu_pod("x", 100, app="x"),
        gpu_pod("y", 200, app="x"),
    ]
    world = World(objects)

    assert world.fitting("y") == []
    assert minors(world, "x") == ("", ["1"])


def test_card_of_a_reservation_for_one_is_free_with_it_used_up() -> None:
    """The owner needs half of it, and the other half is free again."""
    held = gpu_reservation("r", 100, allocated(m0=100))
    world = World([*gpu_node(1), held, gpu_pod("p", 50), gpu_pod("x", 50, app="x")])

    assert world.fitting("x") == []
    assert minors(world, "p") == ("r", ["0"])
    assert minors(world, "x") == ("", ["0"])


def test_reservation_for_many_keeps_the_rest_of_its_card() -> None:
    held = gpu_reservation("r", 100, allocated(m0=100), allocateOnce=False)
    world = World([*gpu_node(1), held, gpu_pod("p", 50), gpu_pod("q", 50), gpu_pod("x", 50, app="x")])

    assert minors(world, "p") == ("r", ["0"])
    assert world.fitting("x") == []
    assert minors(world, "q") == ("r", ["0"])


def test_running_owner_has_its_part_of_the_card() -> None:
    held = gpu_reservation("r", 100, allocated(m0=100), allocateOnce=False, allocatePolicy="Restricted")
    running = gpu_pod("running", 60, node="a", uses="r", annotations=allocated(m0=60))
    world = World([*gpu_node(1), held, running, gpu_pod("p", 40), gpu_pod("q", 50)])

    assert world.fitting("q") == []
    assert minors(world, "p") == ("r", ["0"])


def test_restricted_reservation_gives_no_other_card() -> None:
    held = gpu_reservation("r", 100, allocated(m0=100), allocatePolicy="Restricted")
    asks = {"scheduling.koordinator.sh/reservation-affinity": "{}"}
    world = World([*gpu_node(2), held, gpu_pod("p", 200, annotations=asks), gpu_pod("q", 100, annotations=asks)])

    assert world.fitting("p") == []
    assert minors(world, "q") == ("r", ["0"])


def test_aligned_reservation_lends_its_card_beside_free_ones() -> None:
    world = World([*gpu_node(2), gpu_reservation("r", 100, allocated(m0=100)), gpu_pod("p", 200)])

    assert minors(world, "p") == ("r", ["0", "1"])


def test_placing_and_taking_off_leaves_the_cards_as_they_were() -> None:
    held = gpu_reservation("r", 100, allocated(m0=100), allocateOnce=False)
    world = World([*gpu_node(2), held, gpu_pod("p", 50), gpu_pod("x", 100, app="x")])
    world.cluster.take_off(world.placed("p").placed)  # so that whoever keeps count of anything does so
    before = world.cluster.digest()

    first, second = world.placed("p").placed, world.placed("x").placed
    world.cluster.take_off(first)
    world.cluster.take_off(second)

    assert world.cluster.digest() == before
