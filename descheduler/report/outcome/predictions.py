"""How often replacements came where the plan expected them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import Enum

from descheduler.documents.fields import Fields
from descheduler.model.text.amounts import rounded_percent
from descheduler.plan.outcome import Outcome, OutcomeKind


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


class Predictions(Fields, frozen=True):
    """Replacements of evicted pods for which a node was predicted, by where they were seen ready.

    `tied` are on another node than the expected one that the scheduler ranks as high. `not_seen` were not looked for,
    or were not ready in time. `hit_rate` is the share of `as_predicted` and `tied` in all that were seen, from 0 to 1;
    null when none was.
    """

    as_predicted: int
    tied: int
    elsewhere: int
    not_seen: int
    hit_rate: float | None

    @property
    def num_seen(self) -> int:
        """Replacements that were seen ready."""
        return self.as_predicted + self.tied + self.elsewhere


def make_predictions(outcomes: Iterable[Outcome]) -> Predictions:
    """The figures of these evictions."""
    counts = Counter(prediction_of(outcome) for outcome in outcomes)
    exact, tied, misses = (counts[each] for each in (Prediction.AS_PREDICTED, Prediction.TIED, Prediction.ELSEWHERE))
    num_seen = exact + tied + misses
    hit_rate = round((exact + tied) / num_seen, 4) if num_seen else None
    return Predictions(
        as_predicted=exact, tied=tied, elsewhere=misses, not_seen=counts[Prediction.NOT_SEEN], hit_rate=hit_rate
    )


def hit_rate_text(predictions: Predictions) -> str:
    """Such as `9 of 10 on the predicted node or one that ranks as high (90%), 2 not seen ready`; empty when no
    replacement was seen."""
    if predictions.hit_rate is None:
        return ""
    unseen = f", {predictions.not_seen:,} not seen ready" if predictions.not_seen else ""
    hits = f"{predictions.as_predicted + predictions.tied:,} of {predictions.num_seen:,} on the predicted node"
    tied = " or one that ranks as high" if predictions.tied else ""
    return f"{hits}{tied} ({rounded_percent(100 * predictions.hit_rate)}){unseen}"
