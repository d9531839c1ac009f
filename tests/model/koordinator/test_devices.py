"""What pods have of Koordinator's devices, as its scheduler writes it down."""

from __future__ import annotations

import json

import pytest

from descheduler.model.koordinator.devices import (
    AllocatedDevice,
    DeviceHint,
    VirtualFunction,
    allocation_text,
    current_name,
)


def test_allocation_is_written_without_what_is_empty() -> None:
    plain = AllocatedDevice(0, {"koordinator.sh/gpu-core": 100})
    full = AllocatedDevice(1, {}, "0000:01:00.0", (VirtualFunction("0000:01:00.2", 2),), "half")

    assert json.loads(allocation_text({"gpu": (plain,), "rdma": (full,)})) == {
        "gpu": [{"minor": 0, "resources": {"koordinator.sh/gpu-core": "100"}}],
        "rdma": [
            {
                "minor": 1,
                "resources": {},
                "id": "0000:01:00.0",
                "extension": {
                    "vfs": [{"minor": 2, "busID": "0000:01:00.2"}],
                    "gpuSharedResourceTemplate": "half",
                },
            }
        ],
    }


@pytest.mark.parametrize(
    ("name", "current"),
    [("kubernetes.io/gpu-core", "koordinator.sh/gpu-core"), ("nvidia.com/gpu", "nvidia.com/gpu"), ("cpu", "cpu")],
)
def test_deprecated_resources_have_a_current_name(name: str, current: str) -> None:
    assert current_name(name) == current


def test_hint_for_all_devices_is_a_strategy() -> None:
    assert DeviceHint(allocate_strategy="ApplyForAll").applies_for_all
    assert not DeviceHint().applies_for_all
