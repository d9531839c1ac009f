"""For how long, and how often, a run bears with an API server that does not serve a call."""

from __future__ import annotations

from collections.abc import Callable

from descheduler.migration.dispatch.call_window import CallWindow
from descheduler.migration.dispatch.eviction_task import EvictionTask
from descheduler.migration.dispatch.judgement import Judgement
from descheduler.migration.settings import ExecutorSettings
from descheduler.plan.outcome import OutcomeCode

__all__ = ["ServerPatience"]


class ServerPatience:
    """Notes what the API server makes of calls, and says when one may start or be made again.

    `window` bounds the calls under way at once. `now` is the monotonic clock of the run in seconds.
    """

    def __init__(self, settings: ExecutorSettings, now: Callable[[], float]) -> None:
        self.window = CallWindow(settings.max_in_flight, now)
        self._settings = settings
        self._now = now
        self._cut_off_since: float | None = None

    def note(self, judgement: Judgement) -> None:
        """Since when no call gets through to the server, and how many at once it can bear, after one more answer."""
        if judgement.code is OutcomeCode.OVERLOADED:
            self.window.turned_away(judgement.retry_after_seconds or 0.0)
        if not judgement.code.is_unserved:
            self.window.served()
            self._cut_off_since = None
        elif self._cut_off_since is None:
            self._cut_off_since = self._now()

    def again_at(self, task: EvictionTask) -> float | None:
        """When the pod may be asked for again, None when it may not."""
        settings, judgement = self._settings, task.judgement
        if judgement is None or (wait_seconds := judgement.retry_after_seconds) is None:
            return None
        at = task.answered_at + wait_seconds
        if wait_seconds > settings.longest_wait_seconds or (settings.deadline is not None and at >= settings.deadline):
            return None
        if judgement.code.is_fault:
            may_call = task.num_faults <= settings.max_fault_retries
        elif self._cut_off_since is not None:
            may_call = at <= self._cut_off_since + settings.longest_outage_seconds
        else:
            may_call = task.num_waits <= settings.max_retries
        return at if may_call else None
