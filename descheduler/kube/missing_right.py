"""The right that a refused request takes, as the rule that grants it."""

from __future__ import annotations

__all__ = ["rule_to_add"]

_WRITING = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


def rule_to_add(method: str, path: str) -> str:
    """The sentence that says which rule allows a request for an object or a list; "" for a path of another kind.

    It belongs into a Role of the namespace, or into a ClusterRole for what is in none; it is one line, as it may stand
    in a table. Names of pods and jobs are not known beforehand, so that every name is allowed.
    """
    group, rest = _group_of(path.partition("?")[0].strip("/").split("/"))
    if not rest:
        return ""
    namespace = rest[1] if rest[0] == "namespaces" and len(rest) > 2 else ""
    resource, name, subresource = (*(rest[2:] if namespace else rest), "", "")[:3]
    verb = _WRITING.get(method) or ("get" if name else "list")
    where = f"a Role in namespace {namespace}" if namespace else "a ClusterRole"
    whole = f"{resource}/{subresource}" if subresource else resource
    rule = f"{{apiGroups: [{group or _CORE}], resources: [{whole}], verbs: [{verb}]}}"
    return f"add this rule to {where}: {rule}"


_CORE = '""'


def _group_of(parts: list[str]) -> tuple[str, list[str]]:
    """The API group and what follows its version."""
    match parts:
        case ["api", _, *rest]:
            return "", rest
        case ["apis", group, _, *rest]:
            return group, rest
    return "", []
