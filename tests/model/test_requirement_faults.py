"""What Kubernetes says of requirements on labels that it cannot use."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.model.labels import LabelError, make_requirement
from descheduler.model.requirement_faults import requirement_faults

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
        pytest.param("In", [], ("operator In on key 'k' needs at least one value",), id="what the API server refuses"),
    ],
)
def test_faults_are_worded_as_kubernetes_words_them(operator: str, values: list[str], faults: tuple[str, ...]) -> None:
    assert requirement_faults("k", operator, values) == faults


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
