"""Choices of GPUs on nodes: which there are, to which pods they are open, and what is left of each GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from descheduler.model.pod import Pod
from descheduler.optimizer import UNLIMITED
from descheduler.placement.framework.node_parts import ALL_PARTS, FreePart, PartNeed
from descheduler.placement.landings.openings import Openings
from descheduler.planner.gpus.gpu_choices import Choice, GpuChoices
from descheduler.planner.gpus.gpu_classes import GpuClasses, gpu_classes
from descheduler.planner.gpus.gpu_problem import units_of
from descheduler.planner.gpus.stranded_gpus import StrandedGpus
from descheduler.planner.gpus.uncounted import Uncounted
from tests.builders import make_pod


def free(*percent: int) -> dict[int, FreePart]:
    """GPUs by minor, of which so much is free."""
    return {minor: FreePart(each, each) for minor, each in enumerate(percent)}


def asks(number: int, percent: int = 100) -> PartNeed:
    return PartNeed(number, percent, percent)


def choices(
    gpus: Sequence[Mapping[int, FreePart]], needs: Sequence[PartNeed | None], places: Sequence[Choice | None] = ()
) -> GpuChoices:
    return GpuChoices(gpus, needs, [*places, *[None] * (len(needs) - len(places))])


def listed(found: GpuChoices) -> list[Choice]:
    return sorted(found.number_of, key=found.number_of.__getitem__)


def test_a_node_is_there_without_gpus_and_with_each_of_them() -> None:
    found = choices([free(100, 50), {}], [asks(1)])

    assert set(listed(found)) == {(0, ()), (0, (0,)), (0, (1,)), (1, ())}
    assert found.host.tolist() == [0, 0, 0, 1]
    assert found.counts.tolist() == [1]


def test_for_several_gpus_there_are_neighbours_those_about_equally_free_and_what_pods_have() -> None:
    found = choices([free(50, 100, 100, 60)], [asks(2), asks(2)], [(0, (0, 3))])

    pairs = {minors for _, minors in listed(found) if len(minors) == 2}
    assert pairs == {(0, 1), (1, 2), (2, 3), (0, 3)}


def test_all_gpus_of_a_node_are_a_choice_where_a_pod_asks_for_all() -> None:
    found = choices([free(100, 100, 100), free(100)], [asks(ALL_PARTS)])

    assert {(0, (0, 1, 2)), (1, (0,))} <= set(listed(found))
    assert (0, (0, 1)) not in listed(found)
    assert found.allowed(np.array([True, True]), ALL_PARTS).tolist() == [
        len(minors) == (3, 1)[place] for place, minors in listed(found)
    ]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_pod_may_have_choices_of_as_many_gpus_as_it_asks_for_or_a_node_without_a_device(count: int) -> None:
    """The last node has no Device; the second is closed to the pod."""
    found = choices([free(100, 100), free(100, 100), {}], [asks(1), asks(2)])

    allowed = found.allowed(np.array([True, False, True]), count)

    assert {choice for choice, is_open in zip(listed(found), allowed.tolist(), strict=True) if is_open} == {
        *(choice for choice in listed(found) if choice[0] == 0 and len(choice[1]) == count),
        (2, ()),
    }


def test_a_gpu_has_what_is_free_of_it_and_what_pods_have_of_it() -> None:
    """A pod has 30 percent of GPU 1 of node 0, and another one half of both GPUs of node 1."""
    gpus = [free(100, 70), free(50, 50)]
    found = choices(gpus, [asks(1, 30), asks(2, 50), None], [(0, (1,)), (1, (0, 1)), (0, ())])

    parts = found.parts(np.array([[8], [16]]))

    assert parts.capacity.tolist() == [
        [8, UNLIMITED, UNLIMITED],
        [16, UNLIMITED, UNLIMITED],
        *[[UNLIMITED, 100, 100]] * 4,
    ]
    number = found.number_of
    assert parts.of(number[0, (1,)]) == [0, 3]
    assert parts.of(number[1, (0, 1)]) == [1, 4, 5]
    assert parts.of(number[0, ()]) == [0]
    assert found.need().tolist() == [[30, 30], [50, 50], [0, 0]]


@pytest.mark.parametrize(("most", "unit"), [(2**30 - 1, 1), (2**30, 2**20), (2**40, 2**20)])
def test_bytes_are_counted_in_mebibytes_and_small_amounts_one_by_one(most: int, unit: int) -> None:
    assert units_of(np.array([[8000, most], [4000, 0]])).tolist() == [1, unit]


class Parts:
    """What is known of the parts of some pods, by name, and of nodes."""

    def __init__(self, needs: Mapping[str, PartNeed], gpus: Sequence[Mapping[int, FreePart]] = ()) -> None:
        self._needs, self._gpus = needs, list(gpus)
        self.states: list[object] = [object() for _ in gpus]

    def need_of(self, pod: Pod, most_memory: int) -> PartNeed | None:
        """By its name."""
        return self._needs.get(pod.name)

    def state(self, node: int) -> object:
        """By its number."""
        return self.states[node]

    def free(self, node: int) -> Mapping[int, FreePart]:
        """By its number."""
        return self._gpus[node]

    def why_uncounted(self, pod: Pod) -> str:
        """Pods with odd names."""
        return "it is odd" if pod.name.startswith("odd") else ""


def openings_of(parts: Parts, *, cores: Mapping[str, int] | None = None, **facts: Any) -> Openings:
    """Openings of two resources, CPU and memory; pods are told apart by their CPU requests."""
    found = SimpleNamespace(
        parts=parts,
        resources=("cpu", "memory"),
        need=lambda spec: np.array([spec.requests.get("cpu", 0) // 10**6, 7]),
        place_of=lambda name: "ab".index(name),
        **facts,
    )
    return cast(Openings, found)


def classes_of(needs: Mapping[str, PartNeed], cores: Sequence[int]) -> GpuClasses | None:
    pods = [make_pod(name, cpu=f"{core}m") for name, core in zip(needs, cores, strict=True)]
    return gpu_classes(pods, openings_of(Parts(needs)), 0)


def test_pods_with_equal_needs_of_gpus_and_cores_are_a_class() -> None:
    needs = {"a": asks(1, 50), "b": asks(1, 50), "c": asks(2), "d": asks(1, 50)}

    found = classes_of(needs, [100, 100, 800, 300])

    assert found is not None
    assert found.gpus.tolist() == [[1, 50, 50], [1, 50, 50], [2, 100, 100]]
    assert found.weights.tolist() == [2, 1, 1]
    assert found.numbers.tolist() == [1, 1, 2]
    assert found.over(3, np.array([1, 1, 2])).tolist() == [
        [100, 7, 0, 50, 50],
        [300, 7, 0, 50, 50],
        [800, 7, 0, 100, 100],
    ]


@pytest.mark.parametrize("number", [7, 8, 9, 30])
def test_pods_of_many_sizes_of_cores_are_few_classes(number: int) -> None:
    found = classes_of({str(each): asks(1) for each in range(number)}, range(1, number + 1))

    assert found is not None
    assert len(found.weights) == min(number, 8)
    assert found.weights.sum() == number
    assert found.weights.max() - found.weights.min() <= 1


def test_pods_that_ask_for_all_gpus_or_for_no_memory_of_them_are_of_no_class() -> None:
    assert classes_of({"all": asks(ALL_PARTS), "none": PartNeed(1, 50, 0)}, [1, 1]) is None
    assert classes_of({}, []) is None


def test_what_is_stranded_is_counted_again_where_nodes_have_changed() -> None:
    """Pods take a whole GPU and 4 units of CPU. Node a has half a GPU idle, and node b a whole one."""
    parts = Parts({}, [free(50), free(100)])
    capacity, taken = np.array([[8, 8], [9, 9]]), np.array([[0, 0], [0, 0]])
    openings = openings_of(parts, capacity=capacity, taken=taken)
    classes = GpuClasses(np.array([[1, 100, 100]]), np.array([[4, 0]]), np.array([3]))
    stranded = StrandedGpus(["a", "b"], classes)
    assert stranded.total(openings) == 3 * 50

    taken[0, 1] = 5

    assert stranded.total(openings) == 3 * 150
    taken[0, 1] = 4
    assert stranded.total(openings) == 3 * 50
    parts._gpus[1] = free(100, 30)
    assert stranded.total(openings) == 3 * 50
    parts.states[1] = object()
    assert stranded.total(openings) == 3 * 80


@pytest.mark.parametrize(
    ("names", "texts"),
    [
        pytest.param(["web"], [], id="none"),
        pytest.param(["odd"], ["1 pod is not evicted (default/odd: it is odd)"], id="one"),
        pytest.param(["odd-1", "odd-2"], ["2 pods are not evicted (for example default/odd-1: it is odd)"], id="two"),
        pytest.param(
            ["odd-1", "odd-p"],
            [
                "1 pod is not evicted (default/odd-1: it is odd)",
                "devices of 1 pending pod are not counted (default/odd-p: it is odd)",
            ],
            id="one that is pending",
        ),
    ],
)
def test_pods_whose_devices_are_unknown_are_said(names: list[str], texts: list[str]) -> None:
    pods = [make_pod(name, node="" if name.endswith("p") else "a") for name in names]

    found = Uncounted(pods, openings_of(Parts({})))

    assert list(found.texts()) == texts
    assert [pod.name for pod, _ in found.placed] == [name for name in names if name in ("odd", "odd-1", "odd-2")]
