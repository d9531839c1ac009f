"""Followers of a shadow cluster, which derive state from placed pods one at a time, and its undo log."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Protocol, runtime_checkable

import msgspec

from descheduler.model.pod import Pod, PodSpec
from descheduler.placement.shadow.roles import implements


class _Ledger(Protocol):
    """The methods of a ledger that an entry needs."""

    def release(self, taken: Any) -> None:
        """Gives back what was taken."""

    def restore(self, taken: Any) -> None:
        """Takes exactly that again."""


class Change(msgspec.Struct, frozen=True, gc=False):
    """A pod that came (`sign` 1) or left (-1). `takes_room` is false for one that keeps the room that it has."""

    pod: Pod
    node: int
    is_terminating: bool
    sign: int
    takes_room: bool = True


class Taking(NamedTuple):
    """What was taken out of a ledger (`sign` 1) or given back (-1)."""

    ledger: _Ledger
    taken: object
    sign: int


Entry = Change | Taking
Changes = tuple[Entry, ...]
"""Entries of the undo log, oldest first."""


class WhatIf:
    """A stretch of the undo log, from `ShadowCluster.what_if` on. At the end of a `with` statement all of it is taken
    back, unless it was kept."""

    __slots__ = ("_is_kept", "_log", "_start", "_undo_to")

    def __init__(self, log: Sequence[Entry], undo_to: Callable[[int], None]) -> None:
        self._log = log
        self._undo_to = undo_to
        self._start = len(log)
        self._is_kept = False

    @property
    def changes(self) -> Changes:
        """What was done so far, for `ShadowCluster.repeat`."""
        return tuple(self._log[self._start :])

    def keep(self) -> None:
        """Leaves everything as it is at the end."""
        self._is_kept = True

    def take_back(self) -> None:
        """Takes back everything so far; more may follow."""
        self._undo_to(self._start)

    def __enter__(self) -> WhatIf:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None or not self._is_kept:
            self.take_back()


class Follower(Protocol):
    """State about placed pods that is derived from them one at a time."""

    def pod_added(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """`pod` is on `node` (`NO_NODE` for one that the snapshot does not hold)."""

    def pod_removed(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """The exact inverse of `pod_added`."""

    def fingerprint(self) -> object:
        """A value whose `repr` differs when the state does, independent of the order of changes."""


class CountingFollower(ABC):
    """A follower that takes pods in and out by the same steps."""

    @abstractmethod
    def count(self, pod: Pod, node: int, sign: int, *, is_terminating: bool) -> None:
        """Takes `pod` in with the sign 1, out with -1."""

    def pod_added(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """Counts it."""
        self.count(pod, node, 1, is_terminating=is_terminating)

    def pod_removed(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """Counts it no longer."""
        self.count(pod, node, -1, is_terminating=is_terminating)


@runtime_checkable
class ChoosyFollower(Follower, Protocol):
    """A follower that most pods do not concern, and that is told of the others only."""

    def concerns(self, spec: PodSpec) -> bool:
        """Whether pods of `spec` concern it although they have neither claims nor ephemeral volumes.

        It is told of all pods that have some.
        """


class _Tell(Protocol):
    """`pod_added` or `pod_removed` of a follower."""

    def __call__(self, pod: Pod, node: int, /, *, is_terminating: bool) -> None:
        """Tells of one pod."""


class Tells(NamedTuple):
    """Whom to tell of pods that come, and of those that leave."""

    added: list[_Tell]
    removed: list[_Tell]


def concern_of(follower: Follower) -> Callable[[Pod], bool]:
    """Which pods `follower` is told of."""
    if not implements(follower, ChoosyFollower):
        return lambda _: True
    concerns = follower.concerns
    return lambda pod: bool(pod.claim_names or pod.ephemeral_volumes) or concerns(pod.spec)


class Followers:
    """The followers of one cluster, `by_kind`."""

    def __init__(self) -> None:
        self.by_kind: dict[Hashable, Follower] = {}
        self._tells_of_all = Tells([], [])
        # The spec is kept as well: an identity stands for it only as long as it lives.
        self._tells_by_spec: dict[int, tuple[PodSpec, Tells]] = {}

    def add(self, kind: Hashable, follower: Follower) -> None:
        """One more, which is told of all changes from now on."""
        self.by_kind[kind] = follower
        self._tells_of_all.added.append(follower.pod_added)
        self._tells_of_all.removed.append(follower.pod_removed)
        self._tells_by_spec.clear()

    def tells_of(self, pod: Pod) -> Tells:
        """Those that `pod` concerns."""
        if pod.claim_names or pod.ephemeral_volumes:
            return self._tells_of_all
        known = self._tells_by_spec.get(id(pod.spec))
        if known is None:
            concerned = [each for each in self.by_kind.values() if concern_of(each)(pod)]
            tells = Tells([each.pod_added for each in concerned], [each.pod_removed for each in concerned])
            known = self._tells_by_spec[id(pod.spec)] = pod.spec, tells
        return known[1]
