"""Plugin deviceshare (volcano.md §10.6): GPUs by memory, as whole cards and as vGPUs, card by card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from descheduler.model.pod import Pod
from descheduler.placement.volcano.jobs import Status
from descheduler.placement.volcano.order import FirstChoices
from descheduler.placement.volcano.plugins.deviceshare import GpuCards, VirtualCards
from descheduler.placement.volcano.session import Session
from tests.placement.volcano.cycle.cycle import run_cycle
from tests.placement.volcano.worlds import Object, group, node, plugin, pods, session, snapshot_of, tasks_of

VOLCANO = "volcano.sh/"
CHOICES = FirstChoices()


def asking(
    name: str = "pod", *containers: Mapping[str, str], init: Sequence[Mapping[str, str]] = (), **stated: str
) -> Pod:
    """A pod whose containers have these limits of Volcano's resources, with annotations of Volcano."""
    (made,) = pods(name, 1)
    made["spec"] |= {"containers": _limited(containers), "initContainers": _limited(init)}
    made["metadata"]["annotations"] |= {VOLCANO + key.replace("_", "-"): value for key, value in stated.items()}
    return snapshot_of(made).pods[0]


def _limited(containers: Sequence[Mapping[str, str]]) -> list[Object]:
    return [
        {"name": f"c{place}", "resources": {"limits": {VOLCANO + key: value for key, value in limits.items()}}}
        for place, limits in enumerate(containers)
    ]


def gpus(
    memory: int = 40, number: int = 4, *, shares: bool = True, counts: bool = True, unhealthy: str = ""
) -> GpuCards:
    """The cards of a node with `memory` on all of them together."""
    made: Any = node("a", **{f"{VOLCANO}gpu-memory": str(memory), f"{VOLCANO}gpu-number": str(number)})
    made["metadata"]["annotations"] = {f"{VOLCANO}gpu-unhealthy-ids": unhealthy}
    return GpuCards(snapshot_of(made).nodes[0], shares=shares, counts=counts)


MEMORY, NUMBER = {"gpu-memory": "8"}, {"gpu-number": "2"}


@pytest.mark.parametrize(
    ("shares", "counts", "limits", "is_asked"),
    [
        (True, False, MEMORY, True),
        (True, False, NUMBER, False),
        (False, True, MEMORY, False),
        (False, True, NUMBER, True),
        (True, True, {"gpu-memory": "0", "gpu-number": "0"}, False),
        (True, True, {}, False),
    ],
)
def test_pod_asks_for_gpus_as_far_as_the_mode_is_enabled(
    shares: bool, counts: bool, limits: Mapping[str, str], is_asked: bool
) -> None:
    assert gpus(shares=shares, counts=counts).asks(asking("pod", limits)) is is_asked


@pytest.mark.parametrize(
    ("cards", "pod", "has_room"),
    [
        pytest.param({}, asking("pod", {"gpu-memory": "10"}), True, id="all memory of one card"),
        pytest.param({}, asking("pod", {"gpu-memory": "11"}), False, id="more than any card has"),
        pytest.param({}, asking("pod", {"gpu-number": "4"}), True, id="all cards"),
        pytest.param({}, asking("pod", {"gpu-number": "5"}), False, id="more cards than there are"),
        pytest.param({"unhealthy": "1, 2"}, asking("pod", {"gpu-number": "2"}), True, id="the healthy cards"),
        pytest.param({"unhealthy": "1, 2"}, asking("pod", {"gpu-number": "3"}), False, id="one that is not healthy"),
        pytest.param({"unhealthy": "0,1,2,3"}, asking("pod", {"gpu-memory": "1"}), False, id="no healthy card"),
        pytest.param({"number": 0}, asking("pod", {"gpu-memory": "1"}), False, id="no cards"),
        pytest.param({"memory": 0}, asking("pod", {"gpu-number": "1"}), False, id="cards without memory"),
        pytest.param(
            {}, asking("pod", {"gpu-memory": "6"}, {"gpu-memory": "4"}), True, id="two containers on one card"
        ),
        pytest.param({}, asking("pod", {"gpu-memory": "6"}, {"gpu-memory": "5"}), False, id="too much together"),
        pytest.param({}, asking("pod", MEMORY, init=[{"gpu-memory": "10"}]), True, id="an init container in its place"),
        pytest.param({}, asking("pod", MEMORY, init=[{"gpu-memory": "11"}]), False, id="an init container with more"),
        pytest.param({"shares": False}, asking("pod", {"gpu-memory": "11"}), True, id="memory without that mode"),
        pytest.param({"counts": False}, asking("pod", {"gpu-number": "5"}), True, id="cards without that mode"),
    ],
)
def test_pod_has_room_on_one_card_or_on_idle_cards(cards: Any, pod: Pod, has_room: bool) -> None:
    assert gpus(**cards).has_room(pod) is has_room


