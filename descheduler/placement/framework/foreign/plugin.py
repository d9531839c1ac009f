"""A scheduling plugin that is not of this program, once it is built: its methods, each behind a guard.

Once it has failed it has no say any more, and the scheduler that runs it cannot tell what it would have said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from descheduler.placement.framework.extension_points import SKIP, PreFilterResult, Scores
from descheduler.placement.framework.foreign import answers
from descheduler.placement.framework.foreign.answers import ForeignLedger, Trouble, guarded_interactions, guarded_ledger
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.roles import OfManyKinds
from descheduler.placement.shadow.shadow_cluster import Cycle, Takings
from descheduler.policy.plugin_faults import WrongAnswer, at_most, is_of, text_of

Method = Callable[..., object]


class ForeignPlugin(OfManyKinds):
    """What a plugin has of the methods that it is asked by; `trouble` tells whether it has failed.

    Those of PreFilter and Filter raise PluginFault the first time, after which the pod is tried again without it. All
    others answer as one that has nothing to say, where that can be told on a condition that names the fault.
    """

    def __init__(self, plugin: object, trouble: Trouble) -> None:
        self.name = trouble.origin.plugin
        self.trouble = trouble
        self._plugin = plugin
        if hasattr(plugin, "filter") or hasattr(plugin, "pre_filter"):
            self.is_static = getattr(plugin, "is_static", False) is True
        if hasattr(plugin, "ledger"):
            self.ledger = guarded_ledger(plugin.ledger, trouble)
        if hasattr(plugin, "interactions"):
            self.interactions = guarded_interactions(plugin.interactions, trouble)
        for name, guard in _GUARDS.items():
            method = getattr(plugin, name, None)
            if callable(method):
                setattr(self, name, partial(guard, self, method))

    @property
    def undecided(self) -> Obstacle | None:
        """What keeps the scheduler from telling where pods go; None while the plugin works."""
        fault = self.trouble.fault
        return None if fault is None else Obstacle(self.name, Code.UNDECIDED, (str(fault),))


class _CountingPlugin(ForeignPlugin):
    """One that counts what changes for it."""

    @property
    def num_changes(self) -> int:
        """As the plugin counts; 0 once it has failed, as what it says does not count any more."""
        if self.trouble.fault is None:
            try:
                return is_of(getattr(self._plugin, "num_changes", None), int, "num_changes")
            except BaseException as error:
                self.trouble.note(error)
        return 0


class _ForeignScorer(ForeignPlugin):
    """One that scores: the scores of all nodes are unknown once it has failed."""

    def unknown(self, cycle: Cycle) -> BoolMask | None:
        """The nodes whose scores it does not know."""
        if self.trouble.fault is None and hasattr(self._plugin, "unknown"):
            try:
                mask = self._plugin.unknown(cycle)
                return None if mask is None else answers.checked_mask(mask, cycle, "unknown()")
            except BaseException as error:
                self.trouble.note(error)
        return None if self.trouble.fault is None else np.ones(len(cycle.cluster.table), dtype=bool)


def guarded_plugin(plugin: object, trouble: Trouble) -> ForeignPlugin:
    """`plugin` behind its guard."""
    if hasattr(plugin, "score"):
        return _ForeignScorer(plugin, trouble)
    return _CountingPlugin(plugin, trouble) if hasattr(plugin, "num_changes") else ForeignPlugin(plugin, trouble)


class _Unbuilt:
    """Stands for a plugin that cannot be built."""

    def score(self, cycle: Cycle, feasible: BoolMask) -> None:
        """Is never asked."""


def failed_plugin(trouble: Trouble) -> ForeignPlugin:
    """A plugin that cannot be built, which `trouble` has noted."""
    return _ForeignScorer(_Unbuilt(), trouble)


def _tried(guard: ForeignPlugin, ask: Callable[[], object], check: Method, otherwise: object) -> object:
    """What `ask` answers, in a step that is repeated after a fault."""
    if guard.trouble.fault is not None:
        return otherwise
    try:
        return check(ask())
    except BaseException as error:
        raise guard.trouble.note(error) from error


def _swallowed(
    guard: ForeignPlugin, ask: Callable[[], object], check: Method, otherwise: Callable[[], object]
) -> object:
    """What `ask` answers, in a step that goes on after a fault."""
    if guard.trouble.fault is None:
        try:
            return check(ask())
        except BaseException as error:
            guard.trouble.note(error)
    return otherwise()


def _repeated(check: Method, otherwise: object = None) -> Method:
    """The guard of a method that is asked in a step that is repeated after a fault."""

    def ask(guard: ForeignPlugin, method: Method, *asked: object) -> object:
        return _tried(guard, lambda: method(*asked), lambda found: check(guard, found, *asked), otherwise)

    return ask


def _once(check: Method, otherwise: Callable[[ForeignPlugin], object]) -> Method:
    """The guard of a method that is asked in a step that goes on after a fault."""

    def ask(guard: ForeignPlugin, method: Method, *asked: object) -> object:
        return _swallowed(
            guard, lambda: method(*asked), lambda found: check(guard, found, *asked), lambda: otherwise(guard)
        )

    return ask


def _checked_pre_filter(guard: ForeignPlugin, found: object, cycle: Cycle) -> PreFilterResult:
    answers.checked_cycle(cycle)
    return answers.checked_pre_filter(found, guard.name, cycle)


def _score_reservations(
    guard: ForeignPlugin, method: Method, cycle: Cycle, node: int, given: Iterable[object]
) -> object:
    reservations = list(given)

    def check(found: object) -> list[int]:
        scores = [is_of(each, int, "a score") for each in at_most(found, len(reservations), "score_reservations()")]
        if len(scores) < len(reservations):
            raise WrongAnswer(f"score_reservations() gives {len(scores)} scores for {len(reservations)} Reservations")
        return scores

    return _tried(guard, lambda: method(cycle, node, reservations), check, [0] * len(reservations))


def _checked_obstacle(guard: ForeignPlugin, found: object, *asked: object) -> Obstacle:
    obstacle = _obstacle_of(guard, found, "obstacle()")
    if obstacle is None:
        raise WrongAnswer("obstacle() is None for a node that filter() refuses")
    return obstacle


def _score(guard: ForeignPlugin, method: Method, cycle: Cycle, feasible: BoolMask) -> object:
    def check(found: object) -> Scores | None:
        scores = answers.checked_scores(found, cycle, feasible)
        if scores is None or scores.raw is None:
            return scores
        raw = scores.raw
        return Scores(scores.final, lambda: _raw(guard, raw, scores.final), scores.level)

    return _swallowed(
        guard, lambda: method(cycle, feasible), check, lambda: Scores(np.zeros(len(feasible), dtype=np.int64))
    )


def _raw(guard: ForeignPlugin, raw: Callable[[], object], final: NDArray[np.int64]) -> NDArray[np.int64]:
    """What scores are before they are normalised, which only explanations show."""

    def check(found: object) -> NDArray[np.int64]:
        column: NDArray[np.int64] = is_of(found, np.ndarray, "raw scores")
        if column.shape != final.shape:
            raise WrongAnswer(f"raw scores have the shape {column.shape}, scores {final.shape}")
        return column

    answer = _swallowed(guard, raw, check, lambda: final)
    return answer if isinstance(answer, np.ndarray) else final


def _may_be_obstacle(what: str) -> Method:
    """The guard of a method that gives an obstacle or None."""
    return _once(lambda guard, found, *asked: _obstacle_of(guard, found, what), lambda guard: guard.undecided)


def _conditions(what: str) -> Method:
    """The guard of a method that gives sentences; that it fails is one."""
    return _once(lambda guard, found, *asked: answers.checked_sentences(found, what), lambda guard: (_words(guard),))


def _patch(guard: ForeignPlugin, method: Method, cycle: Cycle, node: int, takings: Takings) -> object:
    own = tuple([(each.inner if isinstance(each, ForeignLedger) else each, taken) for each, taken in takings])

    def note() -> Mapping[str, str]:
        """That it fails is a condition of the landing."""
        cycle.notes.append(_words(guard))
        return {}

    return _swallowed(guard, lambda: method(cycle, node, own), answers.checked_patch, note)


def _obstacle_of(guard: ForeignPlugin, found: object, what: str) -> Obstacle | None:
    return answers.checked_obstacle(found, guard.name, what)


def _words(guard: ForeignPlugin) -> str:
    return str(guard.trouble.fault)


_GUARDS: Mapping[str, Method] = {
    "pre_enqueue": _repeated(lambda guard, found, cycle: _obstacle_of(guard, found, "pre_enqueue()")),
    "before_pre_filter": _repeated(lambda guard, found, cycle: answers.checked_cycle(cycle)),
    "pre_filter": _repeated(_checked_pre_filter, SKIP),
    "filter": _repeated(lambda guard, bits, cycle: answers.checked_bits(bits, cycle)),
    "obstacle": _once(_checked_obstacle, lambda guard: guard.undecided),
    "filter_reservation": _repeated(lambda guard, found, *asked: bool(is_of(found, int, "filter_reservation()")), True),
    "score_reservations": _score_reservations,
    "score": _score,
    "permit": _may_be_obstacle("permit()"),
    "unit_of": _once(lambda guard, unit, pod: text_of(unit, "unit_of()"), lambda guard: ""),
    "holds_back": _may_be_obstacle("holds_back()"),
    "pre_bind": _conditions("pre_bind()"),
    "patch": _patch,
    "before_start": _conditions("before_start()"),
    "may_preempt": _once(lambda guard, found, *asked: bool(is_of(found, int, "may_preempt()")), lambda guard: False),
}
"""The methods that a plugin may have, and how each is asked."""
