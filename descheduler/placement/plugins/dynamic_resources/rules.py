"""What DynamicResources says against a pod, and what differs between releases of Kubernetes."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from descheduler.model.kube_version import KubeVersion
from descheduler.placement.framework.obstacle import ObstacleReason

BRIEF_BIT = 128
"""Beside the bit of a DeviceFault: it is a state of seconds, as pools of devices are being published, or one that hangs
on when the scheduler was started."""


class DeviceFault(ObstacleReason):
    """Why a node has no devices for a pod."""

    NO_DEVICES = 1, "cannot allocate all claims", "cannot allocate devices for all resource claims"
    INVALID_POOLS = 2, "invalid resource pools were encountered", "invalid pools of devices"
    ELSEWHERE = 4, "resourceclaim not available on the node", "an allocated resource claim is not available there"
    UNSERVED = 8, "cannot fit resource", "no device plugin and no DeviceClass serves an extended resource"
    LEFT_OVER = (
        16,
        "cannot schedule extended resource claim",
        "a resource claim of an earlier attempt has to be deleted first",
    )
    ERROR = 32, "the attempt ends with an error", "the allocation of devices ends with an error"
    ENDED = 64, "an error on another node ends the attempt", "an error on another node ends the attempt"


class ClaimFault(NamedTuple):
    """Why a claim keeps a pod from being tried: in the words of events, and the same for every pod.

    With `is_brief` it does so for seconds.
    """

    reason: str
    short: str
    is_brief: bool = False


def for_now(fault: DeviceFault) -> str:
    """The general words for a fault with BRIEF_BIT."""
    if fault is DeviceFault.UNSERVED:
        return f"{fault.short}, unless kube-scheduler was started before another DeviceClass was created"
    return f"{fault.short} while a pool of devices is incomplete or being updated"


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
        return cls(
            has_taint_rules=version.gate("DRADeviceTaintRules"),
            keeps_distinct_values=version.gate("keeps_all_distinct_attributes"),
            counts_by_driver=version.gate("counts_devices_by_driver"),
            sees_counters_by_node=version.gate("sees_counters_by_node"),
            keeps_short_devices=version.gate("keeps_short_devices_among_all"),
            charges_shared_once=version.gate("charges_shared_devices_once"),
        )
