"""How pods that Volcano places one after another bear on each other: by their queues, their gangs and their nodes."""

from __future__ import annotations

from collections.abc import Container, Mapping

import numpy as np

from descheduler.model.pod import Pod
from descheduler.placement.framework.interactions import (
    BY_REQUESTS,
    GatheredPods,
    Interplay,
    JoinedInteractions,
    Meetings,
    meeting_each_other,
)
from descheduler.placement.volcano.live_session import LiveSession
from descheduler.placement.volcano.plugins.kube_scheduler import KubeFilters

__all__ = ["VolcanoInterplay"]

_QUEUE, _MINIMUM = "queue", "minMember"
_PREDICATES = "predicates"
_SCHEDULER, _ENQUEUE = "volcano", "enqueue"


class _Cautious(Interplay):
    """Of filters that are not those of kube-scheduler anything may be expected."""


class VolcanoInterplay(Interplay):
    """Jobs that need no pod beside the one that is placed are bound pod by pod: their queue and the nodes decide.

    What a queue may hold depends on what all pods ask for that exist, not on their nodes, and so does the admission of
    a job that no other one waits for as well. Pods of any other job that needs more pods to run wait for each other and
    for its admission, on which every pod bears that takes room.
    """

    def __init__(self, live: LiveSession) -> None:
        self._live = live
        session = live.opened_last
        deciding = {name for tier in session.tiers.named("predicate") for name, _ in tier}
        filters = session.accounts.get(_PREDICATES)
        self._nodes: Interplay = _Cautious()
        if not deciding:
            self._nodes = JoinedInteractions({_SCHEDULER: BY_REQUESTS})
        elif deciding == {_PREDICATES} and isinstance(filters, KubeFilters) and not filters.is_proportional:
            self._nodes = filters.interplay
        plugins = (option.name for option in session.configuration.plugins)
        self.quotas = frozenset({_QUEUE, _SCHEDULER, _ENQUEUE, *plugins})

    def _is_bound_alone(self, pod: Pod) -> bool:
        """Whether the job of `pod` needs none of its pods but this one, as the cluster is now."""
        if self._is_complete(pod):
            return True
        job = self._live.job_of(pod)
        is_completed = job is not None and job.num_ready + 1 >= job.min_available and not job.role_minimums
        return is_completed and not self._live.has_waiting_jobs

    def _is_complete(self, pod: Pod) -> bool:
        """Whether it needs none at all."""
        job = self._live.job_of(pod)
        return job is not None and self._live.opened_last.tiers.all_of("job_ready", job)

    def _can_spare_one(self, pod: Pod) -> bool:
        """Whether it has one more than that; False where that depends on its task."""
        job = self._live.job_of(pod)
        return job is not None and not job.role_minimums and job.num_ready > job.min_available

    def can_be_helped(self, pod: Pod) -> bool:
        """Whether others of its job complete it, or a filter may."""
        return not self._is_bound_alone(pod) or self._nodes.can_be_helped(pod)

    def is_felt_widely(self, pod: Pod) -> bool:
        """Whether a filter feels it. Queues are felt by pods of Volcano, none of which is local."""
        return self._nodes.is_felt_widely(pod)

    def hinders_while_ending(self, ending: Pod, pod: Pod) -> bool:
        """Whether it does by a filter, or holds room that counts for the admission of the job."""
        return not self._can_spare_one(pod) or self._nodes.hinders_while_ending(ending, pod)

    def interacting(self, gathered: GatheredPods, *, but_for: Container[str] = ()) -> Mapping[str, Meetings]:
        """By queues those that are in some job, by minimums every other with each of those that wait for their job."""
        found = dict(self._nodes.interacting(gathered, but_for=but_for))
        everyone = np.arange(len(gathered.pods))
        own = gathered.where(lambda pod: self._live.job_of(pod) is not None)
        waiting = gathered.where(lambda pod: not self._is_bound_alone(pod))
        rules = {_QUEUE: meeting_each_other(own), _MINIMUM: iter([(everyone, waiting)])}
        return found | {
            rule: Meetings(len(everyone), meetings) for rule, meetings in rules.items() if rule not in but_for
        }

    def reaches(self, rule: str, pod: Pod) -> bool:
        """Whether it does by a filter."""
        return self._nodes.reaches(rule, pod)

    def closing(self, gathered: GatheredPods) -> Meetings:
        """Which do by a filter."""
        return self._nodes.closing(gathered)
