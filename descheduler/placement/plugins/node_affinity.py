"""NodeAffinity (kube-scheduler 1.36): node selector, required node affinity, and the affinity that the profile adds.

`addedAffinity` is read into the model, with what is wrong placed in the document. Other than in a pod's affinity a term
that cannot be parsed is an error there, as it is for kube-scheduler
(`k8s.io/component-helpers/scheduling/corev1/nodeaffinity`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec
import numpy as np

from descheduler.documents.decode import Path
from descheduler.documents.problems import did_you_mean, shown
from descheduler.model.node import Node
from descheduler.model.selection.affinity import Affinity, NodeSelectorTerm, PreferredNodeTerm
from descheduler.model.selection.labels import LabelError, Requirement, make_requirement
from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind, ByDefault
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import PASS, SKIP, PreFilterResult, ReasonBits, ScoreError, Scores
from descheduler.placement.framework.obstacle import Code, Obstacle, ObstacleReason
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin, own_node
from descheduler.placement.plugins.helper.node_selector_words import label_found, unmet
from descheduler.placement.plugins.helper.scores import NormalizedScores
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from descheduler.policy.checks import Checks
from descheduler.policy.shared_args import Args, Int32

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_LABEL_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_FIELD_OPERATORS = ("In", "NotIn")


class NodeRequirementSection(Args, frozen=True):
    """One entry of `matchExpressions` or `matchFields`."""

    key: str = ""
    """Name of the label, or `metadata.name` of `matchFields`."""
    operator: str = ""
    """`In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt` or `Lt`; of fields the first two."""
    values: tuple[str, ...] = ()
    """For the operators that compare."""


class NodeTermSection(Args, frozen=True):
    """One node selector term."""

    match_expressions: tuple[NodeRequirementSection, ...] = ()
    """Requirements on labels, all of which hold."""
    match_fields: tuple[NodeRequirementSection, ...] = ()
    """Requirements on the node's name."""


class NodeSelectorSection(Args, frozen=True):
    """Alternatives, of which a node has to meet one; it meets none of an empty list."""

    node_selector_terms: tuple[NodeTermSection, ...] = ()
    """Terms, of which a node has to meet one."""


class PreferredNodeSection(Args, frozen=True):
    """A term and its weight."""

    weight: Int32 = 0
    """1 to 100; without effect when 0."""
    preference: NodeTermSection = NodeTermSection()
    """The term that adds the weight to the score of nodes that meet it."""


class NodeAffinitySection(Args, frozen=True, rename={"required": _REQUIRED, "preferred": _PREFERRED}):
    """A `NodeAffinity` as written."""

    required: NodeSelectorSection | None = None
    """What a node has to meet."""
    preferred: tuple[PreferredNodeSection, ...] = ()
    """What makes a node better."""


def _read_added_affinity(checks: Checks, section: NodeAffinitySection, path: Path) -> Affinity:
    """The affinity in `section`, which stands at `path`; what does not parse is recorded in `checks`."""
    reader = _TermReader(checks)
    required = None
    if section.required is not None:
        place = (*path, _REQUIRED, "nodeSelectorTerms")
        terms = section.required.node_selector_terms
        required = tuple(reader.term(term, (*place, index)) for index, term in enumerate(terms))
    preferred = tuple(
        PreferredNodeTerm(entry.weight, reader.term(entry.preference, (*path, _PREFERRED, index, "preference")))
        for index, entry in enumerate(section.preferred)
        if entry.weight and entry.preference != NodeTermSection()
    )
    return Affinity(has_node_affinity=True, node_required=required, node_preferred=preferred)


class _TermReader:
    def __init__(self, checks: Checks) -> None:
        self._checks = checks

    def term(self, section: NodeTermSection, path: Path) -> NodeSelectorTerm:
        expressions = [
            self._expression(expression, (*path, "matchExpressions", index))
            for index, expression in enumerate(section.match_expressions)
        ]
        fields = [self._field(field, (*path, "matchFields", index)) for index, field in enumerate(section.match_fields)]
        return NodeSelectorTerm(tuple(filter(None, expressions)), tuple(filter(None, fields)))

    def _expression(self, section: NodeRequirementSection, path: Path) -> Requirement | None:
        if not self._knows_operator(section, _LABEL_OPERATORS, path):
            return None
        try:
            return make_requirement(section.key, section.operator, section.values)
        except LabelError as error:
            self._checks.fail_load(path, str(error))
            return None

    def _field(self, section: NodeRequirementSection, path: Path) -> Requirement | None:
        if not self._knows_operator(section, _FIELD_OPERATORS, path):
            return None
        if len(section.values) != 1:
            message = f"operator {section.operator} on a field needs exactly one value, not {len(section.values)}"
            self._checks.fail_load((*path, "values"), message)
            return None
        return Requirement(section.key, section.operator, frozenset(section.values))

    def _knows_operator(self, section: NodeRequirementSection, known: tuple[str, ...], path: Path) -> bool:
        if section.operator in known:
            return True
        hint = did_you_mean(section.operator, known)
        message = f"{shown(section.operator)} is not one of {', '.join(known)}{hint}"
        self._checks.fail_load((*path, "operator"), message)
        return False


