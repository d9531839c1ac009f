"""How Kubernetes finds out what a document is: its `apiVersion` and `kind`, read as Go reads them."""

from __future__ import annotations

from collections.abc import Mapping

from descheduler.documents.document import TreeNode, kind_of
from descheduler.policy.checks import Checks

__all__ = ["INTERNAL_VERSIONS", "type_meta"]

INTERNAL_VERSIONS = ("", "/", "descheduler/", "descheduler/__internal")
"""Versions for which upstream decodes into its internal type, where no field has the documented name."""


def type_meta(checks: Checks, root: TreeNode) -> tuple[str, str] | None:
    """`apiVersion` and `kind` of the document, empty when absent; None, with the problem recorded, for no strings.

    These two keys alone count in any letter case, the last one said: Kubernetes finds out the kind of a document with
    Go's own JSON decoder (`k8s.io/apimachinery` 0.36 `pkg/runtime/serializer/json/meta.go`). A key of YAML comes after
    those that sort before it, since YAML is made JSON first.
    """
    api_version, kind = _text(checks, root, "apiVersion"), _text(checks, root, "kind")
    return None if api_version is None or kind is None else (api_version, kind)


def _text(checks: Checks, root: TreeNode, key: str) -> str | None:
    members = root.value if isinstance(root.value, Mapping) else {}
    spellings = [spelling for spelling in members if spelling.casefold() == key.casefold()]
    text = ""
    for spelling in sorted(spellings) if checks.load.document.form == "yaml" else spellings:
        for node in (*members[spelling].earlier, members[spelling].node):
            if isinstance(node.value, str):
                text = node.value
            elif node.value is not None:
                checks.load.problem((spelling,), node.mark, f"expected a string, found {kind_of(node)}")
                return None
    return text
