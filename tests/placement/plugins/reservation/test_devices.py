"""Devices that Reservations hold (§6.9): who gets them, and which."""

from __future__ import annotations

import json

from descheduler.placement.framework.attempt import put_on_node
from descheduler.placement.framework.matched_reservations import allocations_of
from tests.builders import Object, node_object
from tests.placement.plugins.reservation.worlds import World, koord_pod, reservation_object

_CORE, _RATIO = "koordinator.sh/gpu-core", "koordinator.sh/gpu-memory-ratio"


def gpu(percent: int) -> dict[str, str]:
    """So much of GPUs, 100 a card."""
    return {_CORE: str(percent), _RATIO: str(percent)}


def gpu_node(num_gpus: int, name: str = "a") -> list[Object]:
    """A node with so many cards, and its Device."""
    node = node_object(name, cpu="16", memory="64Gi")
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
        "metadata": {"name": name},
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


def raw_score(world: World, pod: str) -> dict[str, int]:
    """What DeviceShare gives to the nodes that take a pod, before that is normalised."""
    table = world.evaluate(pod).scores()
    raw = table.by_plugin["DeviceShare"].raw
    assert raw is not None
    return {world.cluster.table.names[node]: int(score) for node, score in zip(table.nodes, raw, strict=True)}


def test_one_reservation_does_not_lend_the_card_of_another() -> None:
    """Each is tried with what nothing holds; a pod that needs none takes the cards of both, and uses none of them."""
    held = [gpu_reservation(f"r{minor}", 100, allocated(**{f"m{minor}": 100})) for minor in range(2)]
    busy = [gpu_pod(f"busy-{n}", 50, app="x", node="a", annotations=allocated(**{f"m{n}": 50})) for n in (2, 3)]
    asks = {"scheduling.koordinator.sh/reservation-affinity": "{}"}
    world = World([*gpu_node(4), *held, *busy, gpu_pod("p", 200, annotations=asks), gpu_pod("q", 200)])

    assert world.fitting("p") == []
    assert minors(world, "q") == ("", ["0", "1"])


def test_nominated_reservation_is_scored_with_what_nothing_holds() -> None:
    """Of three cards two are reserved for the pod by different Reservations: it uses one of them, the other is in use.

    Nodes are preferred that have more left of gpu-memory-ratio, and of gpu-memory, of which nobody has any: (33 + 100)
    / 2 and (66 + 100) / 2. A Reservation without devices is scored 0 on its node, as koord-scheduler has it.
    """
    held = [gpu_reservation(f"r{minor}", 100, allocated(**{f"m{minor}": 100})) for minor in range(2)]
    bare = reservation_object("bare", node="b", cpu="4")
    others = [*gpu_node(3, "b"), *gpu_node(3, "c")]
    world = World([*gpu_node(3), *others, *held, bare, gpu_pod("p", 100)])

    assert raw_score(world, "p") == {"a": 66, "b": 0, "c": 83}


def test_restricted_reservation_is_scored_by_its_own_cards() -> None:
    """Half of one card is left, or seven halves of four cards, and all of the gpu-memory."""
    held = gpu_reservation("r", 100, allocated(m0=100), allocatePolicy="Restricted", allocateOnce=False)
    world = World([*gpu_node(4), *gpu_node(4, "b"), held, gpu_pod("p", 50)])

    assert raw_score(world, "p") == {"a": (50 + 100) // 2, "b": (87 + 100) // 2}


def test_reservation_that_a_pod_uses_is_scored_by_its_devices_too() -> None:
    """By amounts alone it would fill up the other one, which has no cards."""
    cards = gpu_reservation("cards", 100, allocated(m0=100))
    bare = reservation_object("bare", node="a", cpu="1")
    world = World([*gpu_node(2), bare, cards, gpu_pod("p", 50)])

    assert minors(world, "p") == ("cards", ["0"])


def test_reservation_that_finds_a_node_holds_its_cards_for_its_owners() -> None:
    pending = reservation_object("r", reserved={"cpu": "4", **gpu(100)}, annotations=allocated(m1=100))
    world = World([*gpu_node(2), pending, gpu_pod("p", 100), gpu_pod("x", 200, app="x"), gpu_pod("y", 100, app="x")])
    reserve_pod = world.snapshot.reservations[0].pod
    assert reserve_pod is not None
    world.cluster.take_off(world.placed("p").placed)  # so that whoever keeps count of anything does so
    before = world.cluster.digest()

    bound = put_on_node(world.evaluate(reserve_pod), 0).placed
    owner = world.placed("p").placed

    assert [each.name for each in allocations_of(owner)] == ["r", "0"]
    assert world.fitting("x") == []
    assert world.fitting("y") == ["a"]
    world.cluster.take_off(bound)
    world.cluster.take_off(owner)
    assert world.cluster.digest() == before


def test_cards_of_a_reservation_that_finds_a_node_are_no_longer_free_for_others() -> None:
    pending = reservation_object("r", reserved={"cpu": "4", **gpu(100)})
    world = World([*gpu_node(2), pending, gpu_pod("x", 200, app="x"), gpu_pod("y", 100, app="x")])
    reserve_pod = world.snapshot.reservations[0].pod
    assert reserve_pod is not None

    before = world.fitting("x")
    put_on_node(world.evaluate(reserve_pod), 0)

    assert (before, world.fitting("x")) == (["a"], [])
    assert minors(world, "y") == ("", ["1"])


def test_placing_and_taking_off_leaves_the_cards_as_they_were() -> None:
    held = gpu_reservation("r", 100, allocated(m0=100), allocateOnce=False)
    world = World([*gpu_node(2), held, gpu_pod("p", 50), gpu_pod("x", 100, app="x")])
    world.cluster.take_off(world.placed("p").placed)  # so that whoever keeps count of anything does so
    before = world.cluster.digest()

    first, second = world.placed("p").placed, world.placed("x").placed
    world.cluster.take_off(first)
    world.cluster.take_off(second)

    assert world.cluster.digest() == before
