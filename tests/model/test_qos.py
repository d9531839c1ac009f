"""Quality-of-service classes."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from descheduler.model.qos import BEST_EFFORT, BURSTABLE, GUARANTEED, qos_class
from descheduler.model.requests import ContainerResources

FULL = {"cpu": 2, "memory": 3}


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
