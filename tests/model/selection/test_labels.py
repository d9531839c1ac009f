"""Label selectors in their two forms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.model.selection.labels import (
    EVERYTHING,
    NOTHING,
    LabelError,
    key_problem,
    make_requirement,
    parse_int64,
    parse_selector,
    selector_from_object,
    value_problem,
)

LABELS = {"app": "cart", "tier": "2", "empty": ""}
NAMES = st.text("abc", min_size=1, max_size=3)
SETS = st.dictionaries(NAMES, NAMES, max_size=4)


@given(SETS, SETS)
def test_both_forms_of_equal_labels_select_the_same(wanted: dict[str, str], labels: dict[str, str]) -> None:
    structured = selector_from_object({"matchLabels": wanted})
    text = parse_selector(",".join(f"{key}={value}" for key, value in wanted.items()))

    assert structured == text
    assert structured.matches(labels) == (wanted.items() <= labels.items())


@given(NAMES, st.lists(NAMES, min_size=1, max_size=3), SETS)
def test_each_operator_and_its_opposite_part_all_label_sets(
    key: str, values: list[str], labels: dict[str, str]
) -> None:
    chosen = make_requirement(key, "In", values).matches(labels)
    exists = make_requirement(key, "Exists", []).matches(labels)

    assert make_requirement(key, "NotIn", values).matches(labels) is not chosen
    assert make_requirement(key, "DoesNotExist", []).matches(labels) is not exists
    assert exists or not chosen


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", True),
        ("app=cart", True),
        ("app==cart", True),
        ("app!=cart", False),
        ("missing!=cart", True),
        ("app", True),
        ("!app", False),
        ("!missing", True),
        ("app in (cart, shop)", True),
        ("app notin (cart)", False),
        ("tier>1", True),
        ("tier>2", False),
        ("tier<3", True),
        ("tier<2", False),
        ("app>1", False),
        ("missing<3", False),
        ("empty=", True),
        ("empty", True),
        ("empty in ()", True),
        ("app=cart,tier!=2", False),
        (" app = cart , tier ", True),
    ],
)
def test_text_selects(text: str, matches: bool) -> None:
    assert parse_selector(text).matches(LABELS) is matches


@pytest.mark.parametrize(
    "text",
    [
        "=",
        "app=cart,",
        "app in cart",
        "app in (cart",
        "app in (a b)",
        "a b",
        "!",
        "app>x",
        "-app",
        "app=-x",
        "(",
        ",app",
        "app\N{NO-BREAK SPACE}=x",
        "app=x\f",
    ],
)
def test_text_that_kubernetes_refuses_is_refused(text: str) -> None:
    with pytest.raises(LabelError):
        parse_selector(text)


@pytest.mark.parametrize(
    ("obj", "matches"),
    [
        pytest.param({}, True, id="an empty selector selects everything"),
        pytest.param({"matchLabels": None, "matchExpressions": None}, True, id="null counts as absent"),
        pytest.param({"matchLabels": {"app": "cart", "tier": "3"}}, False, id="all labels must agree"),
        pytest.param(
            {"matchLabels": {"app": "cart"}, "matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]},
            True,
            id="labels and expressions must agree",
        ),
    ],
)
def test_structure_selects(obj: dict[str, object], matches: bool) -> None:
    assert selector_from_object(obj).matches(LABELS) is matches


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param({"key": "a", "operator": "In"}, id="In without values"),
        pytest.param({"key": "a", "operator": "Exists", "values": ["x"]}, id="Exists with values"),
        pytest.param({"key": "a", "operator": "Gt", "values": ["1"]}, id="an operator of node selectors"),
        pytest.param({"key": "", "operator": "Exists"}, id="no key"),
        pytest.param({"key": "a", "operator": "In", "values": ["-x"]}, id="a value that is no label value"),
        pytest.param({"key": "A_/b", "operator": "Exists"}, id="a prefix that is no domain"),
        pytest.param({"key": "a" * 64, "operator": "Exists"}, id="a key that is too long"),
    ],
)
def test_structure_that_kubernetes_refuses_is_refused(expression: dict[str, object]) -> None:
    with pytest.raises(LabelError):
        selector_from_object({"matchExpressions": [expression]})


def test_selector_of_nothing_stays_one_when_narrowed() -> None:
    extra = [make_requirement("app", "Exists", [])]

    assert NOTHING.with_requirements(extra) == NOTHING
    assert not NOTHING.matches(LABELS)
    assert EVERYTHING.with_requirements(extra) == parse_selector("app")
    assert EVERYTHING.is_empty
    assert not NOTHING.is_empty


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("+7", 7),
        ("-7", -7),
        ("9223372036854775807", 2**63 - 1),
        ("9223372036854775808", None),
        ("-9223372036854775808", -(2**63)),
        ("-9223372036854775809", None),
        pytest.param("0" * 4299 + "7", 7, id="as many digits as Python reads"),
        pytest.param("0" * 4300 + "7", None, id="more digits than Python reads"),
        ("", None),
        ("1.5", None),
        ("1 ", None),
    ],
)
def test_integer_is_one_of_64_bits(text: str, number: int | None) -> None:
    assert parse_int64(text) == number


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("app in", "expected '(' after in or notin"),
        ("app notin cart", "expected '(' after in or notin"),
        ("app in (", "the list of values is not closed"),
        ("app in (a", "the list of values is not closed"),
        ("app in (a,", "the list of values is not closed"),
        ("app in (=)", "expected ',' or ')' before '='"),
        ("app in (a b)", "expected ',' or ')' before 'b'"),
        ("app like x", "'like' is not an operator"),
        ("app=cart tier", "expected a comma before 'tier'"),
        ("app=cart,", "expected a label key"),
        ("!", "expected a label key"),
        ("=", "expected a label key"),
    ],
)
def test_text_says_where_it_stops_making_sense(text: str, message: str) -> None:
    with pytest.raises(LabelError) as caught:
        parse_selector(text)

    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("app in (a)", {"a"}),
        ("app in (a,b)", {"a", "b"}),
        ("app in ()", {""}),
        ("app in (a,)", {"a", ""}),
        ("app in (,a)", {"a", ""}),
        ("app in (a,,b)", {"a", "b", ""}),
        ("app=", {""}),
        ("app=,tier", {""}),
    ],
)
def test_values_may_be_empty(text: str, values: set[str]) -> None:
    assert parse_selector(text).requirements[0].values == values


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        ({"matchLabels": ["a"]}, "holds objects"),
        ({"matchExpressions": {"a": "b"}}, "holds lists"),
        ({"matchExpressions": ["a"]}, "holds objects"),
        ({"matchExpressions": [{"key": "a", "operator": "In", "values": "b"}]}, "holds lists"),
        ({"matchExpressions": [{"key": "a"}]}, "'' is not a label selector operator"),
    ],
)
def test_structure_of_another_kind_is_refused(obj: dict[str, object], message: str) -> None:
    with pytest.raises(LabelError, match=message):
        selector_from_object(obj)


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ("app", None),
        ("example.com/app", None),
        ("A_/app", "label key 'A_/app' has a prefix that is not a DNS subdomain"),
        ("/app", "label key '/app' has a prefix that is not a DNS subdomain"),
    ],
)
def test_problem_of_a_key(key: str, problem: str | None) -> None:
    assert key_problem(key) == problem


def test_only_a_value_that_is_there_can_be_bad() -> None:
    assert [value_problem(value) is None for value in ("", "a", "-a", "a" * 63, "a" * 64)] == [
        True,
        True,
        False,
        True,
        False,
    ]
