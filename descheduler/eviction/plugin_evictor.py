"""What one plugin of one profile sees of the evictor: the profile's filters, and requests in the plugin's name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from descheduler.eviction.checks.scope import EVERYWHERE, Scope
from descheduler.eviction.evictor import Evictor, LastQuestion
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.prior_moves import PriorMove

__all__ = ["EvictGate", "EvictorPlugin", "PluginEvictor"]

_NOT_CREATED = refuse(Reason.MISSING_UID, "the pod is not created yet")


class EvictorPlugin(Protocol):
    """A plugin of the extension points `filter` and `preEvictionFilter`."""

    def filter(self, pod: Pod) -> Verdict:
        """Whether `pod` may be evicted at all."""

    def pre_eviction_filter(self, pod: Pod) -> Verdict:
        """Whether `pod` may be evicted now; asked only for pods that passed the filter."""


class EvictGate(Protocol):
    """What is asked once more at the moment of a request, and counts it when it is granted."""

    def verdict(self, pod: Pod) -> Verdict:
        """Whether the request may go on to the evictor."""

    def count(self, pod: Pod) -> None:
        """Charges a granted request."""

    def adopt(self, moves: Sequence[PriorMove]) -> None:
        """Charges what earlier rounds of the run have evicted in the name of the profile; called before all else."""


class PluginEvictor:
    """The evictor as `plugin` of `profile` uses it."""

    def __init__(
        self,
        evictor: Evictor,
        *,
        profile: str,
        plugin: str,
        filters: Sequence[EvictorPlugin],
        pre_eviction_filters: Sequence[EvictorPlugin],
        gates: Sequence[EvictGate] = (),
        last_question: LastQuestion | None = None,
        scope: Scope = EVERYWHERE,
    ) -> None:
        self._evictor = evictor
        self._profile = profile
        self._plugin = plugin
        self._filters = filters
        self._pre_eviction_filters = pre_eviction_filters
        self._gates = gates
        self._last_question = last_question
        self._scope = scope

    def filter(self, pod: Pod) -> Verdict:
        """The first refusal of the profile's filters, else acceptance. Notes nothing.

        What an earlier round has evicted passes here and below until it is booked again: filters that count pods on the
        move, or those that an owner has left, would refuse it for having left. What is not created yet cannot leave.
        """
        if self._evictor.is_to_come(pod):
            return _NOT_CREATED
        if self._evictor.awaits(pod):
            return ACCEPTED
        for plugin in self._filters:
            verdict = plugin.filter(pod)
            if verdict.reason is not None:
                return verdict
        return ACCEPTED

    def pre_eviction_filter(self, pod: Pod) -> Verdict:
        """The first refusal of the profile's pre-eviction filters, else acceptance. Notes nothing."""
        if self._evictor.is_to_come(pod):
            return _NOT_CREATED
        if self._evictor.awaits(pod):
            return ACCEPTED
        for plugin in self._pre_eviction_filters:
            verdict = plugin.pre_eviction_filter(pod)
            if verdict.reason is not None:
                return verdict
        return ACCEPTED

    def admits(self, candidate: Pod) -> bool:
        """Whether the filter accepts a pod that the plugin wants gone; a refusal is noted for the report."""
        return self._noted(candidate, self.filter(candidate))

    def admits_now(self, candidate: Pod) -> bool:
        """Whether the pre-eviction filter accepts a pod that the plugin wants gone; a refusal is noted."""
        return self._noted(candidate, self.pre_eviction_filter(candidate))

    def num_taken_before(self, node_name: str) -> int:
        """How many pods of the node the plugin has evicted in earlier rounds of the run."""
        return self._evictor.num_taken_before(node_name, profile=self._profile, plugin=self._plugin)

    def keep(self, candidate: Pod, verdict: Verdict) -> None:
        """Notes why the plugin itself keeps a candidate."""
        self._evictor.keep(candidate, profile=self._profile, plugin=self._plugin, verdict=verdict)

    def request(self, candidate: Pod, reason: str = "") -> Verdict:
        """Asks for the eviction; see `Evictor.request`. `reason` is the sentence that the plan shows.

        A pod out of scope is refused before anything is counted, and noted as one that nobody asked for.
        """
        if self._evictor.is_to_come(candidate):
            return _NOT_CREATED
        verdict = self._scope.verdict(candidate)
        if not verdict.is_accepted:
            self.keep(candidate, verdict)
            return verdict
        gates = () if self._evictor.awaits(candidate) else self._gates
        for gate in gates:
            verdict = gate.verdict(candidate)
            if not verdict.is_accepted:
                evictor, profile, plugin = self._evictor, self._profile, self._plugin
                return evictor.refuse(candidate, profile=profile, plugin=plugin, verdict=verdict)
        verdict = self._evictor.request(
            candidate,
            profile=self._profile,
            plugin=self._plugin,
            reason=reason,
            last_question=self._last_question,
        )
        if verdict.is_accepted:
            for gate in gates:
                gate.count(candidate)
        return verdict

    def _noted(self, candidate: Pod, verdict: Verdict) -> bool:
        if verdict.reason is None:
            return True
        self.keep(candidate, verdict)
        return False
