"""What limits and budgets leave of evictions, as rules of the optimizer."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from descheduler.eviction.request_check import Allowance
from descheduler.model.pod import Pod
from descheduler.optimizer.rules import MoveLimit


def move_limits(pods: Sequence[Pod], num_placed: int, allowances: Iterable[Allowance]) -> list[MoveLimit]:
    """A rule for each of `allowances`.

    Only the first `num_placed` of `pods` count: the others are pending, and are placed without an eviction.
    """
    return [_limit(pods, num_placed, allowance) for allowance in allowances]


def _limit(pods: Sequence[Pod], num_placed: int, allowance: Allowance) -> MoveLimit:
    groups: dict[Hashable, int] = {}
    keys = (allowance.key_of(pod) if number < num_placed else None for number, pod in enumerate(pods))
    group = [-1 if key is None else groups.setdefault(key, len(groups)) for key in keys]
    limit = [min(max(allowance.left(key), 0), num_placed) for key in groups] or [0]
    names = tuple(map(allowance.name_of, groups)) or ("",)
    return MoveLimit(np.array(group, dtype=np.int64), np.array(limit, dtype=np.int64), names)
