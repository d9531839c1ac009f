"""What a scheduling plugin is: the extension points of kube-scheduler over whole columns of nodes.

The points are those of `k8s.io/kube-scheduler/framework` 1.36, asked for all nodes in one call, since numpy answers
five thousand nodes in the time that Python answers five. A plugin implements the protocols of the points that it
takes part in; `placement.plugins.table` names them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import msgspec
import numpy as np
from numpy.typing import NDArray

from descheduler.model.pod import Pod
from descheduler.placement.framework.interactions import Interactions
from descheduler.placement.framework.obstacle import Obstacle
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.roles import implements
from descheduler.placement.shadow.shadow_cluster import Cycle, Ledger, Takings
from descheduler.placement.shadow.tally.pod_tally import FoundPods, PodQuery
from descheduler.placement.shadow.topology import Domains

ReasonBits = NDArray[np.uint32]
"""A set of a plugin's own reasons a node, one bit each; 0 where the pod passes."""
_ALL_BITS = np.uint32(2**32 - 1)


class PreFilterResult(msgspec.Struct, frozen=True):
    """What a plugin says before nodes are looked at.

    `obstacle` refuses the pod everywhere; `nodes` narrows the nodes by name; `is_skipped` leaves the plugin's filter
    out for this pod. `is_for_good` says that no move changes this answer for pods of the class, although the plugin is
    not static. `names` are those that `nodes` stands for, names of nodes that do not exist included; None where they
    are not told.
    """

    obstacle: Obstacle | None = None
    nodes: BoolMask | None = None
    is_skipped: bool = False
    is_for_good: bool = False
    names: frozenset[str] | None = None


PASS = PreFilterResult()
SKIP = PreFilterResult(is_skipped=True)
SKIP_FOR_GOOD = PreFilterResult(is_skipped=True, is_for_good=True)


class Scores(msgspec.Struct, frozen=True, gc=False):
    """Scores by node, not to be written to; what they say of nodes that are not feasible means nothing.

    `raw`, which only explanations ask for, gives them as they are before they are normalised; None for a plugin that
    does not normalise. `level` is the score of every node where that is the same and known to be so.
    """

    final: NDArray[np.int64]
    raw: Callable[[], NDArray[np.int64]] | None = None
    level: int | None = None


class ScoreError(Exception):
    """A pod that cannot be scored, which the scheduler answers by not placing it; the message says why."""


class Plugin(Protocol):
    """Any plugin. It is built once a shadow cluster and may keep, by placement class, whatever no move changes."""

    name: str


@runtime_checkable
class InteractingPlugin(Plugin, Protocol):
    """Tells from its cluster, better than its row from a profile alone, how placed pods bear on each other.

    What a transformer tells is also about what it lets others see: a pod that it can help any filter may come to pass.
    """

    interactions: Interactions


class CountedDomains:
    """The domains of a key as far as eligible nodes make them up: pods on other nodes do not count."""

    __slots__ = ("domains", "ids", "num", "there")

    def __init__(self, domains: Domains, ids: NDArray[np.intp], eligible: BoolMask) -> None:
        self.domains = domains
        self.ids: NDArray[np.intp] = np.where(eligible, ids, domains.num)
        """The domain of each node; `domains.num` for one that is not eligible."""
        self.there = np.unique(self.ids[self.ids < domains.num])
        """Those with an eligible node."""
        self.num = len(self.there)
        """How many there are."""

    def sums(self, found: FoundPods) -> NDArray[np.int64]:
        """Pods a domain. The last cell, which stands for no domain, means nothing."""
        ids = self.ids.take(found.nodes)
        return np.bincount(ids, weights=found.numbers, minlength=self.domains.num + 1).astype(np.int64)

    def least(self, sums: NDArray[np.int64]) -> int:
        """The smallest of `sums` over the domains that are there, of which there must be one."""
        return int(sums[self.there].min()) if self.num < self.domains.num else int(sums[:-1].min())


