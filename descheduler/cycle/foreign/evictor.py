"""The evictor as plugins see it that are not of this program: it asks the profile's filters where they forget to."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from descheduler.cycle.foreign.answers import checked_verdict
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.eviction.wrapped_evictor import WrappedEvictor
from descheduler.model.held_room import HeldRoom
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Verdict
from descheduler.plan.bundles import Candidate
from descheduler.policy.plugin_faults import WrongAnswer, at_most, is_of, text_of

_MOST_WAVE = 1_000_000


class ForeignEvictor(WrappedEvictor):
    """Asks the filters about each pod that is requested, once: not about those that they have passed before.

    Everything that a plugin hands over is checked; what makes no sense raises WrongAnswer, in the plugin's own code.
    """

    def __init__(self, inner: PluginEvictor, view: ClusterView) -> None:
        super().__init__(inner)
        self._view = view
        self._most = len(view.snapshot.pods)
        self._let_go: set[int] = set()
        """Identities of pods that the filter accepts; below, of those that the pre-eviction filter does."""
        self._let_go_now: set[int] = set()

    def filter(self, pod: Pod) -> Verdict:
        """As `inner`; what is accepted is not asked again."""
        verdict = super().filter(self._known(pod))
        if verdict.is_accepted:
            self._let_go.add(id(pod))
        return verdict

    def pre_eviction_filter(self, pod: Pod) -> Verdict:
        """As `inner`; what is accepted is not asked again."""
        verdict = super().pre_eviction_filter(self._known(pod))
        if verdict.is_accepted:
            self._let_go_now.add(id(pod))
        return verdict

    def keep(self, candidate: Pod, verdict: Verdict, reason: str = "") -> None:
        """As `inner`."""
        checked = checked_verdict(verdict)
        if checked.is_accepted:
            raise WrongAnswer("keep() was told that the pod can be evicted")
        super().keep(self._known(candidate), checked, _reason(reason))

    def request_all(self, candidates: Iterable[Candidate]) -> Verdict:
        """As `inner`, of pods that both filters pass; refusals are noted."""
        given = at_most(candidates, self._most, "request_all()")
        bundle = [self._checked(candidate) for candidate in given]
        for candidate in bundle:
            verdict = self._verdict_on(candidate.pod)
            if not verdict.is_accepted:
                for each in bundle:
                    super().keep(each.pod, verdict, each.reason)
                return verdict
        return super().request_all(bundle) if bundle else ACCEPTED

    def _verdict_on(self, pod: Pod) -> Verdict:
        """What the filters say that have not let `pod` go before."""
        verdict = ACCEPTED if id(pod) in self._let_go else self.filter(pod)
        if verdict.is_accepted and id(pod) not in self._let_go_now:
            verdict = self.pre_eviction_filter(pod)
        return verdict

    def _checked(self, given: object) -> Candidate:
        candidate = is_of(given, Candidate, "a candidate")
        pod = self._known(candidate.pod)
        self._check_target(text_of(candidate.target_node, "target_node"))
        rooms = tuple([self._checked_room(room) for room in at_most(candidate.rooms, self._most, "rooms")])
        serves = tuple([self._known(each) for each in at_most(candidate.serves, self._most, "serves")])
        if not 1 <= is_of(candidate.wave, int, "the wave of a candidate") <= _MOST_WAVE:
            raise WrongAnswer(f"the wave of a candidate is {candidate.wave}, which is not between 1 and {_MOST_WAVE:,}")
        if candidate.cost is not None:
            is_of(candidate.cost, int, "the cost of a candidate")
        reason = _reason(candidate.reason)
        return replace(candidate, pod=pod, reason=reason, rooms=rooms, serves=serves, is_mate=False)

    def _checked_room(self, given: object) -> HeldRoom:
        room = is_of(given, HeldRoom, "a room")
        self._known(room.pod)
        self._check_target(text_of(room.node, "the node of a room"))
        return room

    def _check_target(self, name: str) -> None:
        if name and name not in self._view.nodes:
            raise WrongAnswer(f"node {text_of(name, 'a node', 100)} does not exist")

    def _known(self, given: object) -> Pod:
        """The pod of the cluster, or one that comes for an evicted one: what filters judge must be what is evicted."""
        pod = is_of(given, Pod, "a pod")
        snapshot = self._view.snapshot
        alike = snapshot.pods_by_node.get(pod.node_name, ()) if pod.node_name else snapshot.pods
        if not self._view.is_arrival(pod) and not any(each is pod for each in alike):
            raise WrongAnswer(
                f"pod {text_of(pod.key, 'a pod', 300)} is not one of the pods of the cluster that were read"
            )
        return pod


def _reason(reason: object) -> str:
    return text_of(reason, "the reason of an eviction")
