"""Ages of pods in whole seconds, as Go's clock arithmetic gives them."""

from __future__ import annotations

from datetime import datetime

from descheduler.model.pod import Pod

__all__ = ["LONGEST_AGE_SECONDS", "age_seconds"]

LONGEST_AGE_SECONDS = (2**63 - 1) // 10**9
"""What Go's longest duration comes to; the age of a pod whose creation time is not set."""


def age_seconds(pod: Pod, now: datetime) -> int:
    """Seconds since the creation of `pod`, truncated towards zero; negative when that lies ahead of `now`."""
    if pod.created_at is None:
        return LONGEST_AGE_SECONDS
    return int((now - pod.created_at).total_seconds())
