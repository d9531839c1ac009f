"""The memory of runs, kept in a ConfigMap beside the Lease: read before anything is decided, written after a live run.

Nothing hangs on it: what cannot be read counts as empty and what cannot be written is lost, and the run says so.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from descheduler.cycle.recent_moves import longest_window
from descheduler.kube.stored_object import ConfigMapStore
from descheduler.plan.run_memory import RunMemory, RunMemoryError
from descheduler.policy.plugin import Registry
from descheduler.policy.types import Policy
from descheduler.supervision import RunStopped, Watch
from descheduler.transport.errors import ExchangeError

if TYPE_CHECKING:
    from descheduler.kube.client import KubeClient
    from descheduler.kube.leases.settings import LeaseSettings

MEMORY_KEY = "memory.json"
_MOST_SECONDS = 10.0
_WITHOUT_LEASE = "nothing is remembered from one run to the next without a Lease"
_UNREADABLE = "the memory of earlier runs cannot be used"


def remembers(policy: Policy, registry: Registry) -> bool:
    """Whether some plugin of `policy`, or the evictor, leaves something for its next run."""
    names = {name for profile in policy.profiles for name in (*profile.deschedule, *profile.balance, *profile.used)}
    return longest_window(policy) is not None or any(registry[name].remembers for name in names)


def memory_name(lease_name: str) -> str:
    """The name of the ConfigMap beside a Lease."""
    return f"{lease_name}-memory"


class KeptMemory(msgspec.Struct, frozen=True):
    """What earlier runs left, and where it is kept; `store` is None where it is not. `notes` say what is wrong."""

    memory: RunMemory
    store: ConfigMapStore | None = None
    notes: tuple[str, ...] = ()

    def keep(self, memory: RunMemory, watch: Watch, *, why_not: Callable[[], str]) -> tuple[str, ...]:
        """Writes what the run leaves, unless `why_not` says why no call may start; a sentence if that fails."""
        if self.store is None or memory == self.memory:
            return ()
        if cause := why_not():
            return (f"the memory of this run is not kept: {cause}",)
        try:
            write = partial(self.store.update, MEMORY_KEY, lambda text: self._renewed(text, memory).encoded())
            watch.finish("writing the memory of the run", write, most_seconds=_MOST_SECONDS)
        except (ExchangeError, RunMemoryError, RunStopped, TimeoutError) as error:
            return (f"the memory of this run is not kept: {error}",)
        return ()

    def _renewed(self, stored: str, memory: RunMemory) -> RunMemory:
        """What is written in the place of `stored`, which does not count where it cannot be read."""
        try:
            return memory.joined(RunMemory.decoded(stored), read=self.memory)
        except RunMemoryError:
            return memory


def recall(client: KubeClient, lease: LeaseSettings | None, watch: Watch) -> KeptMemory:
    """The memory beside the Lease with these settings, None where there is no Lease.

    Raises RunStopped when the time of `watch` is over first.
    """
    if lease is None:
        return KeptMemory(RunMemory(missing=_WITHOUT_LEASE))
    store = ConfigMapStore(client, lease.namespace, memory_name(lease.name))
    try:
        found = watch.call("reading the memory of earlier runs", partial(client.retry.call, store.read))
    except ExchangeError as error:
        # To write what was not read would wipe out what other runs have left.
        note = f"the memory of earlier runs cannot be read, so this run starts without and keeps none: {error}"
        return KeptMemory(RunMemory(missing=_UNREADABLE), None, (note,))
    if found is None:
        return KeptMemory(RunMemory(), store)
    text = (found.data or {}).get(MEMORY_KEY)
    if text is None:
        note = f"{store.subject} has no key {MEMORY_KEY} and is left alone; delete it, or name another Lease"
        return KeptMemory(RunMemory(missing=_UNREADABLE), None, (note,))
    try:
        return KeptMemory(RunMemory.decoded(text), store)
    except RunMemoryError as error:
        note = f"{store.subject} holds no memory that can be read, so this run starts without: {error}"
        return KeptMemory(RunMemory(), store, (note,))
