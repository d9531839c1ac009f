"""Label selectors: the structured form (`matchLabels`/`matchExpressions`) and the string grammar.

Mirrors `k8s.io/apimachinery/pkg/labels` and `metav1.LabelSelectorAsSelector` (0.36).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from descheduler.model.names import is_name_part, is_subdomain


class LabelError(ValueError):
    """A selector that Kubernetes would refuse; the message names the key or value at fault."""


class Requirement(msgspec.Struct, frozen=True, gc=False):
    """One condition on one label. `operator` is `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt` or `Lt`."""

    key: str
    operator: str
    values: frozenset[str] = frozenset()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether `labels` meets this condition; `NotIn` accepts a missing key, `Gt`/`Lt` do not."""
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value is not None and value in self.values
            case "NotIn":
                return value is None or value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case _:
                return value is not None and _compares(value, self.operator, next(iter(self.values)))


class LabelSelector(msgspec.Struct, frozen=True, gc=False):
    """A conjunction of requirements, in canonical order. No requirements select everything, unless `nothing` is set."""

    requirements: tuple[Requirement, ...] = ()
    nothing: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether the selector selects everything."""
        return not self.requirements and not self.nothing

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether `labels` meets every requirement."""
        if self.nothing:
            return False
        for requirement in self.requirements:
            if not requirement.matches(labels):
                return False
        return True

    def with_requirements(self, extra: Sequence[Requirement]) -> LabelSelector:
        """This selector narrowed by `extra`; a selector of nothing stays one."""
        if self.nothing or not extra:
            return self
        return LabelSelector(tuple(sorted((*self.requirements, *extra), key=_requirement_order)))


EVERYTHING = LabelSelector()
NOTHING = LabelSelector(nothing=True)

_INT64_MAX = 2**63 - 1
_INTEGER = re.compile(r"[+-]?[0-9]+\Z")


def parse_int64(text: str) -> int | None:
    """`text` as a base-10 int64 the way Go's `strconv.ParseInt` reads it, or None."""
    if not _INTEGER.match(text) or len(text) > 4300:
        return None
    number = int(text)
    return number if -_INT64_MAX - 1 <= number <= _INT64_MAX else None


def _compares(value: str, operator: str, bound: str) -> bool:
    left, right = parse_int64(value), parse_int64(bound)
    if left is None or right is None:
        return False
    return left > right if operator == "Gt" else left < right


def _requirement_order(requirement: Requirement) -> tuple[str, str, list[str]]:
    return requirement.key, requirement.operator, sorted(requirement.values)


def key_problem(key: str) -> str | None:
    """Why `key` is no valid label key, or None."""
    prefix, slash, name = key.rpartition("/")
    if slash and not is_subdomain(prefix):
        return f"label key {key!r} has a prefix that is not a DNS subdomain"
    if not is_name_part(name):
        return f"{key!r} is not a label key (letters, digits, '-', '_' and '.', at most 63, after an optional prefix/)"
    return None


def value_problem(value: str) -> str | None:
    """Why `value` is no valid label value, or None. The empty value is valid."""
    if value and not is_name_part(value):
        return f"{value!r} is not a label value (letters, digits, '-', '_' and '.', at most 63)"
    return None


def make_requirement(key: str, operator: str, values: Sequence[str]) -> Requirement:
    """A validated requirement as `labels.NewRequirement` makes it. Raises LabelError."""
    if problem := key_problem(key):
        raise LabelError(problem)
    if operator in ("In", "NotIn"):
        if not values:
            raise LabelError(f"operator {operator} on key {key!r} needs at least one value")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            raise LabelError(f"operator {operator} on key {key!r} takes no values")
    elif operator in ("Gt", "Lt"):
        if len(values) != 1 or parse_int64(values[0]) is None:
            raise LabelError(f"operator {operator} on key {key!r} needs exactly one integer value")
    else:
        raise LabelError(f"{operator!r} is not a selector operator")
    for value in values:
        if problem := value_problem(value):
            raise LabelError(problem)
    return Requirement(key, operator, frozenset(values))


_STRUCTURED_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


