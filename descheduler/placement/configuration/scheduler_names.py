"""Names of schedulers that are known without a configuration; policies are checked without what these run."""

from __future__ import annotations

__all__ = ["KOORD_SCHEDULER"]

KOORD_SCHEDULER = "koord-scheduler"
"""The scheduler of Koordinator, as pods name it."""
