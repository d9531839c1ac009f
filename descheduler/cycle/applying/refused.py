"""A plan that is refused, with everything that has changed since it was made."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.model.text.counted import counted

__all__ = ["PlanRefusedError", "refused", "shortened"]

_MOST_SHOWN = 20


class PlanRefusedError(Exception):
    """A plan that does not hold any more; the message says what changed. Nothing was evicted."""


def refused(changes: Sequence[str], *, can_leave_out: bool = False) -> PlanRefusedError:
    """The error for a plan since which this has changed; `can_leave_out`: other moves of it hold."""
    lines = "".join(f"\n  {text}" for text in shortened(changes))
    way_out = ", or leave these moves out with --allow-partial" if can_leave_out else ""
    return PlanRefusedError(
        f"the plan is not applied, nothing was evicted; {counted(len(changes), 'change')} since it was made:{lines}\n"
        f"make a new plan with 'descheduler plan --out'{way_out}"
    )


def shortened(texts: Sequence[str]) -> list[str]:
    """The first of `texts`, and how many more there are."""
    more = len(texts) - _MOST_SHOWN
    return [*texts[:_MOST_SHOWN], *([f"and {more:,} more"] if more > 0 else [])]
