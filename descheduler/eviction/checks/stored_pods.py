"""Only what the API server has stored can be evicted."""

from __future__ import annotations

from descheduler.eviction.request_check import PodByPod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.bundles import Bundle, Candidate

__all__ = ["StoredPodCheck"]


class StoredPodCheck(PodByPod):
    """Refuses objects without a UID, as kubernetes-sigs/descheduler 0.36 does."""

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """Whether the pod has a UID."""
        del bundle
        pod = candidate.pod
        return ACCEPTED if pod.uid else refuse(Reason.MISSING_UID, f"pod {pod.key} is missing UID", pod.key)
