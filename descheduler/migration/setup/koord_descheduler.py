"""Whether koord-descheduler runs in the cluster, which then carries out the jobs that users create."""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from descheduler.kube.errors import ApiError
from descheduler.kube.objects import ObjectCalls

__all__ = ["runs_koord_descheduler"]

_LEASE_PATH = "/apis/coordination.k8s.io/v1/namespaces/koordinator-system/leases/koord-descheduler"


class _Spec(msgspec.Struct, rename="camel"):
    holder_identity: str | None = None
    renew_time: datetime | None = None
    lease_duration_seconds: int | None = None


class _Lease(msgspec.Struct):
    spec: _Spec


_decode = msgspec.json.Decoder(_Lease).decode


def runs_koord_descheduler(objects: ObjectCalls, now: datetime) -> bool | None:
    """Whether somebody holds the Lease of koord-descheduler at `now`; None where that may not be read.

    Source: koordinator 1.8 `cmd/koord-descheduler`, leader election by the Lease of this name. Raises KubeError.
    """
    try:
        lease = objects.read(_LEASE_PATH, _decode)
    except ApiError as error:
        if error.is_forbidden:
            return None
        raise
    if lease is None or not lease.spec.holder_identity or lease.spec.renew_time is None:
        return False
    return now <= lease.spec.renew_time + timedelta(seconds=lease.spec.lease_duration_seconds or 0)
