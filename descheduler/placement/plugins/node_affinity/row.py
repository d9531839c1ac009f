"""What runs as `NodeAffinity`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from descheduler.model.node import Node
from descheduler.model.selection.affinity import NodeSelectorTerm, PreferredNodeTerm
from descheduler.placement.configuration.kube_scheduler.plugin_settings import ByDefault
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import ScoreError, Scores
from descheduler.placement.framework.obstacle import Obstacle
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin, own_node
from descheduler.placement.plugins.helper.node_selector_words import label_found, unmet
from descheduler.placement.plugins.helper.normalized_scores import NormalizedScores
from descheduler.placement.plugins.node_affinity.args import ARGS, NodeAffinityArgs
from descheduler.placement.plugins.node_affinity.filter import NodeAffinity, NodeAffinityReason
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster

__all__ = ["ROW", "NodeAffinityScore"]


class NodeAffinityScore:
    """The score. A preferred term that cannot be parsed, which the API server lets pass, makes it fail."""

    name = "NodeAffinity"

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._terms = cluster.table.masks.terms
        added = profile.args.of(NodeAffinityArgs).added_affinity
        self._added = added.node_preferred if added is not None else ()
        self._sums: dict[PlacementClass, NormalizedScores] = {}
        self._by_terms: dict[tuple[PreferredNodeTerm, ...], NormalizedScores] = {}

    def score(self, cycle: Cycle, feasible: BoolMask) -> Scores | None:
        """In proportion to the highest sum of weights; None without preferred terms."""
        affinity = cycle.pod.spec.affinity
        preferred = affinity.node_preferred if affinity is not None else ()
        if not preferred and not self._added:
            return None
        known = self._sums.get(cycle.pod)
        if known is None:
            _check(preferred)
            known = self._sums[cycle.pod] = self._weigh((*preferred, *self._added))
        return known.among(feasible)

    def _weigh(self, terms: tuple[PreferredNodeTerm, ...]) -> NormalizedScores:
        """The sums of the weights of `terms`, which many workloads state alike."""
        known = self._by_terms.get(terms)
        if known is None:
            known = self._by_terms[terms] = NormalizedScores(self._terms.weights(terms))
        return known


def _explain_node_affinity(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
    """The labels that are missing or differ; of several alternative terms each one."""
    del obstacle
    spec, node = refused.pod.spec, refused.node
    for key, wanted in sorted(spec.node_selector.items()):
        if node.labels.get(key) != wanted:
            yield f"nodeSelector requires {key}={wanted}, {label_found(node.labels, key)}"
    if spec.affinity is not None and spec.affinity.node_required is not None:
        yield from _unmet_terms("node affinity", spec.affinity.node_required, node)
    added = refused.scheduler.args_of(NodeAffinityArgs).added_affinity
    if added is not None and added.node_required is not None:
        yield from _unmet_terms("addedAffinity of the scheduler", added.node_required, node)


def _unmet_terms(whose: str, terms: Iterable[NodeSelectorTerm], node: Node) -> Iterator[str]:
    faults = list(unmet(terms, node))
    yield from (f"{whose} requires {fault}" if index == 0 else f"or {fault}" for index, fault in enumerate(faults))


def _check(preferred: Iterable[PreferredNodeTerm]) -> None:
    """Raises ScoreError with all that is wrong, in the words of the scheduler."""
    faults = dict.fromkeys(
        f"[{index}].{fault}"
        for index, entry in enumerate(preferred)
        if entry.weight
        for fault in entry.term.error.splitlines()
    )
    if faults:
        text = ", ".join(faults)
        raise ScoreError(f'running PreScore plugin "NodeAffinity": {text if len(faults) == 1 else f"[{text}]"}')


ROW = SchedulingPlugin(
    plugin=NodeAffinity,
    score=NodeAffinityScore,
    points=frozenset({"pre_filter", "filter", "pre_score", "score"}),
    by_default=ByDefault(weight=2),
    args=ARGS,
    interactions=own_node,
    explain=_explain_node_affinity,
    about=About(
        check="The node must have the labels of nodeSelector and match a term of the required node affinity.",
        preference="Nodes that meet more of the preferred node affinity, by weight.",
        reasons=tuple(reason.reason for reason in NodeAffinityReason),
    ),
)
