"""Answers of the eviction API that are known before anybody asks it."""

from __future__ import annotations

from descheduler.eviction.background import BackgroundEvictions
from descheduler.eviction.request_check import PodByPod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.bundles import Bundle, Candidate

__all__ = ["KnownAnswerCheck"]


class KnownAnswerCheck(PodByPod):
    """Refuses what the API is known to refuse, unless its answer says that another controller takes the pod over."""

    def __init__(self, background: BackgroundEvictions) -> None:
        self._background = background

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """What the API would answer."""
        del bundle
        pod = candidate.pod
        answer = self._background.answers.get(pod.key)
        if answer is None or self._background.concern(pod):
            return ACCEPTED
        return refuse(Reason.API_REFUSED, answer.message or f"status {answer.code}", pod.key)
