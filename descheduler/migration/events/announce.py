"""Tells the cluster what became of evictions: one Event a pod, worded as kubernetes-sigs/descheduler 0.36 does."""

from __future__ import annotations

from typing import Protocol

from msgspec.structs import replace

from descheduler.kube.events import PodEvent
from descheduler.model.pod import Owner
from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from descheduler.plan.planned import PlannedEviction

__all__ = ["EventSink", "EvictionAnnouncer"]

_ACTION = "Descheduled"
_SENDER = "sigs.k8s.io/descheduler"


class EventSink(Protocol):
    """Takes events from any thread without blocking; `descheduler.kube.events.EventRecorder` is the real one."""

    def record(self, event: PodEvent) -> None:
        """Queues the event."""


class EvictionAnnouncer:
    """An outcome sink that writes a Normal event for each eviction, about the pod and about its controller.

    When `failures` is true it also writes a Warning for each one that was refused, failed or met a limit. Nothing is
    said of pods that left by themselves, were handed over, whose turn never came, or whose fate is unknown.
    """

    def __init__(self, events: EventSink, *, failures: bool) -> None:
        self._events = events
        self._failures = failures

    def planned(self, num_evictions: int) -> None:
        """Nothing."""

    def record(self, outcome: Outcome) -> None:
        """Writes the event that the outcome calls for, if any."""
        if (event := _event(outcome, failures=self._failures)) is not None:
            self._events.record(event)
        if outcome.kind is OutcomeKind.EVICTED and event is not None and outcome.eviction.controller is not None:
            self._events.record(_about_controller(event, outcome.eviction.controller))

    def doubted(self, eviction: PlannedEviction, why: str, at_most_seconds: float) -> None:
        """Nothing: a wait is of no interest to a pod's owner."""

    def turned_away(self, seconds: float) -> None:
        """Nothing."""


def _event(outcome: Outcome, *, failures: bool) -> PodEvent | None:
    pod = outcome.eviction
    note = f"pod eviction from {pod.node} node by {_SENDER}"
    if outcome.is_unconfirmed:
        return None
    if outcome.kind is OutcomeKind.EVICTED:
        reason = pod.plugin or "NotSet"
        return PodEvent(pod.namespace, pod.name, pod.uid, "Normal", reason, _ACTION, note)
    failed = outcome.kind in {OutcomeKind.REFUSED, OutcomeKind.FAILED} or outcome.code is OutcomeCode.LIMIT
    if failed and failures:
        text = f"{note} failed: {outcome.message}"
        return PodEvent(pod.namespace, pod.name, pod.uid, "Warning", "EvictionFailed", _ACTION, text)
    return None


def _about_controller(event: PodEvent, controller: Owner) -> PodEvent:
    """The same for whoever looks at the workload, whose pods come and go."""
    return replace(
        event,
        name=controller.name,
        uid=controller.uid,
        kind=controller.kind,
        api_version=controller.api_version,
        note=f"pod {event.name}: {event.note}",
    )
