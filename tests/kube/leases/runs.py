"""Runs that take a Lease."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from descheduler.kube.client import KubeClient
from descheduler.kube.leases.held_lease import HeldLease
from descheduler.kube.leases.lease import acquire
from descheduler.kube.leases.settings import LeaseSettings
from descheduler.kube.leases.store import micro_time
from tests.integration.fake_leases import LEASES
from tests.migration.stand_ins import Clock

NOW = datetime(2026, 6, 30, 12, tzinfo=UTC)


LEASE = f"{LEASES}/repair"


SETTINGS = LeaseSettings("kube-system", "repair", duration_seconds=60)


def take(
    client: KubeClient, *, me: str = "me", clock: Clock | None = None, settings: LeaseSettings = SETTINGS
) -> HeldLease:
    clock = clock or Clock()
    return acquire(client, settings, retry=client.retry, identity=me, now=lambda: NOW, clock=clock.now)


def held_by(holder: str, *, seconds_ago: float, **spec: Any) -> dict[str, Any]:
    """A lease of 60 seconds that its holder renewed so long ago."""
    renewed = micro_time(NOW - timedelta(seconds=seconds_ago))
    usual = {"acquireTime": renewed, "leaseDurationSeconds": 60, "leaseTransitions": 4}
    return {"holderIdentity": holder, "renewTime": renewed, **usual, **spec}
