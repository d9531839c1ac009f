"""Landings as the plan shows them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from descheduler.eviction.evictor import Evictor
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


def landing_totals(evictor: Evictor) -> LandingTotals:
    """How many of the evicted pods are created again and land."""
    evicted = [booked.pod for booked in evictor.booked if not booked.is_repeated]
    landings = [landing for pod in evicted if (landing := evictor.landings.landing_of(pod)) is not None]
    together = evictor.landings.together
    by_verdict = Counter(landing.verdict.value for landing in landings)
    return LandingTotals(
        is_verified=evictor.landings.is_verifying,
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
