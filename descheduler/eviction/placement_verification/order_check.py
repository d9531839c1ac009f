"""Pods that stay because the replacements of this run may not all be scheduled in whatever order they come."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.eviction.placement_verification.in_any_order import NOTHING_HELD_BACK, HeldBack
from descheduler.eviction.placement_verification.placement_verification import verification_args
from descheduler.eviction.request_check import Allowance, PodByPod, always
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.policy.types import Profile

__all__ = ["OrderCheck"]

_ORDER_DECIDES = "with this pod, the order of the replacement pods decides whether all of them can be scheduled"
_WAY_OUT = (
    "a later run evicts the pod if room is left for its replacement; a DeschedulerConfiguration can evict it in a "
    "later wave of the same run"
)
_NAME = f"the order of the replacements ({Reason.ORDER_DEPENDENT.code})"


class OrderCheck(PodByPod):
    """Refuses what is held back, in profiles that verify landings."""

    def __init__(self, profiles: Sequence[Profile], held_back: HeldBack) -> None:
        self._verifies = [verification_args(profile) is not None for profile in profiles]
        self._held_back = held_back

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """Whether the order of the replacements makes no difference."""
        if self._verifies[bundle.profile_index] and self._held_back.has(candidate.pod):
            cause = self._held_back.cause(candidate.pod) or _ORDER_DECIDES
            return refuse(Reason.ORDER_DEPENDENT, f"{cause}; {_WAY_OUT}")
        return ACCEPTED

    def allowances(self, profile_index: int) -> Sequence[Allowance]:
        """None of what is held back, so that planners do not count on it."""
        if not self._verifies[profile_index] or self._held_back == NOTHING_HELD_BACK:
            return ()
        return (Allowance(lambda pod: True if self._held_back.has(pod) else None, lambda _: 0, name_of=always(_NAME)),)
