"""What a run and each of its rounds go by beside policy and snapshot, and how others learn when a plugin runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal, Protocol

import msgspec
from msgspec.structs import replace

from descheduler.cycle.options import MOST_ASSESSED
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.background import Answers
from descheduler.eviction.checks.scope import EVERYWHERE, Scope
from descheduler.eviction.checks.table import REQUEST_CHECKS, MakeCheck
from descheduler.model.node import Node
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import EarlierPlan, Move
from descheduler.plan.run_memory import NO_MEMORY, RunMemory
from descheduler.plan.search_watch import UNWATCHED, SearchWatch
from descheduler.policy.plugin import Registry
from descheduler.policy.types import Policy

Operation = Literal["deschedule", "balance"]
"""The extension point that a plugin is run at."""


class PluginObserver(Protocol):
    """Told of every run of a plugin. Must not change what is decided."""

    def plugin_run(self, profile: str, plugin: str, operation: Operation) -> AbstractContextManager[object]:
        """A context that is open for exactly as long as the plugin runs."""

    def mark(self) -> object:
        """What it was told so far, for `back_to`."""

    def back_to(self, mark: Any) -> None:
        """Forgets what it was told since `mark` was given: the plugins are asked again."""

    def reordered(self, moves: Sequence[Move]) -> None:
        """All evictions granted so far in a new order: some were granted, after all, ahead of others."""


class _Unobserved:
    def plugin_run(self, profile: str, plugin: str, operation: Operation) -> AbstractContextManager[object]:
        return nullcontext()

    def mark(self) -> object:
        return None

    def back_to(self, mark: object) -> None:
        pass

    def reordered(self, moves: Sequence[Move]) -> None:
        pass


_UNOBSERVED: PluginObserver = _Unobserved()
"""An observer that ignores everything."""


MOST_PROVED = 500
"""Evictions that are judged together once more; each is played through several times, at a millisecond each."""


class RunSetting(msgspec.Struct, frozen=True):
    """What a run goes by, the same each time that it decides.

    Pods out of `scope` stay, and count for the plugins as ever. `memory` is what the run before left, `evicted_before`
    what this run has evicted before its snapshot was taken, which counts against limits. `search` looks on at planners
    that search, and may end that. `processed_nodes` are handed to the plugins as they are; without them it is the ready
    nodes that the policy selects, of which there must be two.
    """

    feature_gates: Mapping[str, bool] = {}
    registry: Registry = REGISTRY
    scope: Scope = EVERYWHERE
    memory: RunMemory = NO_MEMORY
    evicted_before: Sequence[Move] = ()
    search: SearchWatch = UNWATCHED
    processed_nodes: Sequence[Node] | None = None


class Round(msgspec.Struct, frozen=True):
    """What one of the rounds of a run goes by.

    `answers` are refusals of the eviction API that are known already, `prior_moves` the evictions that earlier rounds
    have led to. `chosen` are asked for in place of what the plugins select, which do not run then; with `earlier`,
    planners ask for their moves of that plan in place of a search. `checks` are asked of every request, in this order.
    `observer` is told of every run of a plugin. Landings of the first `most_assessed` evictions that no plugin verifies
    are looked up for the report, and up to `most_proved` evictions are judged together, which changes no decision.
    Where a round only `measures`, no plugin runs: the facts of those that search have their figures after
    `prior_moves`.
    """

    answers: Answers = {}
    prior_moves: Sequence[Move] = ()
    chosen: Sequence[Move] | None = None
    earlier: EarlierPlan | None = None
    checks: Sequence[MakeCheck] = REQUEST_CHECKS
    observer: PluginObserver = _UNOBSERVED
    most_assessed: int = MOST_ASSESSED
    most_proved: int = MOST_PROVED
    measures: bool = False

    def once_more(self, checks: Sequence[MakeCheck], earlier: EarlierPlan) -> Round:
        """The same round with these checks and this plan, without an observer, since only its decisions are read."""
        return replace(self, checks=checks, earlier=earlier, observer=_UNOBSERVED, most_assessed=0, most_proved=0)


DecideAgain = Callable[[Policy, Sequence[MakeCheck], EarlierPlan], Decisions]
"""Decides by a policy over the snapshot of a run, with everything that was known to the run; see `Round.once_more`."""
