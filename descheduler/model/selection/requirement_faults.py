"""What is wrong with a requirement on a node label, in the words of Kubernetes.

Users look for what the scheduler says, so its sentences are given as they are: `labels.NewRequirement` of
`k8s.io/apimachinery/pkg/labels/selector.go` and `pkg/util/validation` (1.36).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from descheduler.model.selection.labels import LabelError, make_requirement, parse_int64

_LONGEST_VALUE = 63
_VALUE_SYNTAX = r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"
_SOME = (lambda number: number > 0, "for 'in', 'notin' operators, values set can't be empty")
_NONE = (lambda number: number == 0, "values set must be empty for exists and does not exist")
_ONE = (lambda number: number == 1, "for 'Gt', 'Lt' operators, exactly one value is required")
_OPERATORS: Mapping[str, tuple[Callable[[int], bool], str]] = {
    "In": _SOME,
    "NotIn": _SOME,
    "Exists": _NONE,
    "DoesNotExist": _NONE,
    "Gt": _ONE,
    "Lt": _ONE,
}
"""How many values each operator takes, and what is said of any other number."""
_FIELD_OPERATORS = ("In", "NotIn")
_SELECTOR_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
_NO_INTEGER = "for 'Gt', 'Lt' operators, the value must be an integer"
_TOO_LONG = f"must be no more than {_LONGEST_VALUE} bytes"
_NO_LABEL_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and"
    " end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is"
    f" '{_VALUE_SYNTAX}')"
)


def requirement_faults(key: str, operator: str, values: Sequence[str] | None) -> tuple[str, ...]:
    """Sentences that begin with the field at fault, such as `values[0]: ...`; empty for a sound requirement.

    Operators and values are worded as Kubernetes words it; a bad key gets one sentence of ours.
    """
    return tuple(_value_faults(key, operator, values)) or tuple(_other_faults(key, operator, values or ()))


def field_faults(operator: str, values: Sequence[str] | None) -> tuple[str, ...]:
    """The same for a requirement on a field of the node, which takes `In` or `NotIn` with one value."""
    if operator not in _FIELD_OPERATORS:
        return (_unsupported(operator, _FIELD_OPERATORS),)
    return () if values and len(values) == 1 else (_invalid("values", values, "must have one element"),)


def selector_fault(
    match_labels: Mapping[str, str], expressions: Iterable[tuple[str, str, Sequence[str] | None]]
) -> str:
    """What is wrong with the first unusable condition of a label selector; empty for a sound one.

    `expressions` are keys, operators and values. Mirrors `LabelSelectorAsSelector` of
    `k8s.io/apimachinery/pkg/apis/meta/v1/helpers.go` (1.36).
    """
    for key, operator, values in (*((key, "In", [value]) for key, value in match_labels.items()), *expressions):
        if operator not in _SELECTOR_OPERATORS:
            return f"{json.dumps(operator)} is not a valid label selector operator"
        if faults := requirement_faults(key, operator, values):
            return f"[{', '.join(faults)}]" if len(faults) > 1 else faults[0]
    return ""


def _value_faults(key: str, operator: str, given: Sequence[str] | None) -> Iterator[str]:
    values = given or ()
    if operator not in _OPERATORS:
        yield _unsupported(operator, _OPERATORS)
        return
    is_counted, count = _OPERATORS[operator]
    if not is_counted(len(values)):
        yield _invalid("values", given, count)
    if operator in ("Gt", "Lt"):
        for index, value in enumerate(values):
            if parse_int64(value) is None:
                yield _invalid(f"values[{index}]", value, _NO_INTEGER)
    for index, value in enumerate(values):
        problems = [_TOO_LONG] if len(value) > _LONGEST_VALUE else []
        if re.fullmatch(_VALUE_SYNTAX, value) is None:
            problems.append(_NO_LABEL_VALUE)
        if problems:
            yield _invalid(f"values[{index}][{key}]", value, "; ".join(problems))


def _other_faults(key: str, operator: str, values: Sequence[str]) -> Iterator[str]:
    try:
        make_requirement(key, operator, values)
    except LabelError as error:
        yield str(error)


def _unsupported(operator: str, supported: Iterable[str]) -> str:
    known = ", ".join(map(json.dumps, supported))
    return f"operator: Unsupported value: {json.dumps(operator)}: supported values: {known}"


def _invalid(field: str, value: str | Sequence[str] | None, detail: str) -> str:
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return f"{field}: Invalid value: {written}: {detail}"
