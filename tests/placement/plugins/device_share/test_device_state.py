"""The devices of a node: what is free, and what a pod sees of them."""

from __future__ import annotations

import pytest

from descheduler.model.koordinator.devices import GPU, AllocatedDevice, Amounts, DeviceInfo, VirtualFunction
from descheduler.model.selection.labels import LabelSelector, selector_from_object
from descheduler.placement.plugins.device_share.device_state import DeviceState, TypeView, fits, is_zero
from descheduler.placement.plugins.device_share.hardware import Hardware, NodeTraits

_IN_A = selector_from_object({"matchLabels": {"zone": "a"}})
_FUNCTION = VirtualFunction("0000:01.1")


def state(*shares: int) -> DeviceState:
    """A node with three GPUs of 100, of zones a, b and a, of which pods have these shares; 0 for an idle one."""
    infos = [DeviceInfo(GPU, minor, "", True, {"zone": "aba"[minor]}, {"x": 100}) for minor in range(3)]
    total: dict[int, Amounts] = {info.minor: info.resources for info in infos}
    used = {minor: {"x": share} for minor, share in enumerate(shares) if share}
    return DeviceState.of(
        Hardware(NodeTraits(), {GPU: tuple(infos)}, {GPU: total}, is_listed=True), {GPU: used} if used else {}
    )


@pytest.mark.parametrize(
    ("free", "expected"),
    [
        pytest.param({"x": 50}, True, id="exactly as much"),
        pytest.param({"x": 49}, False, id="one too few"),
        pytest.param({"x": 50, "y": 0}, True, id="what is not asked for may be used up"),
        pytest.param({}, True, id="what the device does not have at all is not looked at"),
    ],
)
def test_request_fits_a_device_that_has_as_much_left(free: Amounts, expected: bool) -> None:
    assert fits({"x": 50}, free) is expected


@pytest.mark.parametrize(("amounts", "expected"), [({}, True), ({"x": 0}, True), ({"x": 0, "y": 1}, False)])
def test_nothing_is_no_amount_above_0(amounts: Amounts, expected: bool) -> None:
    assert is_zero(amounts) is expected


def test_more_in_use_than_there_is_leaves_nothing_free() -> None:
    assert state(120, 30).free == {GPU: {0: {"x": 0}, 1: {"x": 70}, 2: {"x": 100}}}


def test_device_that_only_a_pod_names_has_nothing() -> None:
    known = state()

    changed = DeviceState.of(known.hardware, {GPU: {7: {"x": 10}}, "rdma": {1: {"y": 5}}})

    assert changed.total == {GPU: {0: {"x": 100}, 1: {"x": 100}, 2: {"x": 100}, 7: {}}, "rdma": {1: {}}}
    assert changed.free[GPU][7] == {"x": 0}


def test_what_is_given_back_leaves_no_trace() -> None:
    taken = {GPU: (AllocatedDevice(1, {"x": 40}, functions=(_FUNCTION,)), AllocatedDevice(1, {"x": 20}))}
    idle = state()

    used, functions = idle.changed(taken, 1)
    given_back = DeviceState.of(idle.hardware, used, functions).changed(taken, -1)

    assert (used, functions) == ({GPU: {1: {"x": 60}}}, frozenset({(GPU, 1, _FUNCTION.bus_id)}))
    assert given_back == ({}, frozenset())


def test_functions_that_others_have_stay_theirs() -> None:
    other = VirtualFunction("0000:01.2")
    both = {GPU: (AllocatedDevice(1, {"x": 1}, functions=(_FUNCTION, other)),)}
    idle = state()
    used, functions = idle.changed(both, 1)

    left = DeviceState.of(idle.hardware, used, functions).changed(
        {GPU: (AllocatedDevice(1, {}, functions=(other,)),)}, -1
    )

    assert left == ({GPU: {1: {"x": 1}}}, frozenset({(GPU, 1, _FUNCTION.bus_id)}))


@pytest.mark.parametrize(
    ("selector", "minors", "occupied"),
    [
        pytest.param(None, [0, 1, 2], {0, 1}, id="all"),
        pytest.param(_IN_A, [0, 2], {0, 1}, id="those that a selector selects, while others are in use as well"),
        pytest.param(selector_from_object({"matchLabels": {"zone": "c"}}), [], {0, 1}, id="none"),
    ],
)
def test_view_has_the_devices_that_a_pod_may_get(
    selector: LabelSelector | None, minors: list[int], occupied: set[int]
) -> None:
    view = state(30, 100).view(GPU, selector, is_whole=False)

    assert (list(view.total), list(view.free), set(view.occupied)) == (minors, minors, occupied)


def test_whole_view_has_devices_that_selectors_would_leave_out() -> None:
    known = state(30)

    assert known.view(GPU) == TypeView(known.total[GPU], known.free[GPU], frozenset({0}))
    assert known.view("rdma") == TypeView({}, {}, frozenset())


def test_reservation_restricts_a_view_to_what_it_gives_back() -> None:
    view = state(30, 100).view(GPU, reserved={0: {"x": 90}, 2: {"x": 40}}, is_whole=False)

    assert view.free == {0: {"x": 70}, 2: {"x": 40}}
    assert view.occupied == {0, 1, 2}


def test_view_of_devices_that_are_all_used_up_is_empty() -> None:
    assert state(100, 100, 100).view(GPU, is_whole=False) == TypeView({}, {}, frozenset({0, 1, 2}))
    assert state(100).view(GPU, reserved={0: {"x": 50}}, is_whole=False) == TypeView({}, {}, frozenset({0}))