def test_memory_is_taken_from_the_lowest_card_with_room_and_cards_from_idle_ones() -> None:
    cards = gpus(number=3, memory=30)

    taken = [
        cards.take(pod, CHOICES)
        for pod in (
            asking("first", {"gpu-memory": "6"}),
            asking("second", {"gpu-memory": "4"}),
            asking("third", {"gpu-memory": "1"}),
            asking("whole", {"gpu-number": "1"}),
        )
    ]

    assert taken == ["0", "0", "1", "2"]
    assert not cards.has_room(asking("next", {"gpu-number": "1"}))


def test_pod_with_memory_occupies_the_card_that_its_annotation_names_until_it_leaves() -> None:
    """A pod that has whole cards is not counted when a session begins, as in Volcano 1.10."""
    cards, running = gpus(number=1, memory=10), asking("running", {"gpu-memory": "6"}, gpu_index="0")
    cards.load(running)
    cards.load(asking("whole", {"gpu-number": "1"}, gpu_index="0"))
    cards.load(asking("elsewhere", {"gpu-memory": "6"}, gpu_index="7"))
    pod = asking("pod", {"gpu-memory": "5"})

    assert (cards.has_room(pod), cards.has_room(asking("pod", {"gpu-memory": "4"}))) == (False, True)

    cards.give_back(running)

    assert cards.has_room(pod)


def test_card_of_a_pod_that_is_not_bound_after_all_stays_taken() -> None:
    cards, pod = gpus(number=1, memory=10), asking("pod", {"gpu-memory": "6"})
    cards.take(pod, CHOICES)

    cards.give_back(pod)

    assert not cards.has_room(asking("other", {"gpu-memory": "5"}))


ONE_CARD = "uuid-0,10,100,NVIDIA-A100,true,x:"


def virtual(register: str | None = ONE_CARD, *, handshake: bool = True) -> VirtualCards:
    """The vGPUs that the node registers: each uuid, pods, memory, type, health and mode."""
    made: Any = node("a")
    stated = {} if register is None else {f"{VOLCANO}node-vgpu-register": register}
    made["metadata"]["annotations"] = stated | ({f"{VOLCANO}node-vgpu-handshake": "now"} if handshake else {})
    return VirtualCards(snapshot_of(made).nodes[0])


def share(number: int = 1, **more: int) -> Mapping[str, str]:
    """The limits of a container on `number` vGPUs, and on memory, percentage or cores of each."""
    names = {"memory": "vgpu-memory", "percentage": "vgpu-memory-percentage", "cores": "vgpu-cores"}
    return {"vgpu-number": str(number)} | {names[key]: str(value) for key, value in more.items()}


def using(text: str) -> Pod:
    """A pod that has these vGPUs."""
    return asking("running", share(), vgpu_ids_new=text)


@pytest.mark.parametrize(
    ("limits", "is_asked"),
    [
        (share(), True),
        ({"vgpu-memory": "10"}, True),
        ({"vgpu-cores": "10"}, False),
        ({"vgpu-memory-percentage": "10"}, False),
        ({}, False),
    ],
)
def test_container_asks_for_vgpus_by_number_or_memory(limits: Mapping[str, str], is_asked: bool) -> None:
    assert virtual().asks(asking("pod", {}, limits)) is is_asked


@pytest.mark.parametrize(
    ("register", "handshake", "has_room"),
    [
        pytest.param(ONE_CARD, True, True, id="a card"),
        pytest.param(ONE_CARD, False, False, id="no handshake"),
        pytest.param(None, True, False, id="nothing registered"),
        pytest.param("uuid-0,10,100,NVIDIA-A100:", True, False, id="a field is missing"),
        pytest.param("uuid-0,10,100,NVIDIA-A100,true:", True, True, id="just enough fields"),
        pytest.param("uuid-0,ten,100,NVIDIA-A100,true:", True, False, id="no number of pods"),
        pytest.param("uuid-0,10,much,NVIDIA-A100,true:", True, False, id="no amount of memory"),
        pytest.param("uuid-0,10,100,MLU370,true,x:", True, False, id="of another maker"),
    ],
)
def test_node_has_the_cards_that_it_registers(register: str | None, handshake: bool, has_room: bool) -> None:
    assert virtual(register, handshake=handshake).has_room(asking("pod", share(memory=1))) is has_room


