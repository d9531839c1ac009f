"""What DynamicResources has against a pod, in words."""

from __future__ import annotations

from typing import NamedTuple

from descheduler.placement.framework.obstacle import ObstacleReason

__all__ = ["BRIEF_BIT", "AttemptFailure", "ClaimFault", "DeviceFault", "for_now"]

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


class AttemptFailure(NamedTuple):
    """The error that one node ends the attempt with, and the same in general words."""

    reason: str
    short: str = DeviceFault.ERROR.short


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
