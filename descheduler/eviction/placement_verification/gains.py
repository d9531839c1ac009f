"""Whether an eviction gains anything: not where its plugin would select the replacement again, for the same cause.

The plugin tells that itself. It is asked about each node on which the replacement may land, over the cluster as it is
once everything booked has settled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.undo import Undo
from descheduler.model.pod import Pod

SelectsAgain = Callable[[Pod, Pod, ClusterView], str]
"""Why a plugin selects the second pod, which comes for the first and is not in this cluster yet; "" if it does not."""


class SelectedAgain(NamedTuple):
    """A node on which a plugin selects a replacement again, and for what; it `is_predicted`, or one of the chances."""

    node: str
    cause: str
    is_predicted: bool = True


class FollowedMove(NamedTuple):
    """A pod that is evicted, or pending, and what comes for it, bound; None where that is not known."""

    pod: Pod
    bound: Pod | None

    def book(self, view: ClusterView) -> Undo:
        """Has it come in `view`."""
        if self.pod.node_name or self.bound is None:
            return view.book_eviction(self.pod, self.bound)
        return view.book_arrival(self.pod, self.bound)

    def on(self, node: str) -> FollowedMove:
        """The same pod on another node."""
        return self if self.bound is None else FollowedMove(self.pod, replace(self.bound, node_name=node))


class Gains:
    """What the plugins of a run say of replacements. Costs nothing until somebody asks."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._plugins: dict[tuple[int, str], SelectsAgain] = {}
        self._settled: ClusterView | None = None
        self._followed: list[tuple[FollowedMove, Undo]] = []
        self._booked: list[FollowedMove] = []
        self._places: dict[int, int] = {}
        """Of the booked ones, by identity, among all that are followed."""
        self._places_of_others: dict[int, int] = {}

    def register(self, profile_index: int, plugin: str, selects_again: SelectsAgain) -> None:
        """Has `plugin` of a profile asked, which runs by itself. Of others every eviction is a gain."""
        self._plugins[profile_index, plugin] = selects_again

    def judges(self, profile_index: int, plugin: str) -> bool:
        """Whether `plugin` of a profile is asked."""
        return (profile_index, plugin) in self._plugins

    def follow(self, booked: Sequence[FollowedMove], others: Sequence[FollowedMove] = ()) -> None:
        """Has these pods come, in the place of all that came before; those are compared with them by identity.

        `booked` grows and shrinks at its end from one call to the next, so that its last element tells whether those
        before it are the same. Only what differs is taken back and comes again: nodes list their pods by name, in
        whatever order they came.
        """
        num_same = min(len(self._booked), len(booked))
        while num_same and self._booked[num_same - 1] is not booked[num_same - 1]:
            num_same -= 1
        wanted = set(map(id, others))
        gone = [self._places[id(each)] for each in self._booked[num_same:]]
        gone += [place for each, place in self._places_of_others.items() if each not in wanted]
        self._take_back_from(min(gone, default=len(self._followed)))
        for each in booked[len(self._booked) :]:
            self._booked.append(each)
            self._places[id(each)] = self._come(each)
        for each in others:
            if id(each) not in self._places_of_others:
                self._places_of_others[id(each)] = self._come(each)

    def _come(self, move: FollowedMove) -> int:
        """Its place among all that have come."""
        self._followed.append((move, move.book(self._view())))
        return len(self._followed) - 1

    def _take_back_from(self, place: int) -> None:
        """Takes back what has come at this place and after it, the last one first."""
        while len(self._followed) > place:
            move, take_back = self._followed.pop()
            take_back()
            if self._places_of_others.pop(id(move), None) is None:
                del self._places[id(move)]
                self._booked.pop()

    def selected_again(
        self, profile_index: int, plugin: str, pod: Pod, replacement: Pod, nodes: Iterable[str]
    ) -> SelectedAgain | None:
        """The first of `nodes` on which `plugin` selects the `replacement` of `pod` again; None where there is none."""
        selects_again, view = self._plugins[profile_index, plugin], self._view()
        take_back = view.book_eviction(pod)
        try:
            answers = ((node, selects_again(pod, replace(replacement, node_name=node), view)) for node in nodes)
            return next((SelectedAgain(node, cause) for node, cause in answers if cause), None)
        finally:
            take_back()

    def _view(self) -> ClusterView:
        if self._settled is None:
            self._settled = ClusterView(self._snapshot, moves_take_effect=True)
        return self._settled