class SpreadConstraint(NamedTuple):
    """One constraint of a pod. `query` finds the pods that count; `is_self_matching` says whether this one would."""

    max_skew: int
    min_domains: int
    topology_key: str
    query: PodQuery
    is_self_matching: bool
    counted: CountedDomains


@runtime_checkable
class SpreadPlugin(Plugin, Protocol):
    """Refuses nodes by how pods spread over domains, so that a batch is bounded by its constraints."""

    def spread(self, pod: Pod) -> Sequence[SpreadConstraint]:
        """The constraints by which it refuses nodes to `pod`. Raises ValueError for one that cannot be read."""


@runtime_checkable
class PreEnqueuePlugin(Plugin, Protocol):
    """May keep a pod from ever being tried."""

    def pre_enqueue(self, cycle: Cycle) -> Obstacle | None:
        """Why the pod does not enter the queue, or None."""


@runtime_checkable
class PreFilterTransformer(Plugin, Protocol):
    """Rewrites the pod or the cluster before PreFilter, as `PreFilterTransformer` of Koordinator's framework extension.

    It is asked in every cycle of a profile that enables the plugin at any point but Score, in the order of the table.
    """

    def before_pre_filter(self, cycle: Cycle) -> None:
        """Changes `cycle`: its `pod`, to what the others are to take it for; pods `seen` in addition; its `keeper`."""


@runtime_checkable
class CountingTransformer(PreFilterTransformer, Protocol):
    """One that makes the same of a pod until `num_changes` grows, so that a pod in vain is not tried again."""

    @property
    def num_changes(self) -> int:
        """How often something changed so far that it goes by; what is taken back is a change as well."""


