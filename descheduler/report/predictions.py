"""How often replacements came where the plan expected them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from descheduler.plan.outcome import Outcome
from descheduler.plan.predictions import Prediction, prediction_of
from descheduler.report.document import Fields

__all__ = ["Predictions", "hit_rate_text", "make_predictions"]


class Predictions(Fields, frozen=True):
    """Replacements of evicted pods for which a node was predicted, by where they were seen ready.

    `not_seen` were not looked for, or were not ready in time. `hit_rate` is the share of `as_predicted` in all that
    were seen, from 0 to 1; null when none was.
    """

    as_predicted: int
    elsewhere: int
    not_seen: int
    hit_rate: float | None

    @property
    def num_seen(self) -> int:
        """Replacements that were seen ready."""
        return self.as_predicted + self.elsewhere


def make_predictions(outcomes: Iterable[Outcome]) -> Predictions:
    """The figures of these evictions."""
    counts = Counter(prediction_of(outcome) for outcome in outcomes)
    hits, misses = counts[Prediction.AS_PREDICTED], counts[Prediction.ELSEWHERE]
    hit_rate = round(hits / (hits + misses), 4) if hits + misses else None
    return Predictions(as_predicted=hits, elsewhere=misses, not_seen=counts[Prediction.NOT_SEEN], hit_rate=hit_rate)


def hit_rate_text(predictions: Predictions) -> str:
    """Such as `9 of 10 on the predicted node (90%), 2 not seen ready`; empty when no replacement was seen."""
    if predictions.hit_rate is None:
        return ""
    unseen = f", {predictions.not_seen:,} not seen ready" if predictions.not_seen else ""
    seen = f"{predictions.as_predicted:,} of {predictions.num_seen:,}"
    return f"{seen} on the predicted node ({predictions.hit_rate:.0%}){unseen}"
