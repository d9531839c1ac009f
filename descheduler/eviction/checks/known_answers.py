"""Answers of the eviction API that are known before anybody asks it, such as about pods that it has not stored."""

from __future__ import annotations

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.background import BackgroundEvictions
from descheduler.eviction.request_check import PodByPod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.bundles import Bundle, Candidate

_NOTHING_CREATED = "the API server refuses evictions in it, and a replacement pod is not created"


class KnownAnswerCheck(PodByPod):
    """Refuses what the API is known to refuse, unless its answer says that another controller takes the pod over.

    In a namespace that is being deleted nothing can be created, evictions included.
    """

    def __init__(self, snapshot: Snapshot, background: BackgroundEvictions) -> None:
        self._namespaces = snapshot.namespaces
        self._background = background

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """What the API would answer."""
        pod = candidate.pod
        namespace = self._namespaces.get(pod.namespace)
        if namespace is not None and namespace.is_terminating:
            message = f"namespace {namespace.name} is being deleted: {_NOTHING_CREATED}"
            return refuse(Reason.NAMESPACE_TERMINATING, message, namespace.name)
        answer = self._background.answers.get(pod.key)
        if answer is None or self._background.concern(pod):
            return ACCEPTED
        return refuse(Reason.API_REFUSED, answer.message or f"status {answer.code}", pod.key)


class StoredPodCheck(PodByPod):
    """Refuses objects without a UID, as kubernetes-sigs/descheduler 0.36 does."""

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """Whether the pod has a UID."""
        pod = candidate.pod
        return ACCEPTED if pod.uid else refuse(Reason.MISSING_UID, f"pod {pod.key} is missing UID", pod.key)
