"""What one run of a policy decides about some pods, in the order in which it does.

The evictor keeps of each candidate the first rule alone, and of the filters nothing. A watch stands between the
plugins and the evictor instead: it wraps the rows of the plugin table, passes everything on, and changes no decision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, NamedTuple, cast

import msgspec
from msgspec.structs import replace

from descheduler.cycle.deciding.round import Operation
from descheduler.eviction.handle import Handle
from descheduler.eviction.plugin_evictor import EvictorPlugin, PluginEvictor
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.eviction.wrapped_evictor import WrappedEvictor
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Verdict
from descheduler.plan.bundles import Candidate
from descheduler.plan.moves import Move
from descheduler.policy.plugin import Registry
from descheduler.strategies.proposals import ProposalRecorder


class Wish(msgspec.Struct, frozen=True):
    """`plugin` wanted `pod` gone. `is_request` tells an eviction that was asked for from a mere candidate.

    `reason` is the sentence of a request. `num_granted` counts the requests, for any pod, that were granted before.
    """

    pod: Pod
    profile: str
    plugin: str
    is_request: bool
    reason: str
    verdict: Verdict
    num_granted: int


class _Mark(NamedTuple):
    num_wishes: int
    num_granted: int
    refused: dict[tuple[str, str], dict[str, set[int]]]
    wanted: dict[tuple[str, str], dict[str, set[int]]]
    evictors: dict[str, PluginEvictor]
    strategies: dict[tuple[str, str], object]


class RunWitness:
    """Watches what becomes of the pods `watched`, and which pods each filter refuses.

    It is handed to `decide` twice: `registry(...)` in place of the plugin table, and itself as the observer.
    """

    def __init__(self, watched: Iterable[Pod]) -> None:
        self._watched = {id(pod) for pod in watched}
        self._profile = ""
        self._evictors: dict[str, PluginEvictor] = {}
        self._strategies: dict[tuple[str, str], object] = {}
        self.wishes: list[Wish] = []
        self.granted: list[Pod] = []
        """The pods of all granted requests, in order."""
        self.refused: dict[tuple[str, str], dict[str, set[int]]] = {}
        """(profile, filter plugin) → reason code → identities of the pods that it refused."""
        self._wanted: dict[tuple[str, str], dict[str, set[int]]] = {}

    def registry(self, registry: Registry) -> Registry:
        """`registry` with every plugin under watch."""
        return {name: replace(spec, factory=self._factory(name, spec.factory)) for name, spec in registry.items()}

    @contextmanager
    def plugin_run(self, profile: str, plugin: str, operation: Operation) -> Iterator[None]:
        """Notes whose turn it is, as a PluginObserver."""
        self._profile = profile
        yield

    def mark(self) -> _Mark:
        """What was noted so far, as a PluginObserver."""
        noted = len(self.wishes), len(self.granted), deepcopy(self.refused), deepcopy(self._wanted)
        return _Mark(*noted, dict(self._evictors), dict(self._strategies))

    def back_to(self, mark: _Mark) -> None:
        """Takes back what was noted since, and what was built."""
        del self.wishes[mark.num_wishes :], self.granted[mark.num_granted :]
        self.refused, self._wanted = deepcopy(mark.refused), deepcopy(mark.wanted)
        self._evictors, self._strategies = dict(mark.evictors), dict(mark.strategies)

    def reordered(self, moves: Sequence[Move]) -> None:
        """Notes that some requests were granted after all, ahead of others, as a PluginObserver."""
        places = {(id(move.pod), move.profile, move.plugin): place for place, move in enumerate(moves)}
        for number, wish in enumerate(self.wishes):
            place = places.get((id(wish.pod), wish.profile, wish.plugin))
            if wish.is_request and place is not None:
                self.wishes[number] = replace(wish, verdict=ACCEPTED, num_granted=place)
        for move in moves:
            for pods in self._wanted.get((move.profile, move.plugin), {}).values():
                pods.discard(id(move.pod))
            _note(self._wanted, (move.profile, move.plugin), "", move.pod)
        self.granted = [move.pod for move in moves]

    @contextmanager
    def paused(self) -> Iterator[None]:
        """A context that leaves nothing noted: what happens in it is taken back."""
        mark = self.mark()
        try:
            yield
        finally:
            self.back_to(mark)

    def filters_of(self, profile: str, pod: Pod) -> Verdict:
        """What the filters of a profile say of `pod` after the run; acceptance for a profile that ran no plugin."""
        evictor = self._evictors.get(profile)
        if evictor is None:
            return ACCEPTED
        verdict = evictor.filter(pod)
        return evictor.pre_eviction_filter(pod) if verdict.is_accepted else verdict

    def wanted_by(self, profile: str, plugin: str) -> set[int]:
        """The identities of the pods that the plugin selected."""
        return set[int]().union(*self._wanted.get((profile, plugin), {}).values())

    def turned_down(self, profile: str, plugin: str) -> dict[str, set[int]]:
        """Reason code → identities of the pods that the plugin selected and did not get."""
        return {code: set(pods) for code, pods in self._wanted.get((profile, plugin), {}).items() if code}

    def strategy(self, profile: str, plugin: str) -> object:
        """The strategy that the run has built, None when it did not come to that."""
        return self._strategies.get((profile, plugin))

    def note_wish(self, plugin: str, pod: Pod, verdict: Verdict, *, is_request: bool, reason: str = "") -> None:
        """Notes what a plugin met that wanted `pod` gone."""
        _note(self._wanted, (self._profile, plugin), "" if verdict.is_accepted else verdict.code, pod)
        if id(pod) in self._watched:
            wish = Wish(pod, self._profile, plugin, is_request, reason, verdict, len(self.granted))
            self.wishes.append(wish)
        if is_request and verdict.is_accepted:
            self.granted.append(pod)

    def note_refusal(self, plugin: str, pod: Pod, verdict: Verdict) -> None:
        """Notes that a filter refuses `pod`."""
        if verdict.reason is not None:
            _note(self.refused, (self._profile, plugin), verdict.code, pod)

    def _factory(self, name: str, factory: Callable[[Any, Any], object]) -> Callable[[Any, Any], object]:
        def build(args: msgspec.Struct, handle: Handle) -> object:
            if not isinstance(handle, StrategyHandle):
                return _WatchedFilter(cast(EvictorPlugin, factory(args, handle)), name, self)
            if isinstance(handle.evictor, ProposalRecorder):
                return factory(args, handle)  # another plugin runs it, and decides about what it selects
            self._evictors.setdefault(self._profile, handle.evictor)
            strategy = factory(args, replace(handle, evictor=_WatchedEvictor(handle.evictor, name, self)))
            self._strategies[self._profile, name] = strategy
            return strategy

        return build


def _note(noted: dict[tuple[str, str], dict[str, set[int]]], key: tuple[str, str], answer: str, pod: Pod) -> None:
    noted.setdefault(key, {}).setdefault(answer, set()).add(id(pod))


class _WatchedFilter:
    """A filter plugin under watch."""

    def __init__(self, plugin: EvictorPlugin, name: str, watch: RunWitness) -> None:
        self._plugin = plugin
        self._name = name
        self._watch = watch

    def filter(self, pod: Pod) -> Verdict:
        verdict = self._plugin.filter(pod)
        self._watch.note_refusal(self._name, pod, verdict)
        return verdict

    def pre_eviction_filter(self, pod: Pod) -> Verdict:
        verdict = self._plugin.pre_eviction_filter(pod)
        self._watch.note_refusal(self._name, pod, verdict)
        return verdict


class _WatchedEvictor(WrappedEvictor):
    """A plugin's evictor under watch."""

    def __init__(self, inner: PluginEvictor, plugin: str, watch: RunWitness) -> None:
        super().__init__(inner)
        self._name = plugin
        self._watch = watch

    def keep(self, candidate: Pod, verdict: Verdict, reason: str = "") -> None:
        self._watch.note_wish(self._name, candidate, verdict, is_request=False, reason=reason)
        super().keep(candidate, verdict, reason)

    def request_all(self, candidates: Iterable[Candidate]) -> Verdict:
        bundle = tuple(candidates)
        verdict = super().request_all(bundle)
        for candidate in bundle:
            self._watch.note_wish(self._name, candidate.pod, verdict, is_request=True, reason=candidate.reason)
        return verdict

    @contextmanager
    def what_if(self) -> Iterator[None]:
        with self._watch.paused(), super().what_if():
            yield
