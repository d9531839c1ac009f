"""Which pods the operator lets a run move: those of some namespaces, with some labels."""

from __future__ import annotations

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.request_check import PodByPod
from descheduler.model.pod import Pod
from descheduler.model.selection.labels import EVERYTHING, LabelSelector
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.bundles import Bundle, Candidate


class Scope(msgspec.Struct, frozen=True):
    """Pods of `namespaces`, of all when there are none, that `selector` matches. `labels` is its text, for messages.

    It is asked at the moment of a request, not by filters: pods out of scope stay in their place, and plugins go on
    counting them as partners, replicas and usage.
    """

    namespaces: frozenset[str] = frozenset()
    selector: LabelSelector = EVERYTHING
    labels: str = ""

    def verdict(self, pod: Pod) -> Verdict:
        """Whether the run may move `pod`."""
        if self._includes(pod):
            return ACCEPTED
        return refuse(Reason.OUT_OF_SCOPE, f"the run is limited to {self}", pod.key)

    def note_on(self, snapshot: Snapshot) -> tuple[str, ...]:
        """A sentence when no pod of `snapshot` is in scope, as a misspelt name would have it."""
        if not snapshot.pods or any(self._includes(pod) for pod in snapshot.pods):
            return ()
        return (f"the run is limited to {self}, and the cluster has none",)

    def _includes(self, pod: Pod) -> bool:
        return (not self.namespaces or pod.namespace in self.namespaces) and self.selector.matches(pod.labels)

    def __str__(self) -> str:
        """The scope as part of a sentence."""
        labels = f" with labels {self.labels}" if self.labels else ""
        if not self.namespaces:
            return f"pods{labels}"
        noun = "namespace" if len(self.namespaces) == 1 else "namespaces"
        return f"pods of {noun} {', '.join(sorted(self.namespaces))}{labels}"


EVERYWHERE = Scope()
"""Every pod."""


class ScopeCheck(PodByPod):
    """Refuses pods out of the scope of the run."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """Whether the run may move the pod."""
        return self.of_scope(candidate.pod)

    def of_scope(self, pod: Pod) -> Verdict:
        """Whether the run may move the pod."""
        return self._scope.verdict(pod)
