"""How pods that are placed one after another bear on each other: what each scheduling plugin declares of its answers.

The proof that a batch lands rests on these answers, so a plugin that declares nothing is taken to be `CAUTIOUS`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from descheduler.model.pod import Pod
from descheduler.placement.shadow.roles import implements, those_of
from descheduler.placement.shadow.tally.pod_tally import PodQuery, PodTally

_Key = TypeVar("_Key", bound=Hashable)

Places = NDArray[np.intp]
"""Pods by their places among the gathered ones."""
Meeting = tuple[Places, Places]
"""Each of the first pods bears on each of the second ones."""


class GatheredPods:
    """Pods that are compared with one another through indexes, each known by its place among `pods`."""

    def __init__(self, pods: Sequence[Pod]) -> None:
        self.pods = pods
        self._tally: PodTally | None = None

    def found(self, query: PodQuery) -> Places:
        """The places of the pods that `query` finds."""
        if self._tally is None:
            self._tally = PodTally(len(self.pods))
            for place, pod in enumerate(self.pods):
                self._tally.change(pod, place, 1, is_terminating=False)
        return self._tally.found(query).nodes

    def where(self, holds: Callable[[Pod], bool]) -> Places:
        """The places of the pods of which that is true."""
        return np.array([place for place, pod in enumerate(self.pods) if holds(pod)], dtype=np.intp)

    def filed(self, keys: Callable[[Pod], Iterable[_Key]]) -> Mapping[_Key, Places]:
        """The places of the pods by each of their `keys`."""
        found: dict[_Key, list[int]] = {}
        for place, pod in enumerate(self.pods):
            for key in keys(pod):
                found.setdefault(key, []).append(place)
        return {key: np.array(places, dtype=np.intp) for key, places in found.items()}

    def all_meetings(self) -> Meetings:
        """That each pod bears on each other one."""
        return Meetings(len(self.pods), meeting_each_other(np.arange(len(self.pods))))


def meeting_each_other(places: Places) -> Iterator[Meeting]:
    """That each of these pods bears on each other one."""
    if len(places):
        yield places, places


class Meetings:
    """Which of `number` gathered pods bear on which."""

    def __init__(self, number: int, meetings: Iterable[Meeting]) -> None:
        self._number = number
        self._on: dict[int, list[Places]] = {}
        for some, others in meetings:
            for place in others.tolist():
                self._on.setdefault(place, []).append(some)

    def on(self, place: int) -> Places:
        """The places of pods that bear on the pod of `place`.

        `place` is among them where another pod like it would bear on it.
        """
        found = self._on.get(place, ())
        if len(found) <= 1:
            return found[0] if found else np.empty(0, dtype=np.intp)
        mask = np.zeros(self._number, dtype=bool)
        for some in found:
            mask[some] = True
        return mask.nonzero()[0]


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
    of the scheduling plugin where it is one. Nothing is known by the bodies here, so anything may happen.

    `quotas` are the rules that know no nodes: they admit pods by what all of them hold together.
    """

    quotas: frozenset[str] = frozenset()

    def can_be_helped(self, pod: Pod) -> bool:
        """Whether a node may come to take `pod` because another pod is placed, on whatever node."""
        return True

    def is_local(self, pod: Pod) -> bool:
        """Whether what is said of `pod` on a node hangs on that node and the pods there only.

        Others that `is_felt_widely` is true of are not counted.
        """
        return False

    def is_felt_widely(self, pod: Pod) -> bool:
        """Whether `pod`, once placed, may bear on what is said of local pods on other nodes."""
        return True

    def hinders_while_ending(self, ending: Pod, pod: Pod) -> bool:
        """Whether `ending`, as long as it is being deleted, may keep `pod` off a node other than its own that is open
        once `ending` is gone."""
        return True

    def interact(self, first: Pod, second: Pod) -> bool:
        """Whether either of the pods, once placed, may bear on what is said of the other on other nodes."""
        return True

    def interacting(self, gathered: GatheredPods, *, but_for: Container[str] = ()) -> Mapping[str, Meetings]:
        """Which of the pods do by which rule, each pair in both directions; the rules `but_for` are not asked."""
        return {_ANY_RULE: gathered.all_meetings()}

    def reaches(self, rule: str, pod: Pod) -> bool:
        """Whether by `rule` pods on other nodes may bear on `pod`."""
        return False

    def closing(self, gathered: GatheredPods) -> Meetings:
        """Which pods may close the node that they are on to which others, by anything but the requests of both."""
        return gathered.all_meetings()


@runtime_checkable
class EndingInteractions(Interactions, Protocol):
    """Tells more of pods that are being deleted than follows from the other answers."""

    def hinders_while_ending(self, ending: Pod, pod: Pod) -> bool:
        """Whether `ending`, as long as it is being deleted, may have the plugin refuse to `pod` a node other than its
        own that is open once `ending` is gone."""


