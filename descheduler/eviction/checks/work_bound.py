"""An end to planning that only the report is for: counted in landings, so that the same input ends at the same pod."""

from __future__ import annotations

from descheduler.eviction.placement_verification.landing_book import LandingBook
from descheduler.eviction.request_check import PodByPod
from descheduler.model.verdict import ACCEPTED, EvictionLimit, LimitReached, Verdict, limit_reached
from descheduler.plan.bundles import Bundle, Candidate

__all__ = ["WorkBound", "is_out_of_work"]

_ENOUGH = limit_reached(LimitReached(EvictionLimit.TOTAL, 0))
"""Plugins stop at it as at the limit of the run. No report shows it."""


class WorkBound(PodByPod):
    """Refuses every request once `landings` has judged `most_judged` of them, about a millisecond each."""

    def __init__(self, landings: LandingBook, most_judged: int) -> None:
        self._landings = landings
        self._most_judged = most_judged

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """Whether there is work left to be done."""
        del candidate, bundle
        return ACCEPTED if self._landings.num_judged < self._most_judged else _ENOUGH


def is_out_of_work(verdict: Verdict) -> bool:
    """Whether a request was refused by the bound, which says nothing about its pods."""
    return verdict.reached is _ENOUGH.reached
