"""Closed loop: a program evicts on a real control plane, and what becomes of the pods' replacements is counted."""

from __future__ import annotations

from tests.e2e.closed_loop.contenders import OURS, UPSTREAM, Contender
from tests.e2e.closed_loop.loop import play, play_on
from tests.e2e.closed_loop.outcome import Outcome
from tests.e2e.closed_loop.scenario import Scenario, Strategy
from tests.e2e.closed_loop.scenarios import SCENARIOS

__all__ = ["OURS", "SCENARIOS", "UPSTREAM", "Contender", "Outcome", "Scenario", "Strategy", "play", "play_on"]
