"""`addedAffinity` of the plugin NodeAffinity: read into the model, with what is wrong placed in the document.

Other than in a pod's affinity a term that cannot be parsed is an error, as it is for kube-scheduler 1.36
(`k8s.io/component-helpers/scheduling/corev1/nodeaffinity`).
"""

from __future__ import annotations

from descheduler.documents.decode import Path
from descheduler.documents.problems import did_you_mean, shown
from descheduler.model.selection.affinity import Affinity, NodeSelectorTerm, PreferredNodeTerm
from descheduler.model.selection.labels import LabelError, Requirement, make_requirement
from descheduler.policy.checks import Checks
from descheduler.policy.shared_args import Args, Int32

__all__ = ["NodeAffinitySection", "read_added_affinity"]

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


def read_added_affinity(checks: Checks, section: NodeAffinitySection, path: Path) -> Affinity:
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
