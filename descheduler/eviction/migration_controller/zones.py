"""Time zones by their names in the IANA database."""

from __future__ import annotations

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

__all__ = ["zone_named"]


def zone_named(name: str) -> ZoneInfo:
    """The zone, UTC for "". Raises ValueError when there is none of this name."""
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"{name!r} is not a time zone; use a name such as Europe/Berlin or UTC") from error
