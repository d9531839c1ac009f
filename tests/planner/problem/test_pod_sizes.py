"""The sizes in which the pods of a cluster request a resource, each with the CPU and memory that go with it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from descheduler.model.pod import Pod
from descheduler.placement.prover import LandingProver
from descheduler.planner.problem.pod_sizes import PodSizes, sizes_of
from tests.builders import make_node, make_pod, make_snapshot

GPU = "nvidia.com/gpu"
NODES = [make_node("a", cpu="900", memory="900Gi", allocatable={GPU: "900"})]


def pod(number: int, gpus: int, cpu: str = "1", memory: str = "1Gi") -> Pod:
    asked = {GPU: str(gpus)} if gpus else {}
    return make_pod(f"p{number}", cpu=cpu, memory=memory, node="a", requests=asked, limits=asked)


def sizes(pods: Sequence[Pod], resource: str = GPU) -> PodSizes | None:
    return sizes_of(pods, resource, LandingProver(make_snapshot(NODES, pods)).openings())


def of_gpus(*numbers: int) -> PodSizes:
    found = sizes([pod(index, number) for index, number in enumerate(numbers)])
    assert found is not None
    return found


def test_pods_of_one_amount_are_a_size_as_often_as_they_are_and_others_are_none() -> None:
    found = of_gpus(2, 1, 2, 0, 8)

    assert (found.amounts.tolist(), found.weights.tolist()) == ([1, 2, 8], [1, 2, 1])
    assert found.text == "1, 2 or 8"
    assert found.text_of([2, 0]) == "8 or 1"
    assert found.text_of([1]) == "2"


def test_a_size_has_the_median_of_the_cpu_and_memory_of_its_pods() -> None:
    found = sizes([pod(0, 1, "1", "9Gi"), pod(1, 1, "3", "1Gi"), pod(2, 1, "8", "5Gi"), pod(3, 0, "90")])

    assert found is not None
    assert found.needs[0, :2].tolist() == [3000, 5 * 2**30]
    two = sizes([pod(0, 1, "1", "9Gi"), pod(1, 1, "3", "1Gi")])
    assert two is not None
    assert two.needs[0, :2].tolist() == [3000, 9 * 2**30]


@pytest.mark.parametrize("number", [7, 8, 9, 20])
def test_many_amounts_are_at_most_eight_sizes_of_which_the_largest_is_one_by_itself(number: int) -> None:
    found = of_gpus(*range(1, number + 1))

    amounts = found.amounts.tolist()
    assert len(amounts) == min(number, 8)
    assert amounts == sorted(amounts)
    assert amounts[-1] == number
    assert found.weights[-1] == 1
    assert found.weights.sum() == number
    assert number <= 8 or amounts[-2] == number - 1


def test_there_are_no_sizes_where_no_pod_requests_the_resource() -> None:
    assert sizes([pod(0, 0)]) is None
    assert sizes([pod(0, 1)], "example.com/fpga") is None


def test_sizes_are_padded_for_resources_that_have_become_known_since() -> None:
    found = of_gpus(2)
    known = found.needs.shape[1]

    padded = found.padded(known + 2)

    assert padded[0].tolist() == [*found.needs[0].tolist(), 0, 0]
