"""What a node has of devices."""

from __future__ import annotations

import pytest

from descheduler.placement.plugins.device_share.hardware import mask_of


@pytest.mark.parametrize(
    ("minors", "mask"),
    [
        pytest.param([0, 2], 0b101, id="a bit a minor"),
        pytest.param([63], 1 << 63, id="the last bit"),
        pytest.param([1, 64, 2**31 - 1, 10**18], 0b10, id="minors that no int of Go has a bit for"),
        pytest.param([-1], 1, id="a minor below 0"),
    ],
)
def test_mask_has_a_bit_a_minor_as_far_as_an_int_of_go_has_any(minors: list[int], mask: int) -> None:
    assert mask_of(minors) == mask
