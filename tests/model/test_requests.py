"""What a pod asks for in all."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.model.quantity import ceil_milli, parse_quantity
from descheduler.model.requests import CPU, ContainerResources, pod_requests


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