def selector_from_object(obj: Mapping[str, object]) -> LabelSelector:
    """The selector of a decoded `metav1.LabelSelector` object; an empty object selects everything.

    Raises LabelError on an unknown operator, missing or superfluous values, or a key or value that is no valid label.
    """
    requirements = [
        make_requirement(str(key), "In", [str(value)]) for key, value in _mapping(obj.get("matchLabels")).items()
    ]
    for expression in _sequence(obj.get("matchExpressions")):
        fields = _mapping(expression)
        operator = str(fields.get("operator") or "")
        if operator not in _STRUCTURED_OPERATORS:
            raise LabelError(
                f"{operator!r} is not a label selector operator (one of {', '.join(_STRUCTURED_OPERATORS)})"
            )
        values = [str(value) for value in _sequence(fields.get("values"))]
        requirements.append(make_requirement(str(fields.get("key") or ""), operator, values))
    return LabelSelector(tuple(sorted(requirements, key=_requirement_order)))


def _mapping(value: object) -> Mapping[str, object]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise LabelError(f"a label selector holds objects, not {value!r}")
    return value


def _sequence(value: object) -> Sequence[object]:
    if value is None:
        return ()
    if not isinstance(value, (list, tuple)):
        raise LabelError(f"a label selector holds lists, not {value!r}")
    return value


_SPACE = " \t\r\n"
_TOKEN = re.compile(rf"[{_SPACE}]*(?:(==|!=|=|!|>|<|\(|\)|,)|([^{_SPACE}=!<>(),]+))")


def parse_selector(text: str) -> LabelSelector:
    """The selector of the comma-separated string grammar (`a=b,c!=d,e in (f,g),!h,i>1`); empty text selects everything.

    Raises LabelError naming the place where the text stops making sense.
    """
    tokens = _tokenize(text)
    if not tokens:
        return EVERYTHING
    requirements: list[Requirement] = []
    position = 0
    while True:
        requirement, position = _parse_requirement(text, tokens, position)
        requirements.append(requirement)
        if position == len(tokens):
            return LabelSelector(tuple(sorted(requirements, key=_requirement_order)))
        if tokens[position] != ",":
            raise LabelError(f"label selector {text!r}: expected a comma before {tokens[position]!r}")
        position += 1


def _tokenize(text: str) -> list[str]:
    tokens, position, end = [], 0, len(text.rstrip(_SPACE))
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            raise LabelError(f"label selector {text!r}: cannot read {text[position:]!r}")
        tokens.append(match[1] or match[2])
        position = match.end()
    return tokens


_SYMBOLS = frozenset({"==", "!=", "=", "!", ">", "<", "(", ")", ","})


def _parse_requirement(text: str, tokens: list[str], at: int) -> tuple[Requirement, int]:
    negated = at < len(tokens) and tokens[at] == "!"
    at += negated
    if at >= len(tokens) or tokens[at] in _SYMBOLS:
        raise LabelError(f"label selector {text!r}: expected a label key")
    key, at = tokens[at], at + 1
    if negated:
        return make_requirement(key, "DoesNotExist", []), at
    if at == len(tokens) or tokens[at] == ",":
        return make_requirement(key, "Exists", []), at
    word, at = tokens[at], at + 1
    if word in ("in", "notin"):
        values, at = _parse_values(text, tokens, at)
        return make_requirement(key, "In" if word == "in" else "NotIn", values), at
    operators = {"=": "In", "==": "In", "!=": "NotIn", ">": "Gt", "<": "Lt"}
    if word not in operators:
        raise LabelError(f"label selector {text!r}: {word!r} is not an operator")
    value, at = (tokens[at], at + 1) if at < len(tokens) and tokens[at] not in _SYMBOLS else ("", at)
    return make_requirement(key, operators[word], [value]), at


def _parse_values(text: str, tokens: list[str], at: int) -> tuple[list[str], int]:
    if at >= len(tokens) or tokens[at] != "(":
        raise LabelError(f"label selector {text!r}: expected '(' after in or notin")
    values, at, expect_value = [], at + 1, True
    while at < len(tokens) and tokens[at] != ")":
        if tokens[at] == ",":
            if expect_value:
                values.append("")
            expect_value = True
        elif tokens[at] in _SYMBOLS or not expect_value:
            raise LabelError(f"label selector {text!r}: expected ',' or ')' before {tokens[at]!r}")
        else:
            values.append(tokens[at])
            expect_value = False
        at += 1
    if at >= len(tokens):
        raise LabelError(f"label selector {text!r}: the list of values is not closed")
    if expect_value:
        values.append("")  # `in ()` asks for the empty value, and so does a trailing comma
    return values, at + 1
