"""What is wrong with a requirement on a node label, in the words of Kubernetes.

Users look for what the scheduler says, so its sentences are given as they are: `labels.NewRequirement` of
`k8s.io/apimachinery/pkg/labels/selector.go` and `pkg/util/validation` (1.36).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from descheduler.model.labels import LabelError, make_requirement, parse_int64

__all__ = ["requirement_faults"]

_LONGEST_VALUE = 63
_VALUE_SYNTAX = r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"
_NO_INTEGER = "for 'Gt', 'Lt' operators, the value must be an integer"
_TOO_LONG = f"must be no more than {_LONGEST_VALUE} bytes"
_NO_LABEL_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and"
    " end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is"
    f" '{_VALUE_SYNTAX}')"
)


def requirement_faults(key: str, operator: str, values: Sequence[str]) -> tuple[str, ...]:
    """Sentences that begin with the field at fault, such as `values[0]: ...`; empty for a sound requirement.

    What the API server lets pass is worded as Kubernetes words it; anything else gets one sentence of ours.
    """
    return tuple(_value_faults(key, operator, values)) or tuple(_other_faults(key, operator, values))


def _value_faults(key: str, operator: str, values: Sequence[str]) -> Iterator[str]:
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


def _invalid(field: str, value: str, detail: str) -> str:
    return f"{field}: Invalid value: {json.dumps(value, ensure_ascii=False)}: {detail}"
