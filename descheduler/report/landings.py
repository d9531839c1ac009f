"""Landings as the plan shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from descheduler.plan.decisions import Decisions
from descheduler.report.plan_document import LandingCause, LandingTotals, PlannedLanding

if TYPE_CHECKING:  # a plan without landings must not pay for numpy
    from descheduler.placement.landings.landing import Landing

__all__ = ["landing_causes", "landing_totals", "planned_landing"]

_UNPROVEN: tuple[Literal["likely", "unknown"], ...] = ("likely", "unknown")


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
        cause=landing.cause,
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
        likely=by_verdict["likely"],
        unknown=by_verdict["unknown"],
        no=by_verdict["no"],
        causes=tuple(landing_causes(landings)),
        returns_to_source=sum(landing.returns_to_source for landing in landings),
        not_created=sum(landing.replacement.pod is None for landing in landings if landing.verdict.value == "lands"),
        together=None if together is None else together.verdict.value,
        conditions=() if together is None else together.conditions,
        certificate="" if together is None else together.certificate,
    )


def landing_causes(landings: Sequence[Landing]) -> Iterator[LandingCause]:
    """One entry a verdict and cause, the most frequent of each verdict first."""
    for verdict in _UNPROVEN:
        counts = Counter(landing.cause for landing in landings if landing.verdict.value == verdict)
        for cause, num_pods in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            yield LandingCause(verdict=verdict, cause=cause, num_pods=num_pods)
