"""What pods need, as the rows of an array."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from descheduler.model.pod import Pod
from descheduler.optimizer.arrays import Ints
from descheduler.placement.landings.openings import Openings

__all__ = ["needs_of"]


def needs_of(pods: Iterable[Pod], openings: Openings) -> Ints:
    """int64[P, R], in the order and the units of `openings.resources`.

    A resource that nothing had before gets its column when it is first asked for, so that rows may begin shorter.
    """
    found = [openings.need(pod) for pod in pods]
    need = np.zeros((len(found), len(openings.resources)), dtype=np.int64)
    for row, amounts in zip(need, found, strict=True):
        row[: len(amounts)] = amounts
    return need
