"""All scenarios, by what the programs have to look at."""

from __future__ import annotations

from tests.e2e.closed_loop.scenarios import neighbours, preferences, replacements, room, spread, storage

__all__ = ["SCENARIOS"]

SCENARIOS = (
    *room.SCENARIOS,
    *neighbours.SCENARIOS,
    *spread.SCENARIOS,
    *storage.SCENARIOS,
    *replacements.SCENARIOS,
    *preferences.SCENARIOS,
)
"""In the order of the table."""
