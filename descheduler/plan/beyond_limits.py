"""What plugins select beyond the limits that stopped them: known to the report, and not evicted."""

from __future__ import annotations

import msgspec

from descheduler.plan.moves import Refusal

__all__ = ["NOTHING_BEYOND", "BeyondLimits"]


class BeyondLimits(msgspec.Struct, frozen=True):
    """What planning on without the limits that stopped plugins came to.

    `cut_off` has an entry a pod that would be evicted without them, and names the limit that blocks it;
    `refusals` are of pods that stay without them as well. Not `is_whole` when planning ended before all was asked for.
    """

    cut_off: tuple[Refusal, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    is_whole: bool = True


NOTHING_BEYOND = BeyondLimits()
"""Of a run that no limit stopped."""
