"""A batch placed in sequence: its replacements one after another, as the scheduler takes them from its queue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import NamedTuple

import numpy as np

from descheduler.placement.batches.exhaustive_search import Assignment
from descheduler.placement.framework.attempt import Picker, Placement, first_of_ties, put_on_node
from descheduler.placement.framework.evaluation import Choice, PodEvaluation
from descheduler.placement.landings.landing import Landing
from descheduler.placement.landings.pending_pods import PendingPods
from descheduler.placement.landings.unplaced import UnplacedReplacement
from descheduler.placement.landings.verdicts import landed
from descheduler.placement.shadow.shadow_cluster import Placed, ShadowCluster

_Block = tuple[UnplacedReplacement, ...]
"""Replacements that are placed together; mostly one."""


class SequentialRun(NamedTuple):
    """How a run went: where the placed replacements are, and those without a node in the order of the tries."""

    placed: Mapping[UnplacedReplacement, Placed]
    landings: Mapping[UnplacedReplacement, Landing]
    failed: tuple[UnplacedReplacement, ...]


class SequentialPlacer:
    """Places batches on one cluster, and leaves it as it is afterwards."""

    def __init__(self, cluster: ShadowCluster, pending: PendingPods) -> None:
        self._cluster = cluster
        self._pending = pending

    def place_in_turn(
        self, replacements: Iterable[UnplacedReplacement], pick: Picker = first_of_ties, *, with_pending: bool = True
    ) -> SequentialRun:
        """Tries `replacements` by priority, those of the same one in the order given.

        Before each priority pending pods of at least that one are tried, unless not `with_pending`. Members that fail
        are tried again whenever another success may have helped them, as in the real queue. Those of one unit follow
        one another, and are placed all or none.
        """
        progress = _Progress(self._cluster, {}, {})
        waiting: list[_Block] = []
        hopeless = set()
        level: int | None = None
        for block in _blocks(sorted(replacements, key=lambda each: -each.priority)):
            unplaced = block[0]
            if with_pending and unplaced.priority != level:
                level = unplaced.priority
                self._pending.place_after(None, level)
            if unplaced.placement_class in hopeless:
                waiting.append(block)
            elif progress.takes_all(block, pick):
                while helped := next((b for b in waiting if _can_be_helped(b) and progress.takes_all(b, pick)), None):
                    waiting.remove(helped)
            else:
                waiting.append(block)
                if len(block) == 1 and not unplaced.can_be_helped:
                    hopeless.add(unplaced.placement_class)
        return SequentialRun(progress.placed, progress.landings, tuple(each for block in waiting for each in block))

    def place_as_assigned(self, assignment: Assignment) -> SequentialRun:
        """Puts replacements on the nodes that `assignment` names, each as soon as its node takes it."""
        progress = _Progress(self._cluster, {}, {})
        waiting = list(assignment)
        while step := next((each for each in waiting if progress.goes_to(*each)), None):
            waiting.remove(step)
        return SequentialRun(progress.placed, progress.landings, tuple(unplaced for unplaced, _ in waiting))


class _Progress(NamedTuple):
    """A run under way."""

    cluster: ShadowCluster
    placed: dict[UnplacedReplacement, Placed]
    landings: dict[UnplacedReplacement, Landing]

    def takes_all(self, block: _Block, pick: Picker) -> bool:
        """Whether the scheduler finds a node for each of `block`, which are put there; else none of them is."""
        for place, unplaced in enumerate(block):
            if not self.takes(unplaced, pick, unit_is_begun=place > 0):
                for other in reversed(block[:place]):
                    self.cluster.take_off(self.placed.pop(other))
                    del self.landings[other]
                return False
        return True

    def takes(self, unplaced: UnplacedReplacement, pick: Picker, *, unit_is_begun: bool) -> bool:
        """Whether the scheduler finds a node for `unplaced`, which is put there."""
        placement = unplaced.place(pick, unit_is_begun=unit_is_begun).placement
        return placement is not None and self._note(unplaced, placement)

    def goes_to(self, unplaced: UnplacedReplacement, node: int) -> bool:
        """Whether `node` takes `unplaced`, which is put there."""
        unit_is_begun = any(unplaced.unit and other.unit == unplaced.unit for other in self.placed)
        evaluation = unplaced.evaluate(unit_is_begun=unit_is_begun)
        if not evaluation.feasible[node]:
            return False
        return self._note(unplaced, put_on_node(evaluation, node))

    def _note(self, unplaced: UnplacedReplacement, placement: Placement) -> bool:
        self.placed[unplaced] = placement.placed
        self.landings[unplaced] = landed(unplaced, placement, self.cluster, cold=None)
        return True


def _blocks(replacements: Iterable[UnplacedReplacement]) -> Iterable[_Block]:
    """`replacements` in order, those of one unit where the first of them is."""
    blocks: dict[object, _Block] = {}
    for unplaced in replacements:
        key = unplaced.unit or unplaced
        blocks[key] = (*blocks.get(key, ()), unplaced)
    return blocks.values()


def _can_be_helped(block: _Block) -> bool:
    return any(unplaced.can_be_helped for unplaced in block)


def random_pick(generator: Random) -> Picker:
    """Picks any of the best nodes; where the scheduler does not look at all of them, the best of half of them.

    It looks at them from any node on, and how far is up to the number of nodes; half is what a small cluster has.
    """

    def pick(evaluation: PodEvaluation, choice: Choice) -> int:
        if choice.cause or not choice.is_sampled:
            return generator.choice(choice.ties)
        table = evaluation.scores()
        start = generator.randrange(len(table.nodes))
        seen = np.arange(start, start + (len(table.nodes) + 1) // 2) % len(table.nodes)
        best = seen[table.totals[seen] == table.totals[seen].max()]
        return int(table.nodes[generator.choice(best.tolist())])

    return pick
