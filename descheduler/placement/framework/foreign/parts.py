"""What scheduling plugins hand out that are not of this program, behind guards: ledgers and interactions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from descheduler.model.pod import Pod
from descheduler.placement.framework.interactions import CAUTIOUS, EndingInteractions, Interactions
from descheduler.placement.framework.koordinator.allocation import Allocation, TellingLedger
from descheduler.placement.shadow.shadow_cluster import Cycle, Ledger
from descheduler.policy.plugin_faults import (
    Origin,
    PluginFault,
    at_most,
    fault_of,
    is_of,
    is_own_code,
    note_fault,
    text_of,
)

__all__ = ["ForeignLedger", "Trouble", "guarded_interactions", "guarded_ledger"]

_Question = Literal["can_be_helped", "is_local", "is_felt_widely", "interact", "hinders_while_ending"]


class Trouble:
    """Whether a plugin has failed: what it says afterwards does not count any more."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.fault: PluginFault | None = None
        """The first one."""

    def note(self, error: BaseException) -> PluginFault:
        """Notes what the plugin has raised, and returns it as its fault."""
        fault = fault_of(self.origin, error)
        if self.fault is None:
            self.fault = fault
            note_fault(fault)
        return fault


class ForeignLedger:
    """A ledger that takes nothing once its plugin has failed. `inner` is the plugin's own."""

    def __init__(self, inner: Ledger[Any], trouble: Trouble) -> None:
        self.inner = inner
        self._trouble = trouble

    def reserve(self, cycle: Cycle, node: int) -> object | None:
        """As `inner`; a fault is a condition of the landing."""
        if self._trouble.fault is not None:
            return None
        try:
            taken: object | None = self.inner.reserve(cycle, node)
        except BaseException as error:
            cycle.notes.append(str(self._trouble.note(error)))
            return None
        return taken

    def release(self, taken: object) -> None:
        """As `inner`."""
        self._change(self.inner.release, taken)

    def restore(self, taken: object) -> None:
        """As `inner`."""
        self._change(self.inner.restore, taken)

    def _change(self, change: Callable[[Any], None], taken: object) -> None:
        try:
            change(taken)
        except BaseException as error:
            self._trouble.note(error)

    def fingerprint(self) -> object:
        """As `inner`; the same for all states once that has failed."""
        try:
            return repr(self.inner.fingerprint())
        except BaseException as error:
            return str(self._trouble.note(error))


class _TellingLedger(ForeignLedger):
    """One that tells what it took by name."""

    def allocations(self, taken: Any) -> tuple[Allocation, ...]:
        """As `inner`; nothing where that fails."""
        if self._trouble.fault is None and isinstance(self.inner, TellingLedger):
            try:
                return tuple(
                    [_checked_allocation(each) for each in at_most(self.inner.allocations(taken), 1_000, _TOLD)]
                )
            except BaseException as error:
                self._trouble.note(error)
        return ()


_TOLD = "allocations()"


def _checked_allocation(given: object) -> Allocation:
    told = is_of(given, Allocation, "an allocation")
    resources = {text_of(name, _TOLD): is_of(number, int, _TOLD) for name, number in told.resources.items()}
    return Allocation(text_of(told.plugin, _TOLD), text_of(told.kind, _TOLD), text_of(told.name, _TOLD), resources)


def guarded_ledger(given: Ledger[Any], trouble: Trouble) -> ForeignLedger:
    """The ledger of a plugin behind its guard."""
    kind = _TellingLedger if isinstance(given, TellingLedger) else ForeignLedger
    return kind(given, trouble)


def guarded_interactions(given: object, trouble: Trouble) -> Interactions:
    """Interactions of a plugin; the most cautious where they fail."""
    if is_own_code(type(given)):
        return given  # type: ignore[return-value] # those of this program
    kind = _ForeignEndingInteractions if isinstance(given, EndingInteractions) else _ForeignInteractions
    return kind(given, trouble)


class _ForeignInteractions:
    """Answers as those of a plugin, and with all caution once it has failed."""

    def __init__(self, inner: object, trouble: Trouble) -> None:
        self._inner = inner
        self._trouble = trouble

    def can_be_helped(self, pod: Pod) -> bool:
        return self._answer("can_be_helped", pod)

    def is_local(self, pod: Pod) -> bool:
        return self._answer("is_local", pod)

    def is_felt_widely(self, pod: Pod) -> bool:
        return self._answer("is_felt_widely", pod)

    def interact(self, first: Pod, second: Pod) -> bool:
        return self._answer("interact", first, second)

    def _answer(self, question: _Question, *pods: Pod) -> bool:
        if self._trouble.fault is None:
            try:
                return bool(is_of(getattr(self._inner, question)(*pods), int, f"{question}()"))
            except BaseException as error:
                self._trouble.note(error)
        return bool(getattr(CAUTIOUS, question)(*pods)) if hasattr(CAUTIOUS, question) else True


class _ForeignEndingInteractions(_ForeignInteractions):
    def hinders_while_ending(self, ending: Pod, pod: Pod) -> bool:
        return self._answer("hinders_while_ending", ending, pod)
