"""The part of an `Explanation` about an elastic quota of Koordinator."""

from __future__ import annotations

from descheduler.documents.fields import Fields

__all__ = ["QuotaExplanation", "QuotaFacts", "QuotaResource"]


class QuotaResource(Fields, frozen=True):
    """One resource of an elastic quota: cpu in milli cores, all else in whole units.

    `max` is null for a resource that the quota does not limit. `runtime` is what its pods may use together now, null
    where that is not limited. `used` is what its placed pods request, `requested` what all of its pods do, the one that
    is explained among them; `pod` is what that one requests, 0 where a quota is explained by itself.
    """

    resource: str
    min: int
    max: int | None
    runtime: int | None
    used: int
    requested: int
    pod: int


class QuotaFacts(Fields, frozen=True):
    """An elastic quota. `parent` is empty directly below the root, `tree` for the default tree."""

    name: str
    parent: str
    tree: str
    resources: tuple[QuotaResource, ...]


class QuotaExplanation(Fields, frozen=True):
    """Everything about one elastic quota. `children` are the quotas directly below it, by name.

    `notes` say why it or a child of it uses more than the runtime quota.
    """

    facts: QuotaFacts
    children: tuple[QuotaFacts, ...]
    notes: tuple[str, ...]
