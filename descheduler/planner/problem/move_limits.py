"""What limits and budgets leave of evictions, as rules of the optimizer."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np

from descheduler.eviction.request_check import Allowance
from descheduler.model.pod import Pod
from descheduler.optimizer.rules import MoveLimit

__all__ = ["move_limits"]


def move_limits(
    pods: Sequence[Pod], num_placed: int, allowances: Sequence[Allowance], max_evictions: int | None
) -> list[MoveLimit]:
    """A rule for each of `allowances`, and one for all evictions together unless `max_evictions` is None.

    Only the first `num_placed` of `pods` count: the others are pending, and are placed without an eviction.
    """
    rules = [_limit(pods, num_placed, allowance.key_of, allowance.left) for allowance in allowances]
    if max_evictions is not None:
        rules.append(_limit(pods, num_placed, lambda pod: "", lambda key: max_evictions))
    return rules


def _limit(
    pods: Sequence[Pod], num_placed: int, key_of: Callable[[Pod], Hashable | None], left: Callable[[Hashable], int]
) -> MoveLimit:
    groups: dict[Hashable, int] = {}
    keys = (key_of(pod) if number < num_placed else None for number, pod in enumerate(pods))
    group = [-1 if key is None else groups.setdefault(key, len(groups)) for key in keys]
    limit = [min(max(left(key), 0), num_placed) for key in groups] or [0]
    return MoveLimit(np.array(group, dtype=np.int64), np.array(limit, dtype=np.int64))
