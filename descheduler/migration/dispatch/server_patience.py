"""For how long, and how often, a run bears with an API server that does not serve a call."""

from __future__ import annotations

from descheduler.migration.dispatch.halting import HALTED
from descheduler.migration.dispatch.judgement import Judgement
from descheduler.migration.dispatch.pace import CallWindow
from descheduler.migration.dispatch.surroundings import Surroundings
from descheduler.migration.dispatch.task import EvictionTask
from descheduler.migration.settings import DispatchSettings
from descheduler.plan.outcome import OutcomeCode

__all__ = ["ServerPatience"]


class ServerPatience:
    """Notes what the API server makes of calls, and says when one may start or be made again.

    `window` bounds the calls under way at once. Of calls that are turned away `around.sink` hears.
    """

    def __init__(self, settings: DispatchSettings, around: Surroundings) -> None:
        self.window = CallWindow(settings.max_in_flight, around.clock)
        self._settings = settings
        self._around = around
        self._now = around.clock
        self._cut_off_since: float | None = None
        self._is_exhausted = False

    def halted(self) -> tuple[OutcomeCode, str] | None:
        """Why nothing further may be evicted: what is `around` says so, or the server was overloaded for too long."""
        halted = self._around.halted()
        if self._is_exhausted and (halted is None or halted[0] is OutcomeCode.DEADLINE):
            return OutcomeCode.OVERLOADED, HALTED[OutcomeCode.OVERLOADED]
        return halted

    def may_call(self, num_in_flight: int) -> bool:
        """Whether one more call may start now beside those under way."""
        return self.window.has_room(num_in_flight) and self.window.shut_seconds <= 0

    def note(self, judgement: Judgement) -> None:
        """Since when no call gets through to the server, and how many at once it can bear, after one more answer."""
        if judgement.code is OutcomeCode.OVERLOADED:
            wait_seconds = judgement.retry_after_seconds or 0.0
            self.window.turned_away(wait_seconds)
            if self._around.sink is not None:
                self._around.sink.turned_away(wait_seconds)
        if not judgement.code.is_unserved:
            self.window.served()
            self._cut_off_since = None
        elif self._cut_off_since is None:
            self._cut_off_since = self._now()
        if judgement.code is OutcomeCode.OVERLOADED and self._waits_until(judgement, self._now()) is None:
            self._is_exhausted = True

    def again_at(self, task: EvictionTask) -> float | None:
        """When the pod may be asked for again, None when it may not."""
        settings, judgement = self._settings, task.judgement
        at = None if judgement is None else self._waits_until(judgement, task.answered_at)
        if judgement is None or at is None:
            return None
        if judgement.code.is_fault:
            return at if task.num_faults <= settings.max_fault_retries else None
        return at if self._cut_off_since is not None or task.num_waits <= settings.max_retries else None

    def _waits_until(self, judgement: Judgement, answered_at: float) -> float | None:
        """Until when an answer asks to wait, None for longer than the run can."""
        settings, wait_seconds = self._settings, judgement.retry_after_seconds
        if wait_seconds is None or wait_seconds > settings.longest_wait_seconds:
            return None
        at = answered_at + wait_seconds
        if settings.deadline is not None and at >= settings.deadline:
            return None
        is_cut_off = self._cut_off_since is not None and not judgement.code.is_fault
        outage_ends_at = (self._cut_off_since or 0.0) + settings.longest_outage_seconds
        return None if is_cut_off and at > outage_ends_at else at
