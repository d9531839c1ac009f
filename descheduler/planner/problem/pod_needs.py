"""What pods need, as the rows of an array."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from descheduler.model.pod import Pod
from descheduler.optimizer.arrays import Ints
from descheduler.placement.landings.openings import Openings


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


def least_needs(pods: Sequence[Pod], resized: Collection[Pod], openings: Openings) -> Ints:
    """int64[P, R]: the same, of `resized` pods the least that they or their replacements take of each resource."""
    after = {id(pod): openings.needs_of_replacement(pod) for pod in resized}
    need = needs_of(pods, openings)
    if not after:
        return need
    for number, pod in enumerate(pods):
        for other in after.get(id(pod), ()):
            np.minimum(need[number], np.pad(other, (0, need.shape[1] - len(other))), out=need[number])
    return need
