"""What pods need, as the rows of an array."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from descheduler.model.pod import Pod
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.problem import LARGEST_EXACT
from descheduler.placement.landings.openings import Openings
from descheduler.strategies.framework import StrategyError

_IN_BYTES = ("memory", "ephemeral-storage")


def needs_of(pods: Sequence[Pod], openings: Openings) -> Ints:
    """int64[P, R], in the order and the units of `openings.resources`.

    Replicas share their spec, and so their row. A resource that nothing had before gets its column when it is first
    asked for, so that rows may begin shorter.
    """
    specs = {id(pod.spec): pod.spec for pod in pods}
    found = {key: openings.need(spec) for key, spec in specs.items()}
    rows = np.zeros((len(found), len(openings.resources)), dtype=np.int64)
    for row, amounts in zip(rows, found.values(), strict=True):
        row[: len(amounts)] = amounts
    place = {key: number for number, key in enumerate(found)}
    need: Ints = rows[[place[id(pod.spec)] for pod in pods]]
    return need


def refuse_uncountable(need: Ints, resources: Sequence[str], what: str) -> None:
    """Raises StrategyError where pods need more of a resource in all than problems count; need is int64[P, R].

    `what` is the measure, such as `requests`.
    """
    total = need.sum(axis=0, dtype=np.float64)
    for resource, amount in zip(resources, total.tolist(), strict=True):
        if amount >= LARGEST_EXACT:
            unit = " bytes" if resource in _IN_BYTES else ""
            raise StrategyError(
                f"{what} of {resource} add up to {amount:.3g}{unit}; plans are exact below {LARGEST_EXACT:.3g} only"
            )
