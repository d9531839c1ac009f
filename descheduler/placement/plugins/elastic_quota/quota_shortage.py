"""What a quota has against a pod, as a value and in the words of koord-scheduler's events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from descheduler.model.requests import CPU, MEMORY
from descheduler.model.text.amounts import amount_of, amount_text
from descheduler.model.verdict import Reason

_DECIMAL = ("", "k", "M", "G", "T", "P", "E")
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


class QuotaLimit(Enum):
    """Which limit of a quota a pod exceeds."""

    RUNTIME = "runtime"
    """What the quota may use now."""
    MAX = "max"
    """The same without runtime quota."""
    MIN = "min"
    """The most that non-preemptible pods get."""
    PARENT = "parent"
    """What a parent of the quota may use now, where parents are checked."""


@dataclass(frozen=True, slots=True)
class QuotaShortage:
    """A pod that exceeds a limit of a quota. Amounts are in units: cpu in thousandths, others whole.

    `quota` is the one that is exceeded, `path` leads from it down to the pod's own. `used` is what counts against
    `limit`, `dimensions` are the resources that are exceeded. `most` is the max of the quota, which a runtime quota is
    often at.
    """

    kind: QuotaLimit
    quota: str
    path: tuple[str, ...]
    limit: Mapping[str, int]
    used: Mapping[str, int]
    requested: Mapping[str, int]
    dimensions: tuple[str, ...]
    most: Mapping[str, int] = field(default_factory=dict, compare=False)

    @property
    def reason(self) -> str:
        is_min, is_parent = self.kind is QuotaLimit.MIN, self.kind is QuotaLimit.PARENT
        what = "non-preemptible quotas" if is_min else "quotas"
        name = f"quotaNameTopo: [{' '.join(self.path)}]" if is_parent else f"quotaName: {self.quota}"
        limit, used = ("min", "nonPreemptibleUsed") if is_min else ("runtime", "used")
        return (
            f"Insufficient {what}, {name}, {limit}: {_shown_amounts(self.limit)}, {used}: {_shown_amounts(self.used)}, "
            f"pod's request: {_shown_amounts(self.requested)}, exceedDimensions: [{' '.join(self.dimensions)}]"
        )

    @property
    def eviction_reason(self) -> Reason:
        """The reason code of an eviction after which the quota keeps the replacement pod back."""
        return Reason.ELASTIC_QUOTA

    @property
    def subject(self) -> str:
        """The quota that is exceeded."""
        return self.quota

    @property
    def short(self) -> str:
        """Such as `quota team: 4 CPU requested, 2 CPU over its max of 20`."""
        heirs = f" (parent of {self.path[-1]})" if self.kind is QuotaLimit.PARENT else ""
        return f"quota {self.quota}{heirs}: {'; '.join(map(self._excess, self.dimensions))}"

    def _excess(self, resource: str) -> str:
        requested = self.requested.get(resource, 0)
        over = self.used.get(resource, 0) + requested - self.limit[resource]
        asked, more = amount_of(resource, requested), amount_of(resource, over)
        return f"{asked} requested, {more} over its {self._limit_words(resource)}"

    def _limit_words(self, resource: str) -> str:
        limit, most = self.limit[resource], self.most.get(resource)
        shown = amount_text(resource, limit)
        if self.kind is QuotaLimit.MIN:
            return f"min of {shown} (the limit of pods that cannot be preempted)"
        if self.kind is QuotaLimit.MAX or limit == most:
            return f"max of {shown}"
        return f"runtime quota of {shown}" + ("" if most is None else f" (max: {amount_text(resource, most)})")


def _shown_amounts(amounts: Mapping[str, int]) -> str:
    """`cpu:2,memory:8Gi`, by name; `<empty>` for none."""
    return ",".join(f"{name}:{_shown_amount(name, amounts[name])}" for name in sorted(amounts)) or "<empty>"


def _shown_amount(resource: str, amount: int) -> str:
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
