"""What a scheduler says of one pod: which nodes pass, what the others have against it, and who wins."""

from __future__ import annotations

import sys
from collections.abc import Container, Mapping, Sequence
from typing import Any, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from descheduler.model.pod import Pod
from descheduler.placement.framework.extension_points import ReasonBits
from descheduler.placement.framework.obstacle import Code, Obstacle, Said, cause_of
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.shadow_cluster import Cycle, Ledger, Placed


class PluginScores(msgspec.Struct, frozen=True):
    """What one plugin gives to feasible nodes, in their order: weighted, and before that was normalised, if it was."""

    final: NDArray[np.int64]
    raw: NDArray[np.int64] | None


class ScoreTable(msgspec.Struct, frozen=True):
    """Scores of the feasible `nodes` (ascending indices), in their order.

    Absent plugins give 0 everywhere.
    """

    nodes: NDArray[np.intp]
    by_plugin: Mapping[str, PluginScores]
    totals: NDArray[np.int64]


class Choice(msgspec.Struct, frozen=True):
    """The predicted node: the first of `ties`, all of which have `total`.

    `margin` is the lead over the best node that is not among them, None without any. `is_sampled` says that the
    scheduler would stop before it has found every feasible node, so that it may miss the ties altogether. With
    `is_open` some scores are not known, and the ties are all nodes that may be the best, those of known scores first.
    `cause` says why nothing is known of the choice, so that the ties are all nodes that pass; empty otherwise.
    """

    node: int
    total: int
    ties: tuple[int, ...]
    margin: int | None
    is_sampled: bool
    is_open: bool = False
    cause: str = ""


