"""Whether replacements came where they were expected."""

from __future__ import annotations

from enum import Enum

from descheduler.plan.outcome import Outcome, OutcomeKind

__all__ = ["Prediction", "prediction_of"]


class Prediction(Enum):
    """How the expected node of one replacement compares with the node on which it was seen ready."""

    AS_PREDICTED = "as-predicted"
    TIED = "tied"
    """On another node that the scheduler ranks as high: it draws one of them."""
    ELSEWHERE = "elsewhere"
    NOT_SEEN = "not-seen"
    """The replacement was not looked for, or it was not ready in time."""


def prediction_of(outcome: Outcome) -> Prediction | None:
    """What became of the prediction; None where the pod was not evicted, or no node was predicted."""
    landing = outcome.eviction.landing
    if outcome.kind is not OutcomeKind.EVICTED or landing is None or not landing.node:
        return None
    if not outcome.landed_on:
        return Prediction.NOT_SEEN
    if outcome.landed_on == landing.node:
        return Prediction.AS_PREDICTED
    return Prediction.TIED if outcome.landed_on in landing.ties else Prediction.ELSEWHERE
