"""What a quota has against a pod, as a value and in the words of koord-scheduler's events."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

import msgspec

from descheduler.model.requests import CPU, MEMORY

__all__ = ["QuotaLimit", "QuotaShortage", "shown_amount", "shown_amounts"]

_DECIMAL = ("", "k", "M", "G", "T", "P", "E")
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


class QuotaLimit(Enum):
    """Which limit of a quota a pod exceeds."""

    RUNTIME = "runtime"
    """What the quota may use now."""
    MAX = "max"
    """The same without runtime quota."""
    MIN = "min"
    """What pods that nobody may preempt get at most."""
    PARENT = "parent"
    """What a parent of the quota may use now, where parents are checked."""


class QuotaShortage(msgspec.Struct, frozen=True):
    """A pod that exceeds a limit of a quota. Amounts are in units: cpu in thousandths, others whole.

    `quota` is the one that is exceeded, `path` leads from it down to the pod's own. `used` is what counts against
    `limit`, `dimensions` are the resources that are exceeded.
    """

    kind: QuotaLimit
    quota: str
    path: tuple[str, ...]
    limit: Mapping[str, int]
    used: Mapping[str, int]
    requested: Mapping[str, int]
    dimensions: tuple[str, ...]

    @property
    def reason(self) -> str:
        """In the words of the scheduler's events."""
        is_min, is_parent = self.kind is QuotaLimit.MIN, self.kind is QuotaLimit.PARENT
        what = "non-preemptible quotas" if is_min else "quotas"
        name = f"quotaNameTopo: [{' '.join(self.path)}]" if is_parent else f"quotaName: {self.quota}"
        limit, used = ("min", "nonPreemptibleUsed") if is_min else ("runtime", "used")
        return (
            f"Insufficient {what}, {name}, {limit}: {shown_amounts(self.limit)}, {used}: {shown_amounts(self.used)}, "
            f"pod's request: {shown_amounts(self.requested)}, exceedDimensions: [{' '.join(self.dimensions)}]"
        )

    @property
    def short(self) -> str:
        """As part of a sentence."""
        return f"insufficient elastic quota {self.quota} ({self.kind.value} of {', '.join(self.dimensions)})"


def shown_amounts(amounts: Mapping[str, int]) -> str:
    """`cpu:2,memory:8Gi`, by name; `<empty>` for none."""
    return ",".join(f"{name}:{shown_amount(name, amounts[name])}" for name in sorted(amounts)) or "<empty>"


def shown_amount(resource: str, amount: int) -> str:
    """An amount in units as a Kubernetes quantity."""
    if resource == CPU and amount % 1000:
        return f"{amount}m"
    whole = amount // 1000 if resource == CPU else amount
    base, suffixes = (1024, _BINARY) if resource == MEMORY else (1000, _DECIMAL)
    place = 0
    while whole and whole % base == 0 and place < len(suffixes) - 1:
        whole //= base
        place += 1
    return f"{whole}{suffixes[place]}"
