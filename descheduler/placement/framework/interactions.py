"""How pods that are placed one after another bear on each other: what each scheduling plugin declares of its answers.

The proof that a batch lands rests on these answers, so a plugin that declares nothing is taken to be `CAUTIOUS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, runtime_checkable

from descheduler.model.pod import Pod

__all__ = [
    "BY_REQUESTS",
    "CAUTIOUS",
    "OWN_NODE",
    "ClosingInteractions",
    "ClosingNodes",
    "EndingInteractions",
    "Interactions",
    "Interplay",
    "JoinedInteractions",
    "OnOwnNode",
]


_ANY_RULE = "any rule"


class Interactions(Protocol):
    """What can be said of one plugin's answers from the specs of pods alone. Host names are taken to be unique."""

    def can_be_helped(self, pod: Pod) -> bool:
        """Whether the plugin may stop refusing a node to `pod` because another pod is placed, on whatever node."""

    def is_local(self, pod: Pod) -> bool:
        """Whether what the plugin says of `pod` on a node hangs on that node and the pods there only.

        Others that `is_felt_widely` is true of are not counted.
        """

    def is_felt_widely(self, pod: Pod) -> bool:
        """Whether `pod`, once placed, may bear on what the plugin says of local pods on other nodes."""

    def interact(self, first: Pod, second: Pod) -> bool:
        """Whether either of the pods, once placed, may bear on what the plugin says of the other on other nodes."""


class Interplay(Protocol):
    """How pods that a scheduler places bear on each other, by all of its rules together. Each has a name, which is that
    of the scheduling plugin where it is one. Nothing is known by the bodies here, so anything may happen."""

    def can_be_helped(self, pod: Pod) -> bool:
        """Whether a node may come to take `pod` because another pod is placed, on whatever node."""
        del pod
        return True

    def is_local(self, pod: Pod) -> bool:
        """Whether what is said of `pod` on a node hangs on that node and the pods there only.

        Others that `is_felt_widely` is true of are not counted.
        """
        del pod
        return False

    def is_felt_widely(self, pod: Pod) -> bool:
        """Whether `pod`, once placed, may bear on what is said of local pods on other nodes."""
        del pod
        return True

    def hinders_while_ending(self, ending: Pod, pod: Pod) -> bool:
        """Whether `ending`, as long as it is being deleted, may keep `pod` off a node other than its own that is open
        once `ending` is gone."""
        del ending, pod
        return True

    def interact(self, first: Pod, second: Pod) -> bool:
        """Whether either of the pods, once placed, may bear on what is said of the other on other nodes."""
        del first, second
        return True

    def interacting(self, first: Pod, second: Pod, *, but_for: str = "") -> frozenset[str]:
        """The rules by which they do; the rule `but_for` is not asked."""
        del first, second, but_for
        return frozenset({_ANY_RULE})

    def reaches(self, rule: str, pod: Pod) -> bool:
        """Whether by `rule` pods on other nodes may bear on `pod`."""
        del rule, pod
        return False

    def closes(self, placed: Pod, pod: Pod) -> bool:
        """Whether `placed` may close the node that it is on to `pod`, by anything but the requests of both."""
        del placed, pod
        return True


@runtime_checkable
class EndingInteractions(Interactions, Protocol):
    """Tells more of pods that are being deleted than follows from the other answers."""

    def hinders_while_ending(self, ending: Pod, pod: Pod) -> bool:
        """Whether `ending`, as long as it is being deleted, may have the plugin refuse to `pod` a node other than its
        own that is open once `ending` is gone."""


@runtime_checkable
class ClosingInteractions(Interactions, Protocol):
    """Tells more of pods on one node. A plugin that tells nothing may refuse a node to any pod because of any other."""

    def closes(self, placed: Pod, pod: Pod) -> bool:
        """Whether `placed` may have the plugin refuse the node that it is on to `pod`, by anything but the requests of
        both: those are counted for all plugins at once."""


class OnOwnNode:
    """Placed pods bear on nothing but the node that they are on; a subclass says when they help others there."""

    def is_local(self, pod: Pod) -> bool:
        """Always."""
        del pod
        return True

    def is_felt_widely(self, pod: Pod) -> bool:
        """Never."""
        del pod
        return False

    def interact(self, first: Pod, second: Pod) -> bool:
        """Never on other nodes."""
        del first, second
        return False


class ClosingNodes(OnOwnNode):
    """Placed pods help nobody, and close their node to another pod only where `closes(placed, pod)` says so."""

    def __init__(self, closes: Callable[[Pod, Pod], bool]) -> None:
        self.closes = closes

    def can_be_helped(self, pod: Pod) -> bool:
        """Never."""
        del pod
        return False


