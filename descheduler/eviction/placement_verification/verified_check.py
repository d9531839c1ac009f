"""The base of checks that hold for profiles which verify landings."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from descheduler.eviction.placement_verification.placement_verification import verification_args
from descheduler.eviction.request_check import PodByPod
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Verdict
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.policy.types import Profile

__all__ = ["VerifiedCheck"]


class VerifiedCheck(PodByPod):
    """A rule about single pods. Profiles without the proof evict as the program does whose policy it is."""

    def __init__(self, profiles: Sequence[Profile]) -> None:
        self._holds = [verification_args(profile) is not None for profile in profiles]

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """The refusal of the rule, else acceptance."""
        return (self.refusal(candidate.pod) if self._holds[bundle.profile_index] else None) or ACCEPTED

    @abstractmethod
    def refusal(self, pod: Pod) -> Verdict | None:
        """What the rule has against the eviction of `pod`."""
