"""The Lease that one of several processes holds which run cycle after cycle: the others wait until it is free."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec.structs import replace

from descheduler.cycle.guards import take_lease
from descheduler.cycle.options import ConnectionOptions
from descheduler.kube.leases.lease import LeaseHeld
from descheduler.migration.lease_settings import LeaseOptions, lease_settings
from descheduler.policy.types import Policy
from descheduler.supervision import Watch
from descheduler.telemetry.logging import fields, log_event
from descheduler.transport.errors import ExchangeError

if TYPE_CHECKING:
    from descheduler.kube.leases.held_lease import HeldLease

_logger = logging.getLogger(__name__)
_RETRY_SECONDS = 5.0
_SUFFIX = "-loop"
_LONGEST_NAME = 253


class Leader:
    """That this process leads. Without a Lease it always does."""

    def __init__(self, lease: HeldLease | None = None) -> None:
        self._lease = lease

    @property
    def loss(self) -> str:
        """Why it leads no more, in one sentence; "" while it does."""
        return "" if self._lease is None else self._lease.loss

    def stop_at_loss(self, stop: threading.Event) -> None:
        """Has `stop` set, and no other flag any more, once the Lease is lost."""
        if self._lease is not None:
            self._lease.stopping(stop)
            if self._lease.loss:
                stop.set()


@contextmanager
def leadership(policy: Policy, connection: ConnectionOptions, options: LeaseOptions, watch: Watch) -> Iterator[Leader]:
    """Leads while the context lasts: holds the Lease `<name of the run's Lease>-loop` where a Lease is wanted.

    It is another one than that of a run, so that a run by hand can take place between two cycles. Waits for as long as
    another process holds it or the API server cannot be reached. Its loss ends the time of `watch`. Raises RunStopped
    when that is over first, and SettingsError for a kubeconfig that cannot be used.
    """
    settings = lease_settings(policy, options)
    if settings is None:
        yield Leader()
        return
    settings = replace(settings, name=f"{settings.name[: _LONGEST_NAME - len(_SUFFIX)]}{_SUFFIX}")
    client = connection.connect_in_time(policy, watch)
    try:
        told = ""
        while True:
            try:
                lease = take_lease(client, settings, watch)
                break
            except LeaseHeld as error:
                told = _tell_once("Waiting: another process leads", str(error), told)
            except ExchangeError as error:
                told = _tell_once("Waiting: the Lease cannot be taken", str(error), told)
            watch.sleep(_RETRY_SECONDS)
            watch.check()
        log_event(_logger, "Leading", lease=f"{settings.namespace}/{settings.name}")
        with lease:
            yield Leader(lease)
    finally:
        client.close()


def _tell_once(message: str, why: str, told: str) -> str:
    """Logs `message` where it is another one than the last; returns it."""
    if message != told:
        _logger.warning(message, extra=fields(reason=why))
    return message
