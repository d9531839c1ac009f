"""What one plugin of one profile sees of the evictor: the profile's filters, and requests in the plugin's name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Literal, Protocol

from descheduler.eviction.evictor import Evictor
from descheduler.eviction.request_check import Allowance
from descheduler.model.held_room import NOTHING_HELD, HeldRooms
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Verdict, refuse
from descheduler.plan.bundles import Bundle, Candidate

if TYPE_CHECKING:  # numpy takes longer to import than validating a policy may
    from descheduler.placement.landings.landing import Landing
    from descheduler.placement.prover import LandingProver

ReasonOf = str | Callable[[Pod], str]
"""The sentence with which a plugin selects a pod, or what gives it; asked only where somebody wants to know."""


class EvictorPlugin(Protocol):
    """A plugin of the extension points `filter` and `preEvictionFilter`."""

    def filter(self, pod: Pod) -> Verdict:
        """Whether `pod` may be evicted at all."""

    def pre_eviction_filter(self, pod: Pod) -> Verdict:
        """Whether `pod` may be evicted now; asked only for pods that passed the filter."""


class PluginEvictor:
    """The evictor as `plugin` of `profile`, which is the one at `profile_index` of the policy, uses it."""

    def __init__(
        self,
        evictor: Evictor,
        *,
        profile: str,
        plugin: str,
        filters: Sequence[EvictorPlugin],
        pre_eviction_filters: Sequence[EvictorPlugin],
        profile_index: int = 0,
    ) -> None:
        self._evictor = evictor
        self._profile = profile
        self.profile_index = profile_index
        self._plugin = plugin
        self._filters = [plugin.filter for plugin in filters]
        self._pre_eviction_filters = [plugin.pre_eviction_filter for plugin in pre_eviction_filters]

    def filter(self, pod: Pod) -> Verdict:
        """The first refusal of the profile's filters, else acceptance. Notes nothing.

        What an earlier round has evicted passes here and below until it is booked again: filters that count pods on the
        move, or those that an owner has left, would refuse it for having left. What is not created yet cannot leave.
        """
        settled = self._evictor.settled(pod)
        if settled is not None:
            return settled
        for ask in self._filters:
            verdict = ask(pod)
            if verdict.reason is not None:
                return verdict
        return ACCEPTED

    def pre_eviction_filter(self, pod: Pod) -> Verdict:
        """The first refusal of the profile's pre-eviction filters, else acceptance. Notes nothing."""
        settled = self._evictor.settled(pod)
        if settled is not None:
            return settled
        for ask in self._pre_eviction_filters:
            verdict = ask(pod)
            if verdict.reason is not None:
                return verdict
        return ACCEPTED

    def admits(self, candidate: Pod, reason: ReasonOf = "") -> bool:
        """Whether the filter accepts a pod that the plugin selects; a refusal is noted, with the plugin's reason."""
        verdict = self.filter(candidate)
        return verdict.reason is None or self._refused(candidate, verdict, reason)

    def admits_now(self, candidate: Pod, reason: ReasonOf = "") -> bool:
        """Whether the pre-eviction filter accepts a pod that the plugin selects; a refusal is noted likewise."""
        verdict = self.pre_eviction_filter(candidate)
        return verdict.reason is None or self._refused(candidate, verdict, reason)

    def lets_go(self, candidate: Pod, reason: ReasonOf = "") -> bool:
        """Whether both filters accept a pod that the plugin selects; a refusal is noted likewise."""
        return self.admits(candidate, reason) and self.admits_now(candidate, reason)

    def num_taken_before(self, node_name: str) -> int:
        """How many pods of the node the plugin has evicted in earlier rounds of the run."""
        return self._evictor.num_taken_before(node_name, profile=self._profile, plugin=self._plugin)

    def begin_turn(self) -> None:
        """Has what the plugin and later ones are granted from now on stay before what was granted until now.

        That counts where not all of it can leave at once, as the order of the replacements decides.
        """
        self._evictor.turn += 1

    @property
    def num_leaving(self) -> int:
        """How many pods the plugin has evicted in earlier rounds of the run, or was granted in this one."""
        return self._evictor.num_leaving(profile=self._profile, plugin=self._plugin)

    @property
    def num_leaving_for_others(self) -> int:
        """How many pods leave by grants of this cycle to other plugins."""
        moves = self._evictor.book.moves
        return sum(not (move.is_repeated or move.is_of(self._profile, self._plugin)) for move in moves)

    def num_leaving_with(self, candidates: Sequence[Candidate]) -> int:
        """The same once all of `candidates` are granted, with the pods that have to leave with them."""
        pods = {pod.uid: pod for pod in (each.pod for each in candidates)}
        pods |= {pod.uid: pod for pod in self._evictor.mates_of(self._bundle(candidates))}
        return self.num_leaving + sum(not self.has_booked(pod) for pod in pods.values())

    def keep(self, candidate: Pod, verdict: Verdict, reason: str = "") -> None:
        """Notes why the plugin itself keeps a candidate that it selects for `reason`."""
        self._evictor.keep(candidate, profile=self._profile, plugin=self._plugin, verdict=verdict, reason=reason)

    def request(self, candidate: Pod, reason: str = "") -> Verdict:
        """Asks for the eviction of one pod. `reason` is the sentence that the plan shows."""
        return self.request_all((Candidate(candidate, reason),))

    def request_all(self, candidates: Iterable[Candidate]) -> Verdict:
        """Asks for all of `candidates` or none, with the pods that have to leave with them; see `Evictor.request`."""
        bundle = self._bundle(candidates)
        mates = self._evictor.mates_of(bundle)
        if not mates:
            return self._evictor.request(bundle)
        names = ", ".join(pod.key for pod in bundle.pods)
        whole = bundle.with_mates(mates, f"has to leave together with {names}, which is of the same gang")
        return self._evictor.request_whole(whole, self._first_refusal(mates))

    def _bundle(self, candidates: Iterable[Candidate]) -> Bundle:
        return Bundle(self._profile, self._plugin, tuple(candidates), self.profile_index)

    def of_scope(self, pod: Pod) -> Verdict:
        """Whether the run may move `pod` at all, which no other eviction changes."""
        return self._evictor.of_scope(pod)

    def allowances(self) -> Sequence[Allowance]:
        """How many pods may still go, as far as that is counted."""
        return self._evictor.allowances(self.profile_index)

    @property
    def last_wave(self) -> int:
        """The wave of the last move that was granted in this cycle, 0 where there is none."""
        return self._evictor.book.last_wave

    def prover(self) -> LandingProver:
        """What knows where the replacements of all that is booked land, under the scheduler of the profile."""
        return self._evictor.landings.prover_of(self.profile_index)

    def has_booked(self, pod: Pod) -> bool:
        """Whether somebody's request for the eviction of `pod` was granted in this cycle."""
        return self._evictor.book.has(pod)

    def arrivals(self) -> Sequence[tuple[Pod, Pod | None]]:
        """The pods whose eviction is booked, in order, each with the one that comes for it, bound to where it lands.

        None where none comes, or where it is not known for certain.
        """
        landings = self._evictor.landings
        return [(pod, landings.arrival_of(pod)) for pod, _ in landings.leaving]

    def predicted(self, pod: Pod, held: HeldRooms = NOTHING_HELD) -> Landing:
        """Where the replacement of `pod` would land on top of everything booked. Leaves no trace.

        That is the node on which room is `held` for it, if room can be held there and for the others.
        """
        return self._evictor.landings.predicted(pod, self.profile_index, held)

    def what_if(self) -> AbstractContextManager[None]:
        """A context at whose end all that was granted, refused and noted in it is taken back."""
        return self._evictor.what_if()

    def _first_refusal(self, mates: Sequence[Pod]) -> Verdict:
        """What the profile's filters, which have not seen these pods, have against one of them, else acceptance."""
        for pod in mates:
            for ask in (self.filter, self.pre_eviction_filter):
                verdict = ask(pod)
                if verdict.reason is not None:
                    return refuse(verdict.reason, f"pod {pod.key} has to stay: {verdict.message}", verdict.subject)
        return ACCEPTED

    def _refused(self, candidate: Pod, verdict: Verdict, reason: ReasonOf) -> Literal[False]:
        """Notes the refusal of a candidate."""
        self.keep(candidate, verdict, reason if isinstance(reason, str) else reason(candidate))
        return False
