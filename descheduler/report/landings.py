"""Landings as the plan shows them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from descheduler.plan.decisions import Decisions
from descheduler.report.plan_document import LandingTotals, PlannedLanding

if TYPE_CHECKING:  # a plan without landings must not pay for numpy
    from descheduler.placement.landings.landing import Landing

__all__ = ["landing_totals", "planned_landing"]


def planned_landing(landing: Landing) -> PlannedLanding:
    """One landing in plain values."""
    return PlannedLanding(
        verdict=landing.verdict.value,
        cold=landing.cold.value,
        settled=landing.settled.value,
        nodes=landing.ties,
        margin=landing.margin,
        returns_to_source=landing.returns_to_source,
        conditions=landing.conditions,
        message=landing.message,
    )


def landing_totals(decisions: Decisions) -> LandingTotals:
    """How many of the evicted pods are created again and land."""
    evicted, together = decisions.leaving, decisions.together
    landings = [move.landing for move in evicted if move.landing is not None]
    by_verdict = Counter(landing.verdict.value for landing in landings)
    return LandingTotals(
        is_verified=decisions.is_verified,
        num_evicted=len(evicted),
        num_assessed=len(landings),
        lands=by_verdict["lands"],
        lands_if=by_verdict["lands_if"],
        no=by_verdict["no"],
        unknown=by_verdict["unknown"],
        returns_to_source=sum(landing.returns_to_source for landing in landings),
        not_created=sum(landing.replacement.pod is None for landing in landings if landing.verdict.value == "lands"),
        together=None if together is None else together.verdict.value,
        conditions=() if together is None else together.conditions,
        certificate="" if together is None else together.certificate,
    )