@runtime_checkable
class ClosingInteractions(Interactions, Protocol):
    """Tells more of pods on one node. A plugin that tells nothing may refuse a node to any pod because of any other."""

    def closing(self, gathered: GatheredPods) -> Iterable[Meeting]:
        """Which pods may have the plugin refuse the node that they are on to which others, by anything but the requests
        of both: those are counted for all plugins at once."""


@runtime_checkable
class IndexedInteractions(Interactions, Protocol):
    """Tells of many pods at once what `interact` tells of two."""

    def interacting(self, gathered: GatheredPods) -> Iterable[Meeting]:
        """Which of the pods interact with which, each pair in both directions."""


class OnOwnNode:
    """Placed pods bear on nothing but the node that they are on; a subclass says when they help others there."""

    def is_local(self, pod: Pod) -> bool:
        """Always."""
        return True

    def is_felt_widely(self, pod: Pod) -> bool:
        """Never."""
        return False

    def interact(self, first: Pod, second: Pod) -> bool:
        """Never on other nodes."""
        return False

    def interacting(self, gathered: GatheredPods) -> Iterable[Meeting]:
        """None."""
        return ()


class ClosingNodes(OnOwnNode):
    """Placed pods help no other pod, and close their node to another pod only where `takes` is true of both."""

    def __init__(self, takes: Callable[[Pod], bool]) -> None:
        self._takes = takes

    def can_be_helped(self, pod: Pod) -> bool:
        """Never."""
        return False

    def closing(self, gathered: GatheredPods) -> Iterable[Meeting]:
        """All that take what a node has for one of them."""
        return meeting_each_other(gathered.where(self._takes))


class _Constant:
    """The same for all pods."""

    def __init__(self, *, is_wide: bool) -> None:
        self._is_wide = is_wide

    def can_be_helped(self, pod: Pod) -> bool:
        """Perhaps, or never."""
        return self._is_wide

    def is_local(self, pod: Pod) -> bool:
        """Perhaps not, or always."""
        return not self._is_wide

    def is_felt_widely(self, pod: Pod) -> bool:
        """Perhaps, or never."""
        return self._is_wide

    def interact(self, first: Pod, second: Pod) -> bool:
        """Perhaps, or never."""
        return self._is_wide

    def interacting(self, gathered: GatheredPods) -> Iterable[Meeting]:
        """Perhaps all, or none."""
        return meeting_each_other(np.arange(len(gathered.pods) if self._is_wide else 0))


class _ByRequests(_Constant):
    """As the constant that is not wide, of pods that take nothing but what they request."""

    def closing(self, gathered: GatheredPods) -> Iterable[Meeting]:
        """None by anything else."""
        return ()


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
        self._closings = those_of(ClosingInteractions, closing)
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

    def interacting(self, gathered: GatheredPods, *, but_for: Container[str] = ()) -> Mapping[str, Meetings]:
        """Which of the pods do by which plugin, each pair in both directions; the plugins `but_for` are not asked."""
        asked = ((name, each) for name, each in self._by_plugin.items() if name not in but_for)
        return {name: Meetings(len(gathered.pods), _interacting(each, gathered)) for name, each in asked}

    def reaches(self, rule: str, pod: Pod) -> bool:
        """Whether by the plugin `rule` pods on other nodes may bear on `pod`."""
        return rule in self._by_plugin and not self._by_plugin[rule].is_local(pod)

    def closing(self, gathered: GatheredPods) -> Meetings:
        """Which pods may close their node to which others, by any of the plugins."""
        if self._closes_anything:
            return gathered.all_meetings()
        return Meetings(len(gathered.pods), (each for plugin in self._closings for each in plugin.closing(gathered)))


def _interacting(interactions: Interactions, gathered: GatheredPods) -> Iterable[Meeting]:
    """What a plugin says of many pods at once, or else of two after two."""
    if implements(interactions, IndexedInteractions):
        return interactions.interacting(gathered)
    return _compared(interactions, gathered)


def _compared(interactions: Interactions, gathered: GatheredPods) -> Iterator[Meeting]:
    for place, pod in enumerate(gathered.pods):
        others = [other for other, each in enumerate(gathered.pods) if interactions.interact(each, pod)]
        yield np.array(others, dtype=np.intp), np.array([place])


def _hinders_while_ending(interactions: Interactions) -> Callable[[Pod, Pod], bool]:
    """What a plugin says of pods that are being deleted, or else what follows from its other answers."""
    if implements(interactions, EndingInteractions):
        return interactions.hinders_while_ending
    return lambda ending, pod: not interactions.is_local(pod) or interactions.is_felt_widely(ending)
