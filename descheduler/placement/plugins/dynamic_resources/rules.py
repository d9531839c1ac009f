"""What differs between releases of Kubernetes in how devices are allocated."""

from __future__ import annotations

import msgspec

from descheduler.model.kube_version import KubeVersion

__all__ = ["DeviceRules", "knows_order"]


def knows_order(version: KubeVersion) -> bool:
    """Whether devices are tried in a known order; before that the devices that a pod gets are left to chance."""
    return version.gate("tries_devices_in_order")


class DeviceRules(msgspec.Struct, frozen=True):
    """The rules of one release, by the gates of the same meaning."""

    has_taint_rules: bool
    keeps_distinct_values: bool
    counts_by_driver: bool
    sees_counters_by_node: bool
    keeps_short_devices: bool
    charges_shared_once: bool

    @classmethod
    def of(cls, version: KubeVersion) -> DeviceRules:
        """The rules of `version`."""
        return cls(
            has_taint_rules=version.gate("DRADeviceTaintRules"),
            keeps_distinct_values=version.gate("keeps_all_distinct_attributes"),
            counts_by_driver=version.gate("counts_devices_by_driver"),
            sees_counters_by_node=version.gate("sees_counters_by_node"),
            keeps_short_devices=version.gate("keeps_short_devices_among_all"),
            charges_shared_once=version.gate("charges_shared_devices_once"),
        )
