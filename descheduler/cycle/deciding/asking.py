"""Asks the plugins for evictions until all that leaves at once is sure to be scheduled again, in whatever order.

Plugins hear of each grant at once, so none can be taken back later. What has to stay because of the order is known only
once all have asked; then they are asked again, with that refused from the start, and may choose other pods instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import msgspec
from msgspec.structs import replace

from descheduler.cluster.loading import free_cycles
from descheduler.cycle.deciding.profiles import ProfilesRun
from descheduler.cycle.deciding.round import PluginObserver
from descheduler.eviction.evictor import Evictor
from descheduler.eviction.placement_verification.in_any_order import (
    NOTHING_HELD_BACK,
    HeldBack,
    causes_of,
    largest_part,
    later_waves,
    on_earlier_waves,
)
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import Move, PodIdentity, identity_of
from descheduler.policy.types import Policy

_MOST_TIMES = 6
"""How often plugins are asked."""
_SECOND = 2
"""The wave that has one before it."""
_SHARE_ONCE_MORE = 0.25
"""Of the limits of searches, for each further time that they are asked."""
_FREELY, _FREELY_FOR_PLANS, _FEW_MOVES = 2, 3, 200
"""From the next time on nothing is granted beside the largest part that was proven by then. A search may find another
plan, which takes little time where there are few moves."""


class PluginAnswers(msgspec.Struct, frozen=True):
    """What came of asking all plugins. `skipped` says why none was asked, else it is empty.

    `waves` are those of the moves that are carried out in waves, where they are not what the plugins have said. Pods
    that land only after the waves before are `late`, each with its wave.
    """

    evictor: Evictor
    run: ProfilesRun
    skipped: str = ""
    waves: Mapping[PodIdentity, int] = {}
    late: Mapping[PodIdentity, int] = {}


class Ask(Protocol):
    """Asks all plugins of a policy, with a new evictor."""

    def __call__(self, held_back: HeldBack, *, share: float = 1.0, puts_ahead: bool = False) -> PluginAnswers:
        """What comes of it where `held_back` is refused; with `puts_ahead` as in ProfileSurroundings.

        Searches have that `share` of their limits.
        """


def ask_until_safe(ask: Ask, policy: Policy, evicted: Sequence[Pod], observer: PluginObserver) -> PluginAnswers:
    """What came of asking the last time: of profiles that verify landings no evictions that hang on an order.

    `evicted` are pods that have left already. `observer` keeps what it was told of the last time alone.
    """
    mark = observer.mark()
    asked, held_back, known = ask(NOTHING_HELD_BACK, puts_ahead=policy.evicts_in_waves), NOTHING_HELD_BACK, list[Move]()
    if asked.run.has_put_ahead and asked.evictor.landings.holds_room:  # waves are those of the plan, which is in order
        observer.back_to(mark)
        del asked
        free_cycles()
        asked = ask(NOTHING_HELD_BACK)
    is_planned = any(facts.goals for facts in asked.run.facts.values())
    for times in range(1, _MOST_TIMES):
        moves = [move for move in asked.evictor.book.moves if not move.is_repeated]
        if not moves or asked.evictor.landings.holds_room or not asked.evictor.landings.has_to_land():
            return asked
        if policy.evicts_in_waves:
            waves = later_waves(asked.evictor.landings, moves)
            return replace(asked, waves=waves, late=on_earlier_waves(asked.evictor.landings, moves, waves))
        staying = largest_part(asked.evictor.landings, moves, evicted)
        if not staying:
            return asked
        held_back = held_back.with_more(causes_of(asked.evictor.landings, staying))
        kept = [move for move in moves if move.pod not in staying]
        known = max(kept, known, key=_by_turn)
        freely = _FREELY_FOR_PLANS if is_planned and len(moves) <= _FEW_MOVES else _FREELY
        if times >= freely:
            held_back = held_back.but_for(move.pod for move in (known if held_back.only is None else kept))
        if times == _MOST_TIMES - 1:
            held_back = held_back.but_for(evicted)
        observer.back_to(mark)
        del asked, moves
        free_cycles()
        asked = ask(held_back, share=_SHARE_ONCE_MORE)
    return asked


def _by_turn(moves: Sequence[Move]) -> list[int]:
    """How many of `moves` there are of each turn."""
    counts = Counter(move.turn for move in moves)
    return [counts[turn] for turn in range(max(counts, default=0) + 1)]


def in_waves(decisions: Decisions, asked: PluginAnswers) -> Decisions:
    """`decisions` with the waves of their moves, and with what the landings hang on of the waves before."""
    return replace(decisions, moves=tuple(_in_wave(decisions.moves, asked))) if asked.waves else decisions


def _in_wave(moves: Iterable[Move], asked: PluginAnswers) -> Iterator[Move]:
    for move in moves:
        pod = identity_of(move.pod)
        wave, landing = asked.waves.get(pod, move.wave), move.landing
        if landing is not None and pod in asked.late:
            before = "wave 1 has" if wave == _SECOND else f"waves 1 to {wave - 1} have"
            landing = landing.under(f"{before} ended")
        yield replace(move, wave=wave, landing=landing)
