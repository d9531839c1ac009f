"""What a pod asks for in all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.model.quantity import ceil_milli, parse_quantity
from descheduler.model.requests import (
    BEST_EFFORT,
    BURSTABLE,
    CPU,
    GUARANTEED,
    MEMORY,
    ContainerResources,
    ResourceList,
    ceil_amount,
    highest,
    incoming_scoring_requests,
    pod_limits,
    pod_requests,
    qos_class,
    scoring_requests,
)

FULL = {"cpu": 2, "memory": 3}
MIB = parse_quantity("1Mi")
ZERO = ContainerResources({CPU: 0, MEMORY: 0}, {})
SILENT = ContainerResources({}, {})


def milli(number: int) -> int:
    return parse_quantity(f"{number}m")


def asking(number: int, *, is_sidecar: bool = False) -> ContainerResources:
    return ContainerResources({CPU: milli(number)}, {}, is_sidecar)


def sidecar(number: int) -> ContainerResources:
    return asking(number, is_sidecar=True)


SEQUENCE = (sidecar(100), asking(700), sidecar(50), asking(400))


@pytest.mark.parametrize(
    ("containers", "init", "pod_level", "overhead", "total"),
    [
        pytest.param((100, 200), (asking(500),), None, 0, 500, id="the init container needs most"),
        pytest.param((200, 300), SEQUENCE, None, 0, 800, id="an init container next to the sidecar before it"),
        pytest.param((200, 300), SEQUENCE, None, 50, 850, id="overhead comes on top"),
        pytest.param((200, 300), SEQUENCE, 600, 50, 650, id="a pod-level request replaces what was derived"),
        pytest.param((200, 300), (asking(700), sidecar(100)), None, 0, 700, id="a sidecar after the init container"),
        pytest.param((200, 300), (sidecar(100), asking(700)), None, 0, 800, id="a sidecar before the init container"),
        pytest.param((), (), None, 0, None, id="nothing"),
    ],
)
def test_cpu_of_a_pod(
    containers: Sequence[int],
    init: Sequence[ContainerResources],
    pod_level: int | None,
    overhead: int,
    total: int | None,
) -> None:
    requests = pod_requests(
        [asking(number) for number in containers],
        init,
        pod_level={} if pod_level is None else {CPU: milli(pod_level)},
        overhead={CPU: milli(overhead)} if overhead else {},
    )

    assert requests == ({} if total is None else {CPU: milli(total)})


def test_pod_level_request_of_other_resources_does_not_count() -> None:
    requests = pod_requests(
        [asking(100)], (), pod_level={"example.com/gpu": 5, "hugepages-2Mi": 7}, overhead={"memory": 3}
    )

    assert requests == {CPU: milli(100), "hugepages-2Mi": 7, "memory": 3}


def test_resource_that_is_asked_for_with_zero_is_named() -> None:
    assert pod_requests([asking(0)], (), pod_level={}, overhead={}) == {CPU: 0}


CONTAINERS = st.lists(st.builds(asking, st.integers(0, 1000), is_sidecar=st.booleans()), max_size=6)


@given(CONTAINERS, CONTAINERS)
def test_total_covers_every_moment_of_the_start(
    containers: list[ContainerResources], init: list[ContainerResources]
) -> None:
    total = pod_requests(containers, init, pod_level={}, overhead={}).get(CPU, 0)

    running = 0
    for container in init:
        need = container.requests[CPU]
        assert total >= running + need
        running += need if container.is_sidecar else 0
    assert total >= running + sum(container.requests[CPU] for container in containers)
    assert ceil_milli(total) * 10**6 == total


ONE_CORE = ContainerResources({CPU: milli(1000)}, {})


@pytest.mark.parametrize(
    ("containers", "init", "pod_level", "cpu_milli", "memory_mib"),
    [
        pytest.param([ONE_CORE], [], {}, 1000, 200, id="a little of what is not asked for"),
        pytest.param([SILENT, SILENT], [], {}, 200, 400, id="per container"),
        pytest.param([ZERO], [], {}, 0, 0, id="zero is an answer"),
        pytest.param([ZERO], [SILENT], {}, 100, 200, id="init containers too"),
        pytest.param([SILENT, SILENT], [], {CPU: milli(50)}, 50, 400, id="once the pod asks, of what nothing asks for"),
        pytest.param([SILENT, ONE_CORE], [], {MEMORY: MIB}, 1000, 1, id="what one container asks for is asked for"),
        pytest.param([SILENT], [], {"hugepages-2Mi": 1}, 100, 200, id="the pod asks for huge pages"),
    ],
)
def test_scores_charge_a_pod_on_a_node_with_a_little_at_least(
    containers: list[ContainerResources],
    init: list[ContainerResources],
    pod_level: ResourceList,
    cpu_milli: int,
    memory_mib: int,
) -> None:
    charged = scoring_requests(
        containers, init, pod_level=pod_level, overhead={"other": 1}, has_pod_level=bool(pod_level)
    )

    assert charged == {CPU: milli(cpu_milli), MEMORY: memory_mib * MIB}


def test_pod_that_is_to_be_placed_is_charged_per_container_with_its_overhead() -> None:
    charged = incoming_scoring_requests([ONE_CORE, SILENT], [], overhead={MEMORY: MIB})

    assert charged == {CPU: milli(1100), MEMORY: 401 * MIB}


def test_most_of_each_resource_is_kept() -> None:
    assert highest([{CPU: 1, MEMORY: 5}, {}, {CPU: 2, "other": 0}]) == {CPU: 2, MEMORY: 5, "other": 0}


@pytest.mark.parametrize(
    ("containers", "expected"),
    [
        pytest.param([], BEST_EFFORT, id="no containers"),
        pytest.param([({}, {})], BEST_EFFORT, id="nothing asked for"),
        pytest.param([({"cpu": 0}, {})], BEST_EFFORT, id="zero asked for"),
        pytest.param([({"example.com/gpu": 1}, {"example.com/gpu": 1})], BEST_EFFORT, id="only another resource"),
        pytest.param([(FULL, FULL)], GUARANTEED, id="limits equal requests"),
        pytest.param([(FULL, FULL), (FULL, FULL)], GUARANTEED, id="in all containers"),
        pytest.param([(FULL, FULL), ({}, {})], BURSTABLE, id="in one container only"),
        pytest.param([({"cpu": 2}, {"cpu": 2})], BURSTABLE, id="of one resource only"),
        pytest.param([({"cpu": 1, "memory": 3}, FULL)], BURSTABLE, id="limits above requests"),
        pytest.param(
            [({}, FULL)], BURSTABLE, id="limits without the requests that the API server would default to them"
        ),
        pytest.param([({"cpu": 2}, {})], BURSTABLE, id="requests without limits"),
    ],
)
def test_class_follows_cpu_and_memory(
    containers: list[tuple[Mapping[str, int], Mapping[str, int]]], expected: str
) -> None:
    assert qos_class(ContainerResources(requests, limits) for requests, limits in containers) == expected


def test_limits_of_a_pod_are_those_of_its_containers_and_its_overhead() -> None:
    limited = [ContainerResources({}, {CPU: milli(number)}) for number in (100, 200)]
    init = [ContainerResources({CPU: milli(900)}, {CPU: milli(400)})]
    overhead = {CPU: milli(50), MEMORY: MIB}

    assert pod_limits(limited, init, overhead=overhead) == {CPU: milli(450)}


@pytest.mark.parametrize(
    ("resource", "nano", "amount"),
    [
        pytest.param(CPU, 1, 1, id="cpu in thousandths, rounded up"),
        pytest.param(CPU, 1500 * 10**6, 1500, id="cpu in thousandths"),
        pytest.param(MEMORY, 1, 1, id="bytes, rounded up"),
        pytest.param(MEMORY, 2 * 10**9, 2, id="whole bytes"),
        pytest.param("example.com/gpu", 3 * 10**9, 3, id="devices"),
    ],
)
def test_amounts_of_cpu_are_in_thousandths_and_others_whole(resource: str, nano: int, amount: int) -> None:
    assert ceil_amount(resource, nano) == amount


def test_most_of_each_resource_that_any_list_names() -> None:
    assert highest([{CPU: 1, MEMORY: 5}, {CPU: 2}, {MEMORY: 4, "gpu": 0}]) == {CPU: 2, MEMORY: 5, "gpu": 0}
    assert highest([]) == {}
