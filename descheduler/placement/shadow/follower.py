"""Followers of a shadow cluster: state that is derived from placed pods one at a time."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

from descheduler.model.pod import Pod, PodSpec

__all__ = ["ChoosyFollower", "Follower", "Tells"]


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
