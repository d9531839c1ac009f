"""A random sample in which some values come more often than others."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrays import Floats, Ints


def weighted_sample(values: Ints, weights: Floats, rng: np.random.Generator, count: int) -> Ints:
    """`count` of them without replacement, in the order drawn, by Efraimidis and Spirakis' keys u^(1/w).

    weights: float64, one a value, above 0.
    """
    keys = np.log(rng.random(len(values))) / weights
    return values[np.argsort(-keys, kind="stable")[:count]]
