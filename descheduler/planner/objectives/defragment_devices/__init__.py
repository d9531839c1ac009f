"""`DefragmentDevices`: the same for devices that pods share by parts, or take several of: FGD's figure."""

from __future__ import annotations

from descheduler.planner.objectives.defragment_devices.objective import DefragmentDevices, DefragmentDevicesGoal

__all__ = ["DefragmentDevices", "DefragmentDevicesGoal"]