@runtime_checkable
class FilterPlugin(Plugin, Protocol):
    """PreFilter and Filter. `is_static` says that no move changes its answers, so they are kept for the class."""

    is_static: bool

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Looks at the pod and the whole cluster once."""

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """Reasons against each node; None when there are none anywhere. Asked after `pre_filter` of the same cycle."""

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """The words for `bits`, which `filter` gave for `node` in this cycle. Reasons are sorted as text."""


@runtime_checkable
class LastingPlugin(FilterPlugin, Protocol):
    """A filter of which some reasons hang on the pod, its claims and the node alone: no move of other pods ends them.

    `lasting` are the bits of these reasons.
    """

    lasting: int


def lasting_bits(plugin: FilterPlugin) -> np.uint32:
    """The bits of `plugin` that stay on a node, whatever is moved."""
    if plugin.is_static:
        return _ALL_BITS
    return np.uint32(plugin.lasting if implements(plugin, LastingPlugin) else 0)


class Conclusion(NamedTuple):
    """What the answers of one filter about some nodes mean for all: it refuses every node by the bit `ending_bit`, 0
    for nothing, or it cannot tell, which is the `doubt`. With `is_brief` some of its obstacles are states of seconds.
    """

    ending_bit: int = 0
    doubt: Obstacle | None = None
    is_brief: bool = False


@runtime_checkable
class ConcludingPlugin(FilterPlugin, Protocol):
    """A filter whose error on one node ends the attempt for all."""

    def conclude(self, cycle: Cycle, reached: BoolMask, *, is_sampled: bool) -> Conclusion | None:
        """What follows from its answers about the nodes `reached`, which no filter before it refuses.

        With `is_sampled` the scheduler finds enough nodes without looking at all of them.
        """


@runtime_checkable
class ScorePlugin(Plugin, Protocol):
    """PreScore, Score and normalisation in one."""

    def score(self, cycle: Cycle, feasible: BoolMask) -> Scores | None:
        """Scores 0..100 of the `feasible` nodes, without the plugin's weight; None gives 0 to every node.

        Raises ScoreError.
        """


@runtime_checkable
class PartlyUnknownScore(ScorePlugin, Protocol):
    """One that cannot tell the scores of some nodes: whatever it gives to these may be anything from 0 to 100."""

    def unknown(self, cycle: Cycle) -> BoolMask | None:
        """Those nodes, whether or not they are feasible; None for none."""


class ScoreRange(NamedTuple):
    """Scores that may be any number between two, without the plugin's weight: of each of `nodes` the `least`, which is
    the one that the plugin gives, and the `most`."""

    nodes: NDArray[np.intp]
    least: NDArray[np.int64]
    most: NDArray[np.int64]


@runtime_checkable
class RangedScore(ScorePlugin, Protocol):
    """One whose scores of some nodes hang on when the pod is tried."""

    def ranges(self, cycle: Cycle) -> ScoreRange | None:
        """Those nodes, whether or not they are feasible; None for none."""


@runtime_checkable
class ReservePlugin(Plugin, Protocol):
    """Keeps state of its own about pods that were put on a node, such as devices or volumes.

    Reserve and Unreserve are those of its ledger, which `ShadowCluster.ledger` makes, as all profiles share it.
    """

    @property
    def ledger(self) -> Ledger[Any]:
        """What is taken for placed pods."""


@runtime_checkable
class PermitPlugin(Plugin, Protocol):
    """May hold a placed pod back until others are placed, as a gang does."""

    def permit(self, cycle: Cycle, node: int) -> Obstacle | None:
        """What the pod still waits for, or None when it may be bound."""


@runtime_checkable
class UnitPlugin(PermitPlugin, Protocol):
    """Holds pods back at Permit until others of theirs are placed, so that they are tried together."""

    def unit_of(self, pod: Pod) -> str:
        """The mark of pods that wait for each other, as the cluster is now; empty for a pod that waits for no other."""

    def holds_back(self, pods: Sequence[Pod]) -> Obstacle | None:
        """What keeps such `pods`, which exist without a node, from being bound if each of them finds one; or None.

        They come in this order, and it does not matter which nodes they find.
        """


@runtime_checkable
class PreBindPlugin(Plugin, Protocol):
    """Has work to do before a pod can be bound, which may fail outside the snapshot."""

    def pre_bind(self, cycle: Cycle, node: int) -> tuple[str, ...]:
        """Conditions under which binding succeeds, each a sentence; empty when nothing can go wrong."""


@runtime_checkable
class UnboundPlugin(PreBindPlugin, Protocol):
    """Knows of pods that pass all filters and are never bound."""

    def why_unbound(self, cycle: Cycle, node: int) -> Obstacle | None:
        """What makes each binding of the pod to a node fail that passes; None where nothing does."""


@runtime_checkable
class PatchPlugin(Plugin, Protocol):
    """Notes at PreBind what a pod was given. All notes of one pod are written at once, as `PreBindExtensions` of
    Koordinator's framework extension does it."""

    def patch(self, cycle: Cycle, node: int, takings: Takings) -> Mapping[str, str]:
        """The annotations that it writes on the pod, which was reserved `takings` on `node`; empty for none.

        Whoever reads them of a pod that was placed has to know that no node name says so: the pod may as well be a copy
        of one that had them before.
        """


@runtime_checkable
class PreemptingPlugin(Plugin, Protocol):
    """At PostFilter may evict others for a pod that it refuses everywhere itself."""

    def may_preempt(self, pod: Pod, other: Pod) -> bool:
        """Whether it would evict `other`, whose priority is lower, for `pod`."""


@runtime_checkable
class OpeningPlugin(FilterPlugin, Protocol):
    """A filter that compares parts of nodes with what a pod asks for, or counts pods, and knows what may open."""

    def may_open(self, cycle: Cycle) -> BoolMask:
        """The nodes that pass, or that would if all of their parts were free, or other pods elsewhere."""


@runtime_checkable
class StartPlugin(FilterPlugin, Protocol):
    """A filter that knows more than the scheduler: what may keep a bound pod from starting. kube-scheduler has no such
    point, so it is asked wherever the filter runs."""

    def before_start(self, cycle: Cycle, node: int) -> tuple[str, ...]:
        """Conditions under which the pod starts on `node`, each a sentence; empty when nothing can go wrong."""
