"""Times as the API writes them."""

from __future__ import annotations

from datetime import datetime

__all__ = ["set_time"]


def set_time(moment: datetime | None) -> datetime | None:
    """`moment`, or None for the zero time of Go. Raises ValueError when the zone is missing."""
    if moment is None or moment.year == 1:
        return None
    if moment.tzinfo is None:
        raise ValueError(f"time {moment.isoformat()!r} has no zone: write 2026-01-02T15:04:05Z")
    return moment