class NodeAffinityArgs(msgspec.Struct, frozen=True):
    """Node affinity that holds for every pod of the profile on top of its own.

    Only the node terms of `added_affinity` are set, and none of them has an error. Preferred terms that can have no
    effect, being empty or of weight 0, are left out.
    """

    added_affinity: Affinity | None = None


class NodeAffinityArgsSection(Args, frozen=True):
    """`NodeAffinityArgs`."""

    added_affinity: NodeAffinitySection | None = None
    """Holds for every pod of the profile, beside its own."""


def _read(block: ArgsBlock, section: NodeAffinityArgsSection) -> NodeAffinityArgs | None:
    if section.added_affinity is None:
        return None
    return NodeAffinityArgs(_read_added_affinity(block.checks, section.added_affinity, (*block.path, "addedAffinity")))


def _shown(args: NodeAffinityArgs) -> Mapping[str, object]:
    return {"addedAffinity": args.added_affinity is not None}


_ARGS = ArgsKind(NodeAffinityArgsSection, _read, NodeAffinityArgs, _shown)


class _NodeAffinityReason(ObstacleReason):
    """Whose affinity a node fails, and affinity that no node can meet."""

    OWN = (
        1,
        "node(s) didn't match Pod's node affinity/selector",
        "didn't match Pod's node affinity/selector",
    )
    ADDED = (
        2,
        "node(s) didn't match scheduler-enforced node affinity",
        "didn't match scheduler-enforced node affinity",
    )
    CONFLICT = 0, "pod affinity terms conflict"


class NodeAffinity:
    """The filter. On a node that fails both affinities the added one is what the scheduler reports."""

    name = "NodeAffinity"
    is_static = True

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._terms = cluster.table.masks.terms
        added = profile.args.of(NodeAffinityArgs).added_affinity
        required = added.node_required if added is not None else None
        self._added = None if required is None else self._terms.any_of(required)

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Narrows the nodes to those that the pod names, when every alternative of its affinity names some."""
        spec = cycle.pod.spec
        required = spec.affinity.node_required if spec.affinity is not None else None
        if required is None:
            return PASS if spec.node_selector or self._added is not None else SKIP
        names = _pinned_names(required)
        if names is None:
            return PASS
        if not names:
            return PreFilterResult(Obstacle.of(self.name, Code.UNRESOLVABLE, _NodeAffinityReason.CONFLICT))
        return PreFilterResult(nodes=self._terms.named(names), names=names)

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """The nodes that do not match."""
        spec = cycle.pod.spec
        required = spec.affinity.node_required if spec.affinity is not None else None
        matches = self._terms.selected(spec.node_selector, required)
        against = np.where(matches, 0, _NodeAffinityReason.OWN.bit).astype(np.uint32)
        if self._added is not None:
            against[~self._added] = _NodeAffinityReason.ADDED.bit
        return against if against.any() else None

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """Whose affinity the node fails."""
        found = next(reason for reason in _NodeAffinityReason if reason.bit == bits)
        return Obstacle.of(self.name, Code.UNRESOLVABLE, found)


def _pinned_names(terms: Iterable[NodeSelectorTerm]) -> frozenset[str] | None:
    """Names of the nodes that `terms` leave; None when a term does not ask for names, or when there are no terms."""
    union: frozenset[str] | None = None
    for term in terms:
        wanted = [field.values for field in term.fields if field.key == "metadata.name" and field.operator == "In"]
        if not wanted:
            return None
        union = (union or frozenset()) | frozenset.intersection(*wanted)
    return union


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
    args=_ARGS,
    interactions=own_node,
    explain=_explain_node_affinity,
    about=About(
        check="The node must have the labels of nodeSelector and match a term of the required node affinity.",
        preference="Nodes that meet more of the preferred node affinity, by weight.",
        reasons=tuple(reason.reason for reason in _NodeAffinityReason),
    ),
)
