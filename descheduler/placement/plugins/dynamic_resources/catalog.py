"""The devices of a cluster as its objects list them, and what claims ask for: each found out once a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.resource_claims import (
    DEVICE_CLASS_KIND,
    SLICE_KIND,
    TAINT_RULE_KIND,
    ClaimSpec,
    DeviceClass,
    DeviceTaintRule,
    ResourceSlice,
)
from descheduler.placement.plugins.dynamic_resources.pools import DevicePools
from descheduler.placement.plugins.dynamic_resources.requests import AskedClaim, DeviceSelectors
from descheduler.placement.plugins.dynamic_resources.rules import DeviceRules

__all__ = ["DeviceCatalog"]


class DeviceCatalog:
    """Slices and classes of one snapshot, for the schedulers of all releases."""

    def __init__(self, snapshot: Snapshot) -> None:
        objects = snapshot.objects
        self.slices: Sequence[ResourceSlice] = objects.get(SLICE_KIND, ())
        classes: Sequence[DeviceClass] = objects.get(DEVICE_CLASS_KIND, ())
        self.classes: Mapping[str, DeviceClass] = {each.name: each for each in classes}
        self.selectors = DeviceSelectors()
        self._taint_rules: Sequence[DeviceTaintRule] = objects.get(TAINT_RULE_KIND, ())
        self._pools: dict[DeviceRules, DevicePools] = {}
        # What was asked for is kept as well, so that an identity stands for it.
        self._asked: dict[int, tuple[ClaimSpec, AskedClaim]] = {}
        self._first: dict[bytes, ClaimSpec] = {}

    def pools(self, rules: DeviceRules) -> DevicePools:
        """The pools as a scheduler of these rules sees them."""
        if rules not in self._pools:
            self._pools[rules] = DevicePools(self.slices, self._taint_rules, rules)
        return self._pools[rules]

    def asked(self, spec: ClaimSpec) -> AskedClaim:
        """What a claim asks for, compiled once for all claims of its content. The classes that it names exist."""
        known = self._asked.get(id(spec))
        if known is None:
            first = self.first_alike(spec)
            made = AskedClaim(spec, self.classes, self.selectors) if first is spec else self.asked(first)
            known = self._asked[id(spec)] = spec, made
        return known[1]

    def first_alike(self, spec: ClaimSpec) -> ClaimSpec:
        """One object for all claims of the same content."""
        return self._first.setdefault(msgspec.json.encode(spec, order="deterministic"), spec)