class Evaluator(Protocol):
    """What an evaluation asks further of the scheduler that made it. The bodies here are those of a scheduler that has
    no scores, takes nothing but what pods request, and never evicts one pod for another."""

    num_nodes_to_find: int = sys.maxsize
    """Of more nodes that pass all filters it does not look at every one."""

    def obstacle(self, plugin: str, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """The words for what `plugin` has against `node`."""

    def lasting_bits(self, plugin: str) -> np.uint32:
        """The bits of `plugin` that stay on a node, whatever is moved."""
        return np.uint32(0)

    def scores(self, evaluation: PodEvaluation) -> ScoreTable:
        """Scores of all feasible nodes, of which there must be one. Raises ScoreError."""
        return ScoreTable(evaluation.nodes, {}, np.zeros(evaluation.num_nodes, dtype=np.int64))

    def choose(self, evaluation: PodEvaluation) -> Choice | None:
        """The node that is taken; None when no node passes, or when the pod cannot be scored."""

    def place(self, evaluation: PodEvaluation, node: int, *ledgers: Ledger[Any]) -> Placed:
        """Puts the evaluated pod on `node`, with what it takes out of `ledgers` and then out of the scheduler's own."""
        return evaluation.cycle.cluster.place(evaluation.cycle, node, ledgers)

    def conditions(self, cycle: Cycle, node: int) -> tuple[str, ...]:
        """On what it hangs that the pod of `cycle` is bound to `node` and starts there, each a sentence."""
        return ()

    def may_preempt(self, refused: PodEvaluation, other: Pod) -> bool:
        """Whether `other`, of lower priority, may be evicted for a pod that is `refused` before nodes are looked at."""
        return False


def _left_out(plugins: Sequence[str], how: str = "") -> Said:
    """That a node is not among those that `plugins` have narrowed the search to."""
    text = f"didn't satisfy plugin(s) [{' '.join(sorted(plugins))}]{how}"
    return Said(f"node(s) {text}", text)


SHARD = "Shard"
"""In the place of the plugin that keeps replacements to the nodes of the run's shard."""
_OF_OTHER_SHARD = Said("node(s) belonged to other shards", "node(s) belong to other shards")


class Narrowing:
    """The nodes that PreFilter leaves of all: `nodes`, None for every node, by `plugins`, in running order."""

    def __init__(self) -> None:
        self.nodes: BoolMask | None = None
        self.plugins: tuple[str, ...] = ()
        self._names: frozenset[str] | None = None

    def add(self, plugin: str, nodes: BoolMask, names: frozenset[str] | None) -> Obstacle | None:
        """Narrows them to `nodes`, which have these `names` where that is known; an obstacle when none is left of what
        the plugins have named."""
        self.plugins += (plugin,)
        if self.nodes is None:
            self.nodes, self._names = nodes, names
            return None
        self.nodes = self.nodes & nodes
        self._names = None if self._names is None or names is None else self._names & names
        # A name that is left may be that of a node that does not exist.
        is_left = self.nodes.any() if self._names is None else self._names
        return None if is_left else Obstacle.of(plugin, Code.UNRESOLVABLE, _left_out(self.plugins, " simultaneously"))

    def kept_to(self, nodes: BoolMask) -> Narrowing:
        """The same with none but these nodes, which a shard has."""
        kept = Narrowing()
        kept.nodes = nodes if self.nodes is None else self.nodes & nodes
        kept.plugins = self.plugins or (SHARD,)
        return kept


class PodEvaluation:
    """What the filters say of one pod. Valid until the cluster changes.

    `refusals` are from plugins that take it nowhere; `undecided` are from those that cannot tell, and that are left
    out of the answer. With `has_brief` some obstacles on nodes are states of seconds.
    """

    def __init__(
        self,
        scheduler: Evaluator,
        cycle: Cycle,
        *,
        bits: Mapping[str, ReasonBits],
        feasible: BoolMask,
        is_queued: bool = True,
        refusals: tuple[Obstacle, ...] = (),
        narrowing: Narrowing | None = None,
        undecided: tuple[Obstacle, ...] = (),
        has_brief: bool = False,
    ) -> None:
        self.cycle = cycle
        self.is_queued = is_queued
        self.refusals = refusals
        self.undecided = undecided
        self.has_brief = has_brief
        self.narrowing = narrowing or Narrowing()
        self.bits = bits
        self.feasible = feasible
        self._scheduler = scheduler
        self._nodes: NDArray[np.intp] | None = None
        self._num_nodes: int | None = None

    @property
    def cause(self) -> str:
        """The first thing that was left out, empty when all plugins could tell: the same for every such pod."""
        return cause_of(self.undecided) if self.undecided else ""

    @property
    def nodes(self) -> NDArray[np.intp]:
        """The feasible nodes, ascending."""
        if self._nodes is None:  # looked up once a pod, where a cached property would take a lock
            self._nodes = self.feasible.nonzero()[0]
        return self._nodes

    @property
    def num_nodes(self) -> int:
        """How many nodes pass."""
        if self._num_nodes is None:
            self._num_nodes = int(np.count_nonzero(self.feasible))
        return self._num_nodes

    @property
    def fits(self) -> bool:
        """Whether any node passes."""
        return self.num_nodes > 0

    def obstacles_on(self, node: int) -> tuple[Obstacle, ...]:
        """Everything against `node`, in running order. Empty where the pod was refused before nodes were looked at."""
        found = ((name, int(bits[node])) for name, bits in self.bits.items())
        with self.cycle.view():
            return tuple(self._scheduler.obstacle(name, self.cycle, node, bits) for name, bits in found if bits)

    def first_obstacle_on(self, node: int) -> Obstacle:
        """What a real run reports of an infeasible node. Raises ValueError for a feasible one."""
        if self.refusals:
            return self.refusals[0]
        nodes, plugins = self.narrowing.nodes, self.narrowing.plugins
        if nodes is not None and not nodes[node]:
            fact = _OF_OTHER_SHARD if plugins == (SHARD,) else _left_out(plugins)
            return Obstacle.of(plugins[0], Code.UNRESOLVABLE, fact)
        obstacles = self.obstacles_on(node)
        if not obstacles:
            raise ValueError(f"node {self.cycle.cluster.table.nodes[node].name} is feasible")
        return obstacles[0]

    def keep_to(self, nodes: BoolMask) -> None:
        """Closes all nodes but these: the run counts on no node of another shard."""
        if self.refusals:
            return
        self.feasible = self.feasible & nodes
        self.narrowing = self.narrowing.kept_to(nodes)
        self._nodes = self._num_nodes = None

    def asked(self) -> BoolMask:
        """The nodes that filters are asked about, for the caller alone to keep."""
        nodes = self.narrowing.nodes
        return np.ones(len(self.feasible), dtype=bool) if nodes is None else nodes.copy()

    def open_for_good(self) -> BoolMask:
        """The nodes that no plugin closes to the pod whatever is moved: all others never take it."""
        if self.refusals:
            return np.zeros(len(self.feasible), dtype=bool)
        is_open = self.asked()
        for name, bits in self.bits.items():
            if lasting := self._scheduler.lasting_bits(name):
                is_open &= (bits & lasting) == 0
        return is_open

    def closed_by_others(self, plugins: Container[str]) -> BoolMask:
        """The nodes that some plugin refuses which is not among `plugins`, for the caller alone to keep."""
        closed = np.full(len(self.feasible), any(each.plugin not in plugins for each in self.refusals))
        if self.narrowing.nodes is not None and self.narrowing.plugins[0] not in plugins:
            closed |= ~self.narrowing.nodes
        for name, bits in self.bits.items():
            if name not in plugins:
                closed |= bits != 0
        return closed

    @property
    def is_sampled(self) -> bool:
        """Whether the scheduler stops before it has found every node that passes."""
        return self.num_nodes > self._scheduler.num_nodes_to_find

    def scores(self) -> ScoreTable:
        """Scores of all feasible nodes, of which there must be one. Raises ScoreError."""
        return self._scheduler.scores(self)

    def choose(self) -> Choice | None:
        """The node that the scheduler would take; None when no node passes, or when the pod cannot be scored."""
        return self._scheduler.choose(self)

    def place(self, node: int, *ledgers: Ledger[Any]) -> Placed:
        """Puts the pod on `node`, with what it takes out of `ledgers` and then out of those of its scheduler."""
        return self._scheduler.place(self, node, *ledgers)

    def conditions(self, node: int) -> tuple[str, ...]:
        """On what it hangs that the pod is bound to `node` and starts there, each a sentence."""
        return self._scheduler.conditions(self.cycle, node)

    def may_preempt(self, other: Pod) -> bool:
        """Whether `other`, of lower priority, may be evicted for the pod, which is refused before any node is asked."""
        return self._scheduler.may_preempt(self, other)
