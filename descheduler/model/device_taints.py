"""The taints of devices as they are now: those of rules, and the slices that tell a device's own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from descheduler.model.resource_claims import DeviceId, DeviceTaint, DeviceTaintRule, ResourceSlice

__all__ = ["TaintRules", "listed_taints"]

_Selected: TypeAlias = tuple[str | None, ...]
"""Driver, pool and device; None stands for any."""


class TaintRules:
    """DeviceTaintRules by what they select: a cluster may have one for each device."""

    def __init__(self, rules: Iterable[DeviceTaintRule]) -> None:
        self._taints: dict[_Selected, list[tuple[int, DeviceTaint]]] = {}
        for place, rule in enumerate(rules):
            if rule.has_selector:
                selected = rule.driver, rule.pool, rule.device
                self._taints.setdefault(selected, []).append((place, rule.taint))
        self._forms = {tuple(each is not None for each in selected) for selected in self._taints}

    def on(self, device: DeviceId) -> Sequence[DeviceTaint]:
        """The taints that rules put on `device`, in the order of the rules."""
        selecting = (
            tuple(name if is_given else None for name, is_given in zip(device, form, strict=True))
            for form in self._forms
        )
        found = [each for selected in selecting for each in self._taints.get(selected, ())]
        return [taint for _, taint in sorted(found, key=lambda each: each[0])]


def listed_taints(slices: Sequence[ResourceSlice]) -> Mapping[DeviceId, Sequence[DeviceTaint]]:
    """Each device that slices list → its own taints, by the newest generation of its pool.

    Slices of older generations are being replaced, and tell nothing any more.
    """
    newest: dict[tuple[str, str], int] = {}
    for each in slices:
        pool = each.driver, each.pool
        newest[pool] = max(each.generation, newest.get(pool, each.generation))
    return {
        DeviceId(each.driver, each.pool, device.name): device.taints
        for each in slices
        if each.generation == newest[each.driver, each.pool]
        for device in each.devices
    }
