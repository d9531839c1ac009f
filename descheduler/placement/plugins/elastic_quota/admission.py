"""Whether a quota takes one more pod (PreFilter of koordinator 1.8 `pkg/scheduler/plugins/elasticquota/plugin.go`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec.structs import replace

from descheduler.model.requests import ceil_amount
from descheduler.placement.plugins.elastic_quota.quota_forest import QuotaPlace
from descheduler.placement.plugins.elastic_quota.quota_shortage import QuotaLimit, QuotaShortage
from descheduler.placement.plugins.elastic_quota.quota_tree import Amounts, capped
from descheduler.placement.plugins.elastic_quota.quota_usage import QuotaAccount, QuotaUsage

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