class _Constant:
    """The same for all pods."""

    def __init__(self, *, is_wide: bool) -> None:
        self._is_wide = is_wide

    def can_be_helped(self, pod: Pod) -> bool:
        """Perhaps, or never."""
        del pod
        return self._is_wide

    def is_local(self, pod: Pod) -> bool:
        """Perhaps not, or always."""
        del pod
        return not self._is_wide

    def is_felt_widely(self, pod: Pod) -> bool:
        """Perhaps, or never."""
        del pod
        return self._is_wide

    def interact(self, first: Pod, second: Pod) -> bool:
        """Perhaps, or never."""
        del first, second
        return self._is_wide


class _ByRequests(_Constant):
    """As the constant that is not wide, of pods that take nothing but what they request."""

    def closes(self, placed: Pod, pod: Pod) -> bool:
        """Never by anything else."""
        del placed, pod
        return False


CAUTIOUS: Interactions = _Constant(is_wide=True)
"""Nothing is known, so anything may happen."""
OWN_NODE: Interactions = _Constant(is_wide=False)
"""Placed pods take from the node that they are on, and give nothing."""
BY_REQUESTS: Interactions = _ByRequests(is_wide=False)
"""The same, and what they take is what they request."""


class JoinedInteractions(Interplay):
    """The answers of all plugins of a scheduler together, by plugin name.

    Those of `transformers` count for all of them, as what they let others see decides what these refuse. Plugins that
    are `settled` refuse no node because of pods that are placed.
    """

    def __init__(
        self,
        by_plugin: Mapping[str, Interactions],
        transformers: frozenset[str] = frozenset(),
        settled: frozenset[str] = frozenset(),
    ) -> None:
        self._names = frozenset(by_plugin)
        self._widened_by = transformers
        self._by_plugin = {name: each for name, each in by_plugin.items() if each not in (OWN_NODE, BY_REQUESTS)}
        closing = [each for name, each in by_plugin.items() if name not in settled and each is not BY_REQUESTS]
        self._closings = [each for each in closing if isinstance(each, ClosingInteractions)]
        self._closes_anything = len(self._closings) < len(closing)
        self._in_order = tuple(self._by_plugin.values())
        self._last_felt: tuple[Pod | None, bool] = None, False
        self._endings = tuple([_hinders_while_ending(each) for each in self._in_order])

    def helpers(self, pod: Pod) -> frozenset[str]:
        """The plugins that may stop refusing a node to `pod` because another pod is placed."""
        found = frozenset(name for name, each in self._by_plugin.items() if each.can_be_helped(pod))
        return found if found.isdisjoint(self._widened_by) else self._names

    def can_be_helped(self, pod: Pod) -> bool:
        """Whether any of the plugins may."""
        return any(each.can_be_helped(pod) for each in self._by_plugin.values())

    def is_local(self, pod: Pod) -> bool:
        """Whether that holds for all plugins."""
        return all(each.is_local(pod) for each in self._in_order)

    def is_felt_widely(self, pod: Pod) -> bool:
        """Whether any of the plugins feels it."""
        # One pod is asked about many times in a row.
        if self._last_felt[0] is not pod:
            self._last_felt = pod, any(each.is_felt_widely(pod) for each in self._in_order)
        return self._last_felt[1]

    def hinders_while_ending(self, ending: Pod, pod: Pod) -> bool:
        """Whether it may by any of the plugins."""
        for hinders in self._endings:
            if hinders(ending, pod):
                return True
        return False

    def interact(self, first: Pod, second: Pod) -> bool:
        """Whether they do by any of the plugins."""
        return any(each.interact(first, second) for each in self._by_plugin.values())

    def interacting(self, first: Pod, second: Pod, *, but_for: str = "") -> frozenset[str]:
        """The plugins by which they do; the plugin `but_for` is not asked."""
        return frozenset(
            name for name, each in self._by_plugin.items() if name != but_for and each.interact(first, second)
        )

    def reaches(self, rule: str, pod: Pod) -> bool:
        """Whether by the plugin `rule` pods on other nodes may bear on `pod`."""
        return rule in self._by_plugin and not self._by_plugin[rule].is_local(pod)

    def closes(self, placed: Pod, pod: Pod) -> bool:
        """Whether it may by any of the plugins."""
        return self._closes_anything or any(each.closes(placed, pod) for each in self._closings)


def _hinders_while_ending(interactions: Interactions) -> Callable[[Pod, Pod], bool]:
    """What a plugin says of pods that are being deleted, or else what follows from its other answers."""
    if isinstance(interactions, EndingInteractions):
        return interactions.hinders_while_ending
    return lambda ending, pod: not interactions.is_local(pod) or interactions.is_felt_widely(ending)
