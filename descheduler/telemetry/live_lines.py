"""The log lines of a run that is under way, written as soon as there is something to say."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from descheduler.placement.landings.landing import Landing, LandingVerdict
from descheduler.telemetry.logging import fields, log_event

if TYPE_CHECKING:
    from descheduler.plan.outcome import Outcome
    from descheduler.plan.planned import PlannedEviction

_logger = logging.getLogger(__name__)
_WITHOUT_NODE = {LandingVerdict.NO: "pending", LandingVerdict.UNKNOWN: "unknown"}


def log_cluster(context: str, server: str) -> None:
    """Which cluster the run is about; `context` is "" inside a cluster."""
    log_event(_logger, "Cluster", context=context or "in-cluster", server=server)


def log_eviction(outcome: Outcome) -> None:
    """How an eviction ended, in the words that operators of kubernetes-sigs/descheduler 0.36 search for.

    Whatever somebody should look at is a warning, a fault is an error; `err` is the cause.
    """
    result, facts = str(outcome.kind.value), _facts(outcome.eviction)
    if outcome.message:
        facts = {**facts, "err": outcome.message}
    if outcome.is_unconfirmed:
        _logger.warning("Eviction not confirmed, counted as evicted", extra=fields(**facts))
    elif result == "evicted":
        log_event(_logger, "Evicted pod", verbosity=0, **facts)
    elif result == "failed":
        _logger.error("Error evicting pod", extra=fields(**facts))
    elif result == "refused":
        _logger.warning("Pod not evicted", extra=fields(result=result, **facts))
    else:
        # A run that is stopped says once how many are left; see `log_outcome`.
        verbosity = 1 if result == "not-attempted" else 0
        log_event(_logger, "Pod not evicted", verbosity=verbosity, result=result, **facts)


def _facts(eviction: PlannedEviction) -> Mapping[str, object]:
    facts: dict[str, object] = {
        "pod": f"{eviction.namespace}/{eviction.name}",
        "reason": eviction.reason,
        "strategy": eviction.plugin,
        "node": eviction.node,
        "profile": eviction.profile,
    }
    if eviction.users_job:
        facts["job"] = eviction.users_job
    return facts if eviction.landing is None else {**facts, "target": _target(eviction.landing)}


def _target(landing: Landing) -> str:
    """The node that is expected for the replacement, else what is expected instead."""
    if not landing.replacement.answer.is_created:
        return "none"
    return landing.node or _WITHOUT_NODE.get(landing.verdict, "none")


def log_doubt(eviction: PlannedEviction, why: str, at_most_seconds: float) -> None:
    """Says that the run waits to see what became of a pod, for so long at most."""
    _logger.warning(
        "No clear answer to an eviction; counted as evicted until the pod is seen again",
        extra=fields(pod=f"{eviction.namespace}/{eviction.name}", answer=why, seconds=round(at_most_seconds, 1)),
    )


def log_overload(seconds: float) -> None:
    """Says that no call starts for so long, because the API server is overloaded."""
    _logger.warning("API server is overloaded; waiting", extra=fields(seconds=round(seconds, 1)))


def log_skipped(skipped: Sequence[str]) -> None:
    """Says that objects were left out as invalid, with the sentence on the first one.

    Not as a warning: those are shown on a terminal, where the table warns of each object.
    """
    if skipped:
        log_event(_logger, "Invalid objects skipped", num=len(skipped), first=skipped[0])


def log_missing_events(reason: str) -> None:
    """Says that pods went without the Event that tells their owners why."""
    _logger.warning("Events not written", extra=fields(reason=reason))