@pytest.mark.parametrize(
    ("used", "limits", "has_room"),
    [
        pytest.param("", share(memory=100), True, id="all memory"),
        pytest.param("", share(memory=101), False, id="more memory than there is"),
        pytest.param("60,0", share(memory=40), True, id="the memory that is left"),
        pytest.param("60,0", share(memory=41), False, id="more memory than is left"),
        pytest.param("", share(), True, id="all memory, where no memory is stated"),
        pytest.param("1,0", share(), False, id="all memory, of which some is used"),
        pytest.param("1,0", share(percentage=100), False, id="all memory as a percentage"),
        pytest.param("0,30", share(memory=1, cores=70), True, id="the cores that are left"),
        pytest.param("0,30", share(memory=1, cores=71), False, id="more cores than are left"),
        pytest.param("", share(memory=1, cores=100), True, id="all cores of an idle card"),
        pytest.param("1,0", share(memory=1, cores=100), False, id="all cores of a card in use"),
        pytest.param("1,0", share(memory=1, cores=99), True, id="one core less"),
        pytest.param("1,100", share(memory=1), False, id="no cores, of a card that has none left"),
        pytest.param("1,99", share(memory=1), True, id="no cores, of a card that has some left"),
        pytest.param("", share(2, memory=1), False, id="more cards than there are"),
        pytest.param("", {"vgpu-memory": "100"}, True, id="one card, where no number is stated"),
    ],
)
def test_vgpu_has_room_by_memory_and_cores(used: str, limits: Mapping[str, str], has_room: bool) -> None:
    cards = virtual()
    if used:
        cards.load(using(f"uuid-0,NVIDIA,{used}:"))

    assert cards.has_room(asking("pod", limits)) is has_room


def test_vgpu_is_shared_by_as_many_pods_as_it_registers() -> None:
    cards = virtual("uuid-0,2,100,NVIDIA,true,x:")
    cards.load(using("uuid-0,NVIDIA,1,0:"))
    assert cards.has_room(asking("pod", share(memory=1)))

    cards.load(using("uuid-0,NVIDIA,1,0:"))

    assert not cards.has_room(asking("pod", share(memory=1)))


@pytest.mark.parametrize(
    ("stated", "has_room"),
    [
        ({"use-gputype": "a100"}, True),
        ({"use-gputype": "H100,A100"}, True),
        ({"use-gputype": "H100"}, False),
        ({"nouse-gputype": "H100,a100"}, False),
        ({"nouse-gputype": "H100,V100"}, True),
        ({"nouse-gputype": "A100"}, True),
        ({"use-gputype": "A100", "nouse-gputype": "A100,H100"}, True),
    ],
)
def test_annotations_name_types_of_cards_to_use_or_not(stated: Mapping[str, str], has_room: bool) -> None:
    """Of types that are not to be used a single one does not count, as in Volcano 1.10."""
    (made,) = pods("pod", 1)
    made["spec"]["containers"] = _limited([share(memory=1)])
    made["metadata"]["annotations"] |= {f"nvidia.com/{key}": value for key, value in stated.items()}

    assert virtual().has_room(snapshot_of(made).pods[0]) is has_room


TWO_CARDS = "uuid-0,10,100,NVIDIA,true,x:uuid-1,10,100,NVIDIA,true,x:"


def test_vgpus_are_taken_from_the_last_card_on_container_by_container() -> None:
    cards = virtual(TWO_CARDS)

    noted = cards.take(asking("pod", share(memory=60, cores=10), {}, share(2, memory=30)), CHOICES)

    assert noted == "uuid-1,NVIDIA,60,10:;uuid-1,NVIDIA,30,0:uuid-0,NVIDIA,30,0:"
    assert not cards.has_room(asking("next", share(memory=71)))
    assert cards.has_room(asking("next", share(memory=70)))


def test_pod_whose_last_container_has_no_room_takes_nothing() -> None:
    cards = virtual(TWO_CARDS)

    noted = cards.take(asking("pod", share(memory=60), share(2, memory=50)), CHOICES)

    assert noted == ""
    assert cards.has_room(asking("next", share(2)))


def test_vgpus_of_a_running_pod_are_taken_until_the_next_cycle_begins() -> None:
    """Cards that its annotation names and the node has not got do not count."""
    cards, running = virtual(TWO_CARDS), using("uuid-0,NVIDIA,60,10:uuid-1,NVIDIA,60,10:;uuid-9,NVIDIA,5,5:")
    cards.load(running)

    assert not cards.give_back(running)

    assert cards.has_room(asking("pod", share(2, memory=40, cores=90)))
    assert not cards.has_room(asking("pod", share(memory=41)))
    assert not cards.has_room(asking("pod", share(memory=1, cores=91)))


@pytest.mark.parametrize("text", ["", "uuid-0,NVIDIA,many,0:", "uuid-0,NVIDIA,60:", "uuid-9,NVIDIA,60,0:"])
def test_annotation_that_cannot_be_read_takes_no_vgpu(text: str) -> None:
    cards = virtual()

    cards.load(using(text))

    assert cards.has_room(asking("pod", share()))


