"""The log lines of a run that goes on, written as soon as there is something to say."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from descheduler.telemetry.logging import fields, log_event

if TYPE_CHECKING:
    from descheduler.plan.outcome import Outcome
    from descheduler.plan.planned import PlannedEviction

__all__ = ["log_doubt", "log_eviction", "log_missing_events", "log_overload", "log_skipped"]

_logger = logging.getLogger(__name__)


def log_eviction(outcome: Outcome) -> None:
    """How an eviction ended, in the words that operators of kubernetes-sigs/descheduler 0.36 search for."""
    eviction, result = outcome.eviction, str(outcome.kind.value)
    event_fields: dict[str, object] = {
        "pod": f"{eviction.namespace}/{eviction.name}",
        "reason": outcome.message,
        "strategy": eviction.plugin,
        "node": eviction.node,
        "profile": eviction.profile,
    }
    if outcome.is_unconfirmed:
        _logger.warning("Eviction not confirmed, counted as evicted", extra=fields(**event_fields))
    elif result == "evicted":
        log_event(_logger, "Evicted pod", verbosity=1, **event_fields)
    elif result == "failed":
        _logger.error("Error evicting pod", extra=fields(**event_fields))
    else:
        log_event(_logger, "Pod not evicted", verbosity=1, result=result, **event_fields)


def log_doubt(eviction: PlannedEviction, why: str, at_most_seconds: float) -> None:
    """Says that the run waits to see what became of a pod, for so long at most."""
    _logger.warning(
        "No clear answer to an eviction; it counts until the pod is seen alive",
        extra=fields(pod=f"{eviction.namespace}/{eviction.name}", answer=why, seconds=round(at_most_seconds, 1)),
    )


def log_overload(seconds: float) -> None:
    """Says that no call starts for so long, because the API server has too much to do."""
    _logger.warning("API server turns calls away; waiting", extra=fields(seconds=round(seconds, 1)))


def log_skipped(skipped: Sequence[str]) -> None:
    """Says that objects were left out as broken, with the sentence on the first one."""
    if skipped:
        _logger.warning("Broken objects skipped", extra=fields(num=len(skipped), first=skipped[0]))


def log_missing_events(reason: str) -> None:
    """Says that pods went without the Event that tells their owners why."""
    _logger.warning("Events not written", extra=fields(reason=reason))
