"""Whether an eviction gains anything: not where its plugin would select the replacement again, for the same cause.

The plugin tells that itself. It is asked about each node on which the replacement may land, over the cluster as it is
once everything booked has settled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import NamedTuple

from msgspec.structs import replace

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.undo import Undo
from descheduler.model.pod import Pod

__all__ = ["FollowedMove", "Gains", "SelectedAgain", "SelectsAgain"]

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

    def register(self, profile_index: int, plugin: str, selects_again: SelectsAgain) -> None:
        """Has `plugin` of a profile asked, which runs by itself. Of others every eviction is a gain."""
        self._plugins[profile_index, plugin] = selects_again

    def judges(self, profile_index: int, plugin: str) -> bool:
        """Whether `plugin` of a profile is asked."""
        return (profile_index, plugin) in self._plugins

    def follow(self, arrivals: Sequence[FollowedMove]) -> None:
        """Has these pods come, in the place of all others; they are compared with those before by identity."""
        pairs = zip(self._followed, arrivals, strict=False)
        num_same = sum(1 for _ in takewhile(lambda pair: pair[0][0] is pair[1], pairs))
        while len(self._followed) > num_same:
            self._followed.pop()[1]()
        for arrival in arrivals[num_same:]:
            self._followed.append((arrival, arrival.book(self._view())))

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
