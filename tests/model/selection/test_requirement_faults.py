"""What Kubernetes says of requirements on labels that it cannot use."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.model.selection.labels import LabelError, make_requirement
from descheduler.model.selection.requirement_faults import field_faults, requirement_faults, selector_fault

NO_INTEGER = "for 'Gt', 'Lt' operators, the value must be an integer"
NO_LABEL_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and"
    " end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is"
    " '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


@pytest.mark.parametrize(
    ("operator", "values", "faults"),
    [
        pytest.param("In", ["a", ""], (), id="a sound requirement"),
        pytest.param(
            "Gt", ["abc"], (f'values[0]: Invalid value: "abc": {NO_INTEGER}',), id="a bound that is no number"
        ),
        pytest.param("In", ["a", "-b"], (f'values[1][k]: Invalid value: "-b": {NO_LABEL_VALUE}',), id="no label value"),
        pytest.param(
            "Lt",
            ["1 x"],
            (f'values[0]: Invalid value: "1 x": {NO_INTEGER}', f'values[0][k]: Invalid value: "1 x": {NO_LABEL_VALUE}'),
            id="neither a number nor a label value",
        ),
        pytest.param(
            "NotIn",
            ["v" * 64],
            (f'values[0][k]: Invalid value: "{"v" * 64}": must be no more than 63 bytes',),
            id="a value that is too long",
        ),
        pytest.param(
            "In",
            [],
            ("values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",),
            id="nothing to choose from",
        ),
        pytest.param(
            "Exists",
            ["a", "b"],
            ('values: Invalid value: ["a","b"]: values set must be empty for exists and does not exist',),
            id="values for a question that has none",
        ),
        pytest.param(
            "Gt",
            ["x", "2"],
            (
                "values: Invalid value: [\"x\",\"2\"]: for 'Gt', 'Lt' operators, exactly one value is required",
                f'values[0]: Invalid value: "x": {NO_INTEGER}',
            ),
            id="two bounds",
        ),
        pytest.param(
            "Like",
            ["a"],
            (
                'operator: Unsupported value: "Like": supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt",'
                ' "Lt"',
            ),
            id="an operator that does not exist",
        ),
    ],
)
def test_faults_are_worded_as_kubernetes_words_them(operator: str, values: list[str], faults: tuple[str, ...]) -> None:
    assert requirement_faults("k", operator, values) == faults


@pytest.mark.parametrize(
    ("operator", "values", "faults"),
    [
        pytest.param("In", ["a"], (), id="one name"),
        pytest.param("NotIn", [], ("values: Invalid value: []: must have one element",), id="no name"),
        pytest.param(
            "Exists",
            ["a"],
            ('operator: Unsupported value: "Exists": supported values: "In", "NotIn"',),
            id="another operator",
        ),
    ],
)
def test_faults_of_fields_are_worded_as_kubernetes_words_them(
    operator: str, values: list[str], faults: tuple[str, ...]
) -> None:
    assert field_faults(operator, values) == faults


@pytest.mark.parametrize(
    ("labels", "expressions", "fault"),
    [
        pytest.param({"k": "v"}, [("k", "Exists", None)], "", id="a sound selector"),
        pytest.param({"k": "-"}, [], f'values[0][k]: Invalid value: "-": {NO_LABEL_VALUE}', id="no label value"),
        pytest.param(
            {},
            [("k", "In", []), ("k", "Like", [])],
            "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
            id="the first fault is told",
        ),
        pytest.param(
            {}, [("k", "Gt", ["1"])], '"Gt" is not a valid label selector operator', id="an operator of nodes"
        ),
        pytest.param(
            {},
            [("k", "In", ["-", "+"])],
            f'[values[0][k]: Invalid value: "-": {NO_LABEL_VALUE}, values[1][k]: Invalid value: "+": {NO_LABEL_VALUE}]',
            id="all faults of one condition",
        ),
    ],
)
def test_fault_of_a_label_selector(
    labels: dict[str, str], expressions: list[tuple[str, str, list[str] | None]], fault: str
) -> None:
    assert selector_fault(labels, expressions) == fault


@given(
    st.text(max_size=4), st.sampled_from(["In", "NotIn", "Exists", "Gt", "Lt", "Like"]), st.lists(st.text(max_size=3))
)
def test_there_is_a_fault_exactly_where_no_requirement_can_be_made(key: str, operator: str, values: list[str]) -> None:
    try:
        make_requirement(key, operator, values)
    except LabelError:
        is_sound = False
    else:
        is_sound = True

    assert (not requirement_faults(key, operator, values)) == is_sound
