"""Policies in values of the chart: a value file, a HelmRelease of Flux, an Application of Argo CD."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from descheduler.documents.config_map import Parse, parsed_entry
from descheduler.documents.document import Document, DocumentError, Member, TreeNode, items_of, member_node, member_text

_POLICY = "deschedulerPolicy"
_BESIDE = {
    "apiVersion": ("deschedulerPolicyAPIVersion", "descheduler/v1alpha2"),
    "kind": ("deschedulerPolicyKind", "DeschedulerPolicy"),
}
"""Field of a policy → the value of the chart that says it where the policy does not, and its default."""


def policy_in_values(path: str, text: str, roots: Sequence[TreeNode], parse: Parse) -> Document | None:
    """The policy in the values in `roots`, the documents of `text`; None when there are no values with a policy.

    Places in the result are those of `text`. Raises DocumentError for values with several policies.
    """
    found = [policy for root in roots for values in _values(root, text, parse) for policy in _policies(values)]
    if len(found) > 1:
        raise DocumentError("holds values with several policies; keep one of them", found[1].mark)
    return Document(path, found[0], "yaml") if found else None


def _values(root: TreeNode, text: str, parse: Parse) -> Iterator[TreeNode]:
    """The values that a document holds, or is."""
    match member_text(root, "kind"):
        case "HelmRelease":
            yield member_node(member_node(root, "spec"), "values")
        case "Application":
            yield from _of_application(member_node(root, "spec"), text, parse)
        case "ApplicationSet":
            spec = member_node(member_node(member_node(root, "spec"), "template"), "spec")
            yield from _of_application(spec, text, parse)
        case "List":
            for item in items_of(member_node(root, "items")):
                yield from _values(item, text, parse)
        case "CronJob" | "Deployment" | "":
            yield root


def _of_application(spec: TreeNode, text: str, parse: Parse) -> Iterator[TreeNode]:
    for source in (member_node(spec, "source"), *items_of(member_node(spec, "sources"))):
        helm = member_node(source, "helm")
        yield member_node(helm, "valuesObject")
        entry = member_node(helm, "values")
        if isinstance(entry.value, str) and entry.value.strip():
            yield parsed_entry(entry, text, parse).root


def _policies(values: TreeNode) -> Iterator[TreeNode]:
    """The policy of the values, or those of the values that they hold for charts below this one."""
    members = values.value if isinstance(values.value, Mapping) else {}
    if _POLICY in members:
        yield from _completed(values)
        return
    for member in members.values():
        yield from _completed(member.node)


def _completed(values: TreeNode) -> Iterator[TreeNode]:
    """The policy with the version and the kind that stand beside it."""
    policy = member_node(values, _POLICY)
    if not isinstance(policy.value, Mapping):
        return
    stated = {key: _member(values, policy, *beside) for key, beside in _BESIDE.items()}
    yield replace(policy, value={**stated, **policy.value})


def _member(values: TreeNode, policy: TreeNode, key: str, default: str) -> Member:
    node = member_node(values, key)
    return Member(node.mark, node) if node.value is not None else Member(policy.mark, TreeNode(default, policy.mark))
