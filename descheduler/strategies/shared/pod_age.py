"""Ages of pods in whole seconds, as Go's clock arithmetic gives them."""

from __future__ import annotations

from datetime import datetime

from descheduler.model.pod import Pod

__all__ = ["LONGEST_AGE_SECONDS", "age_seconds", "age_words"]

LONGEST_AGE_SECONDS = (2**63 - 1) // 10**9
"""What Go's longest duration comes to; the age of a pod whose creation time is not set."""

_STEPS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def age_seconds(pod: Pod, now: datetime) -> int:
    """Seconds since the creation of `pod`, truncated towards zero; negative when that lies ahead of `now`."""
    if pod.created_at is None:
        return LONGEST_AGE_SECONDS
    return int((now - pod.created_at).total_seconds())


def age_words(seconds: int) -> str:
    """Such as `3 h old` or `1 d 2 h old`: the two largest units."""
    if seconds == LONGEST_AGE_SECONDS:
        return "without a creation time"
    parts, rest = [], max(0, seconds)
    for step, unit in _STEPS:
        number, rest = divmod(rest, step)
        if number:
            parts.append(f"{number} {unit}")
    return f"{' '.join(parts[:2]) or '0 s'} old"
