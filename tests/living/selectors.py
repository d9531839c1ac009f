"""Label selectors and field selectors, as they are written in objects and in queries."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

_SET = re.compile(r"(?P<key>[^\s!=,()]+)\s+(?P<operator>in|notin)\s+\((?P<values>[^)]*)\)")


def matches(selector: Mapping[str, Any] | None, labels: Mapping[str, str] | None) -> bool:
    """Whether a `LabelSelector` selects `labels`; None selects nothing, an empty one everything."""
    if selector is None:
        return False
    labels = labels or {}
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(requirement_holds(term, labels) for term in selector.get("matchExpressions") or ())


def requirement_holds(term: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether one requirement with `key`, `operator` and `values` holds for `labels`."""
    key, values = term["key"], list(term.get("values") or [])
    match term["operator"]:
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case "Gt":
            return key in labels and int(labels[key]) > int(values[0])
        case "Lt":
            return key in labels and int(labels[key]) < int(values[0])
    raise ValueError(f"operator {term['operator']} is none of a selector")


def label_test(text: str) -> Callable[[Mapping[str, str]], bool]:
    """What `labelSelector` of a query asks for, such as `app=a,tier in (x, y),!old`. Raises ValueError."""
    terms = [_requirement(part) for part in _parts(text)]
    return lambda labels: all(requirement_holds(term, labels) for term in terms)


def field_test(text: str) -> Callable[[Mapping[str, Any]], bool]:
    """What `fieldSelector` of a query asks for, such as `spec.nodeName=n1,metadata.name!=a`. Raises ValueError."""
    terms = []
    for part in filter(None, text.split(",")):
        name, operator, value = re.split(r"(!=|==?)", part, maxsplit=1)
        terms.append((name.split("."), operator != "!=", value))
    return lambda stored: all((_field(stored, path) == value) == is_equal for path, is_equal, value in terms)


def _parts(text: str) -> list[str]:
    return [part.strip() for part in re.split(r",(?![^(]*\))", text) if part.strip()]


def _requirement(part: str) -> dict[str, Any]:
    if found := _SET.fullmatch(part):
        operator = "In" if found["operator"] == "in" else "NotIn"
        return {"key": found["key"], "operator": operator, "values": [v.strip() for v in found["values"].split(",")]}
    if "!=" in part:
        key, _, value = part.partition("!=")
        return {"key": key.strip(), "operator": "NotIn", "values": [value.strip()]}
    if "=" in part:
        key, _, value = part.replace("==", "=").partition("=")
        return {"key": key.strip(), "operator": "In", "values": [value.strip()]}
    if part.startswith("!"):
        return {"key": part[1:].strip(), "operator": "DoesNotExist"}
    return {"key": part, "operator": "Exists"}


def _field(stored: Mapping[str, Any], path: list[str]) -> str:
    value: Any = stored
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return "" if value is None else str(value)
