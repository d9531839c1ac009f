"""Pods that some schedulers count on nodes and that are none of the cluster's, and who has been told of which.

What one cycle sees the next one mostly sees as well, so these pods are reported as gone only to the first reader
that does not see them. As everything that placed pods change is independent of their order, pods that stay this way are
no part of the undo log, which goes on below them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from typing import NamedTuple

from descheduler.model.pod import Pod


class SeenPod(NamedTuple):
    """A pod on a node, where a scheduler counts it although it is none of the cluster's, or does not; see Cycle."""

    pod: Pod
    node: int


Tell = Callable[[SeenPod, int], None]
"""Tells somebody who counts pods of one that came (1) or left (-1)."""


class _Listener:
    """Somebody who counts pods, and what was told of pods that are seen."""

    __slots__ = ("tell", "told")

    def __init__(self, tell: Tell) -> None:
        self.tell = tell
        self.told: tuple[SeenPod, ...] = ()


class Views:
    """What is seen now, and the listeners, each of which may still have been told of what was seen before.

    `is_settled` says that none of them has.
    """

    def __init__(self) -> None:
        self._now: tuple[SeenPod, ...] = ()
        self._depth = 0
        self._listeners: dict[Hashable, _Listener] = {}
        self._told_to_all: tuple[SeenPod, ...] | None = ()
        self.is_settled = True

    @property
    def is_open(self) -> bool:
        """Whether somebody looks at the cluster as a scheduler sees it."""
        return self._depth > 0

    def join(self, key: Hashable, tell: Tell) -> None:
        """Tells one more of what is seen, whom `catch_up` knows by `key`."""
        self._listeners[key] = _Listener(tell)
        self.catch_up(key)

    def open(self, seen: tuple[SeenPod, ...]) -> tuple[SeenPod, ...]:
        """All see `seen` until `close`, which needs what this returns."""
        before, self._now = self._now, seen
        self._depth += 1
        self._catch_all_up()
        return before

    def close(self, before: tuple[SeenPod, ...]) -> None:
        """All see again what they saw before `open`: outside of all views when they ask."""
        self._now = before
        self._depth -= 1
        if self._depth:
            self._catch_all_up()
        else:
            self.is_settled = self._told_to_all == ()

    def settle(self) -> None:
        """Tells all listeners what is seen now."""
        if not self.is_settled:
            self._catch_all_up()
            self.is_settled = not self._now

    def catch_up(self, key: Hashable) -> None:
        """Tells one listener what is seen now."""
        self._catch_up(self._listeners[key])
        if self._told_to_all is not self._now:
            self._told_to_all = None

    def _catch_all_up(self) -> None:
        if self._told_to_all is not self._now:
            for each in self._listeners.values():
                self._catch_up(each)
            self._told_to_all = self._now

    def _catch_up(self, listener: _Listener) -> None:
        if listener.told is not self._now:
            for each, by in _differences(listener.told, self._now):
                listener.tell(each, by)
            listener.told = self._now


def _differences(old: tuple[SeenPod, ...], new: tuple[SeenPod, ...]) -> Iterator[tuple[SeenPod, int]]:
    """What has to come and to go: pods are told apart by their identity, which lives as long as both."""
    surplus = Counter((id(each.pod), each.node) for each in new)
    surplus.subtract((id(each.pod), each.node) for each in old)
    for seen, by in ((old, -1), (new, 1)):
        for each in seen:
            key = id(each.pod), each.node
            if surplus[key] * by > 0:
                surplus[key] -= by
                yield each, by
