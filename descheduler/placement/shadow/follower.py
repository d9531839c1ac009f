"""Followers of a shadow cluster: state that is derived from placed pods one at a time, and whom each pod concerns."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import NamedTuple, Protocol, runtime_checkable

from descheduler.model.pod import Pod, PodSpec
from descheduler.placement.shadow.roles import implements

__all__ = ["ChoosyFollower", "Follower", "Followers", "Tells", "concern_of"]


class Follower(Protocol):
    """State about placed pods that is derived from them one at a time."""

    def pod_added(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """`pod` is on `node` (`NO_NODE` for one that the snapshot does not hold)."""

    def pod_removed(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """The exact inverse of `pod_added`."""

    def fingerprint(self) -> object:
        """A value whose `repr` differs when the state does, independent of the order of changes."""


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
