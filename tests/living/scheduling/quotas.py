"""ElasticQuotas, as far as their `max` goes: a pod waits when its quota, or one above it, would be exceeded."""

from __future__ import annotations

from collections.abc import Iterable

from tests.living.scheduling.amounts import Amounts, amounts, pod_requests, summed
from tests.living.scheduling.rooms import is_finished
from tests.living.store import Object, Store

_NAME = "quota.scheduling.koordinator.sh/name"
_PARENT = "quota.scheduling.koordinator.sh/parent"


def quota_of(pod: Object) -> str:
    """The quota that a pod names, "" for none."""
    return str((pod["metadata"].get("labels") or {}).get(_NAME, ""))


def exceeded_quota(store: Store, pod: Object) -> str:
    """What keeps the pod from being placed, "" when every quota above it has room."""
    quotas = {found["metadata"]["name"]: found for found in store.all("elasticquotas.scheduling.sigs.k8s.io")}
    name = quota_of(pod)
    while name in quotas:
        limit, used, needed = amounts(quotas[name]["spec"].get("max")), used_of(store, name), pod_requests(pod)
        short = sorted(part for part in limit if used.get(part, 0) + needed.get(part, 0) > limit[part])
        if short:
            return f"Insufficient quotas, quotaName: {name}, exceedDimensions: [{' '.join(short)}]"
        name = _parent(quotas[name])
    return ""


def used_of(store: Store, name: str) -> Amounts:
    """What the bound pods of a quota and of those below it request."""
    names = set(_below(store, name))
    pods = [pod for pod in store.all("pods") if pod["spec"].get("nodeName") and not is_finished(pod)]
    return summed(pod_requests(pod) for pod in pods if quota_of(pod) in names)


def _below(store: Store, name: str) -> Iterable[str]:
    yield name
    for found in store.all("elasticquotas.scheduling.sigs.k8s.io"):
        if _parent(found) == name != found["metadata"]["name"]:
            yield from _below(store, found["metadata"]["name"])


def _parent(quota: Object) -> str:
    return str((quota["metadata"].get("labels") or {}).get(_PARENT, ""))
