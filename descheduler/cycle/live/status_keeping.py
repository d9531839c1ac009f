"""The status of the last runs, in a ConfigMap beside the Lease: written by runs, read by `descheduler status`.

Nothing hangs on it: what cannot be written is lost, and the run says so.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import partial

from msgspec.structs import replace

from descheduler.cycle.options import ConnectionOptions
from descheduler.kube.client import KubeClient
from descheduler.kube.errors import ApiError
from descheduler.kube.leases.settings import own_namespace
from descheduler.kube.stored_object import ConfigMapStore
from descheduler.migration.lease_settings import LeaseOptions, lease_settings
from descheduler.policy.types import Policy
from descheduler.report.outcome.status_document import RunSummary, StatusDocument, StatusError
from descheduler.supervision import RunStopped, Watch
from descheduler.transport.errors import ExchangeError

STATUS_KEY = "status.json"
_MOST_SECONDS = 10.0


def status_store(client: KubeClient, policy: Policy | None, options: LeaseOptions) -> ConfigMapStore:
    """Where the status of runs of `policy` is kept: beside the Lease that they hold, or would hold if they took one.

    Without a policy `options` must name the Lease, else ValueError is raised.
    """
    if policy is None and options.name:
        return ConfigMapStore(client, options.namespace or own_namespace(), status_name(options.name))
    lease = None if policy is None else lease_settings(policy, replace(options, is_wanted=True))
    if lease is None:
        raise ValueError("neither a policy nor the name of a Lease")
    return ConfigMapStore(client, lease.namespace, status_name(lease.name))


def status_name(lease_name: str) -> str:
    """The name of the ConfigMap beside a Lease."""
    return f"{lease_name}-status"


def keep_status(
    store: ConfigMapStore, make: Callable[[], RunSummary], watch: Watch, *, why_not: Callable[[], str] = lambda: ""
) -> tuple[str, ...]:
    """Puts a run in front of those before it, unless `why_not` says why no call may start; a sentence if that fails."""
    if cause := why_not():
        return (f"the status of this run is not kept: {cause}",)
    try:
        write = partial(store.update, STATUS_KEY, lambda text: _known(text).with_run(make()).encoded())
        watch.finish("writing the status of the run", write, most_seconds=_MOST_SECONDS)
    except (ExchangeError, RunStopped, TimeoutError) as error:
        return (f"the status of this run is not kept: {error}",)
    return ()


def find_status(policy: Policy | None, connection: ConnectionOptions, options: LeaseOptions) -> StatusDocument:
    """The status of the runs of `policy`, or of those that hold the Lease that `options` name.

    Raises ExchangeError when it cannot be read, and when no run has left one.
    """
    with closing(connection.connect(policy)) as client:
        store = status_store(client, policy, options)
        try:
            return client.retry.call(lambda: _read(store))
        except ApiError as error:
            if not error.is_forbidden:
                raise
            raise ExchangeError(f"not allowed to get {store.subject} (RBAC), which holds the status of runs") from error


def _read(store: ConfigMapStore) -> StatusDocument:
    found = store.read()
    text = "" if found is None else (found.data or {}).get(STATUS_KEY, "")
    if not text:
        raise ExchangeError(
            f"no run has left a status: {store.subject} does not exist or holds none; check the Lease name"
        )
    try:
        return StatusDocument.decoded(text)
    except StatusError as error:
        raise ExchangeError(f"{store.subject} is {error}") from error


def _known(text: str) -> StatusDocument:
    """What other runs have left, nothing where that cannot be read: it is only looked at."""
    try:
        return StatusDocument.decoded(text)
    except StatusError:
        return StatusDocument.decoded("")
