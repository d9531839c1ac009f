"""What DynamicResources has against a pod, in words."""

from __future__ import annotations

from typing import NamedTuple

from descheduler.placement.framework.obstacle import ObstacleReason

__all__ = ["AttemptFailure", "ClaimFault", "DeviceFault"]


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
    """The error that one node ends the attempt with."""

    reason: str

    @property
    def short(self) -> str:
        """The same error in general words."""
        return DeviceFault.ERROR.short


class ClaimFault(NamedTuple):
    """Why a claim keeps a pod from being tried: in the words of events, and the same for every pod."""

    reason: str
    short: str