def test_memory_that_is_stated_comes_before_a_percentage() -> None:
    """And a percentage below 100 is none, as in Volcano 1.10."""
    cards = virtual()
    cards.load(using("uuid-0,NVIDIA,50,0:"))

    assert not cards.has_room(asking("pod", share(memory=60, percentage=50)))
    assert not cards.has_room(asking("pod", share(memory=60, percentage=100)))
    assert cards.has_room(asking("pod", share(memory=50, percentage=100)))
    assert cards.has_room(asking("pod", share(percentage=99)))


def beside_cards(arguments: Mapping[str, bool], limits: Mapping[str, str]) -> Session:
    """A pod that waits, and a node with two GPUs of 10 each."""
    offered: Any = node("a", **{VOLCANO + "gpu-memory": "20", VOLCANO + "gpu-number": "2"})
    offered["metadata"]["annotations"] = {
        f"{VOLCANO}node-vgpu-register": TWO_CARDS,
        f"{VOLCANO}node-vgpu-handshake": "now",
    }
    wanting = pods("job", 1)
    wanting[0]["spec"]["containers"] += _limited([limits])
    stated = {f"deviceshare.{mode}Enable": is_on for mode, is_on in arguments.items()}
    tiers = [[plugin("gang"), plugin("deviceshare", arguments=stated)]]
    return session(offered, group("job"), wanting, tiers=tiers)


def cards_given(arguments: Mapping[str, bool], limits: Mapping[str, str]) -> tuple[Status, Mapping[str, str]]:
    """What becomes of that pod, and what is noted on it."""
    made = beside_cards(arguments, limits)
    run_cycle(made)
    return tasks_of(made)["job-0"].status, made.devices


@pytest.mark.parametrize(
    ("arguments", "limits", "noted"),
    [
        pytest.param({"GPUSharing": True}, {"gpu-memory": "10"}, "0", id="memory of a card"),
        pytest.param({"GPUNumber": True}, {"gpu-number": "2"}, "0,1", id="whole cards"),
        pytest.param({"VGPU": True}, share(memory=5), "uuid-1,NVIDIA,5,0:", id="a vGPU"),
    ],
)
def test_task_is_given_cards_by_the_mode_that_is_configured(
    arguments: Mapping[str, bool], limits: Mapping[str, str], noted: str
) -> None:
    status, devices = cards_given(arguments, limits)

    assert (status is not Status.PENDING, list(devices.values())) == (True, [noted])


@pytest.mark.parametrize(
    ("arguments", "limits"),
    [
        pytest.param({"GPUSharing": True}, {"gpu-memory": "11"}, id="memory of a card"),
        pytest.param({"GPUNumber": True}, {"gpu-number": "3"}, id="whole cards"),
        pytest.param({"VGPU": True}, share(3, memory=5), id="vGPUs"),
    ],
)
def test_task_waits_where_no_card_has_room(arguments: Mapping[str, bool], limits: Mapping[str, str]) -> None:
    assert cards_given(arguments, limits) == (Status.PENDING, {})


def test_task_that_is_taken_back_has_no_note_any_more() -> None:
    """Its gang lacks a task. A pod that asks for no card has none either way."""
    offered = node("a", **{VOLCANO + "gpu-memory": "20", VOLCANO + "gpu-number": "2"})
    wanting, plain = pods("job", 1), pods("plain", 1)
    wanting[0]["spec"]["containers"] += _limited([{"gpu-memory": "5"}])
    tiers = [[plugin("gang"), plugin("deviceshare", arguments={"deviceshare.GPUSharingEnable": True})]]
    made = session(offered, group("job"), group("plain"), wanting, plain, tiers=tiers)
    tasks = tasks_of(made)

    for name in ("job-0", "plain-0"):
        made.allocate(tasks[name], 0)
    assert made.devices == {tasks["job-0"].key: "0"}
    for name in ("plain-0", "job-0"):
        made.take_back(tasks[name])

    assert made.devices == {}


@pytest.mark.parametrize(
    ("arguments", "noted"),
    [
        pytest.param({"VGPU": True}, ["uuid-1,NVIDIA,5,0:"], id="vGPUs"),
        pytest.param({}, [], id="no mode, and no cards"),
    ],
)
def test_note_of_a_vgpu_stays_on_a_task_that_is_taken_back(arguments: Mapping[str, bool], noted: list[str]) -> None:
    """Volcano frees no vGPU before the next cycle."""
    made = beside_cards(arguments, share(memory=5))
    task = tasks_of(made)["job-0"]

    made.allocate(task, 0)
    made.take_back(task)

    assert list(made.devices.values()) == noted


def test_without_a_mode_cards_do_not_count() -> None:
    status, devices = cards_given({}, share(3))

    assert (status is not Status.PENDING, devices) == (True, {})
