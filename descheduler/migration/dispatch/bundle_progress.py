"""Pods that leave together, such as a gang: one goes ahead, and the others follow only if it does."""

from __future__ import annotations

from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from descheduler.plan.planned import PlannedEviction

__all__ = ["BundleProgress"]

_NOTHING_SAID = frozenset({OutcomeCode.DRY_RUN, OutcomeCode.REPEATED})


class BundleProgress:
    """What became of the bundles of a plan so far. An eviction of bundle 0 is its own.

    The API server may refuse a pod that the plan had counted on. The first of a bundle tells that before any other of
    it is gone; once one has left, nothing is gained by keeping others back, and all of them are asked for.
    """

    def __init__(self) -> None:
        self._ahead: dict[int, PlannedEviction] = {}
        self._leaving: set[int] = set()
        self._stayed: dict[int, str] = {}

    def awaits(self, eviction: PlannedEviction) -> bool:
        """Whether it has to wait for what becomes of the one that went ahead."""
        return eviction.bundle in self._ahead and eviction.bundle not in self._leaving

    def never_sent(self, eviction: PlannedEviction) -> tuple[OutcomeCode, str] | None:
        """Why it stays, None where it does not: another one of its bundle stays, and none has left."""
        if eviction.bundle not in self._stayed or eviction.bundle in self._leaving:
            return None
        name = self._stayed[eviction.bundle]
        return OutcomeCode.BUNDLE, f"pod {name}, with which it has to leave together, was not evicted"

    def began(self, eviction: PlannedEviction) -> None:
        """Its first call is made."""
        if eviction.bundle:
            self._ahead.setdefault(eviction.bundle, eviction)

    def ended(self, outcome: Outcome) -> None:
        """Nothing more is done about it."""
        eviction = outcome.eviction
        if not eviction.bundle or outcome.code in _NOTHING_SAID:
            return
        if outcome.kind.uses_limits:
            self._leaving.add(eviction.bundle)
        elif outcome.kind is OutcomeKind.GONE:
            self._ahead.pop(eviction.bundle, None)
        else:
            self._stayed.setdefault(eviction.bundle, f"{eviction.namespace}/{eviction.name}")
