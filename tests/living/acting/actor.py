"""What every controller has in common: it hears of changes and acts a little later, once for many of them."""

from __future__ import annotations

from abc import ABC, abstractmethod

from tests.living.store import Change, Store


class Actor(ABC):
    """Wakes `delay_seconds` after a change that concerns it. `name` is said of all that it changes."""

    name: str
    kinds: frozenset[str] = frozenset()
    """The kinds whose changes wake it, as in `Resource.kind`."""
    delay_seconds = 0.05

    def __init__(self, store: Store) -> None:
        self.store = store
        self._wakes_at: float | None = None
        store.listeners.append(self.hear)
        self.wake(0.0)

    def hear(self, change: Change) -> None:
        """Takes note of a change."""
        if change.resource.kind in self.kinds and self.concerns(change):
            self.wake(self.delay_seconds)

    def concerns(self, change: Change) -> bool:
        """Whether a change of one of its kinds gives it something to do."""
        del change
        return True

    def wake(self, seconds: float) -> None:
        """Has it act in `seconds`, or before when that is settled already."""
        at = self.store.clock.monotonic() + seconds
        if self._wakes_at is None or at < self._wakes_at:
            self._wakes_at = at
            self.store.clock.after(seconds, lambda: self._woken(at))

    @abstractmethod
    def act(self) -> None:
        """Brings what is in the store nearer to what should be."""

    def _woken(self, at: float) -> None:
        if self._wakes_at == at:
            self._wakes_at = None
            with self.store.acting(self.name):
                self.act()
