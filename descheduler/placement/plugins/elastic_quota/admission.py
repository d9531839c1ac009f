"""Whether a quota takes one more pod (PreFilter of koordinator 1.8 `pkg/scheduler/plugins/elasticquota/plugin.go`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum

from msgspec.structs import replace

from descheduler.model.requests import CPU, MEMORY, ceil_amount
from descheduler.model.text.amounts import amount_of, amount_text
from descheduler.model.verdict import Reason
from descheduler.placement.plugins.elastic_quota.quota_forest import QuotaPlace
from descheduler.placement.plugins.elastic_quota.quota_tree import Amounts, capped
from descheduler.placement.plugins.elastic_quota.quota_usage import QuotaAccount, QuotaUsage

__all__ = ["QuotaAdmission", "QuotaLimit", "QuotaShortage"]

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
        heirs = f" (parent of {self.path[-1]})" if self.kind is QuotaLimit.PARENT and len(self.path) > 1 else ""
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


_Amounts = Mapping[str, int]


class QuotaAdmission:
    """Asks the quotas of `usage`, with `checks_parents` (`enableCheckParentQuota`) their parents too."""

    def __init__(self, usage: QuotaUsage, *, checks_parents: bool = False) -> None:
        self.usage = usage
        self._uses_runtime = usage.settings.uses_runtime
        self._checks_parents = checks_parents

    def shortage(self, account: QuotaAccount) -> QuotaShortage | None:
        """What the quota of `account` has against one more pod of it, or None."""
        with self.usage.incoming(account):
            return self._of_quota(account) or self._of_min(account) or self._of_parents(account)

    def limit(self, place: QuotaPlace) -> _Amounts:
        """What pods of the quota may use together now, in units; resources that it does not name are not limited."""
        if not self.usage.is_limited(place):
            return {}
        if self._uses_runtime:
            return self._named(place, place.runtime.of(place.index), place.runtime.limits(place.index))
        return _most(place)

    def used(self, place: QuotaPlace, *, fixed: bool = False) -> _Amounts:
        """What placed pods of the quota use, in units; with `fixed` only non-preemptible pods count."""
        tree = place.tree
        return self._named(place, (tree.fixed_used if fixed else tree.used)[place.index], tree.resources)

    def _of_quota(self, account: QuotaAccount) -> QuotaShortage | None:
        kind = QuotaLimit.RUNTIME if self._uses_runtime else QuotaLimit.MAX
        place = account.place
        return self._exceeded(kind, (place,), account, self.limit(place), self.used(place))

    def _of_min(self, account: QuotaAccount) -> QuotaShortage | None:
        if not account.is_fixed:
            return None
        place = account.place
        limit = {name: ceil_amount(name, nano) for name, nano in place.quota.min.items()}
        return self._exceeded(QuotaLimit.MIN, (place,), account, limit, self.used(place, fixed=True))

    def _of_parents(self, account: QuotaAccount) -> QuotaShortage | None:
        if not self._checks_parents:
            return None
        own = account.place
        path: tuple[QuotaPlace, ...] = ()
        for index in own.tree.path(own.index):
            path = (replace(own, index=index), *path)
            if len(path) == 1:  # its own quota
                continue
            limit = self._limit_above(path[0], account)
            found = self._exceeded(QuotaLimit.PARENT, path, account, limit, self.used(path[0]))
            if found is not None:
                return found
        return None

    def _limit_above(self, place: QuotaPlace, account: QuotaAccount) -> _Amounts:
        """As `limit`, of a parent of the quota of `account`: 0 of what is requested and not named by its own max."""
        limit = self.limit(place)
        return dict.fromkeys(account.names, 0) | dict(limit) if limit else limit

    def _exceeded(
        self, kind: QuotaLimit, path: tuple[QuotaPlace, ...], account: QuotaAccount, limit: _Amounts, used: _Amounts
    ) -> QuotaShortage | None:
        requested = self._named(account.place, account.amounts, account.names)
        counted = account.names if kind is QuotaLimit.PARENT else frozenset(limit)
        after = {name: used.get(name, 0) + requested.get(name, 0) for name in counted & limit.keys()}
        over = [name for name, amount in after.items() if amount > limit[name]]
        if not over:
            return None
        names = tuple(place.quota.name for place in path)
        used = {name: amount for name, amount in used.items() if amount}
        most = _most(path[0])
        return QuotaShortage(kind, names[0], names, limit, used, requested, tuple(sorted(over)), most)

    @staticmethod
    def _named(place: QuotaPlace, amounts: Amounts, names: Collection[str]) -> _Amounts:
        resources = place.tree.resources
        return {name: amount for name, amount in zip(resources, amounts.tolist(), strict=True) if name in names}


def _most(place: QuotaPlace) -> _Amounts:
    return {name: capped(ceil_amount(name, nano)) for name, nano in place.quota.max.items()}
