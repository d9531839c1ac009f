"""What is told about an expression that has no answer: what is wrong with it, and where.

Positions count characters from 1. What the API server refuses, and what has no value for a device, was measured on
`cel` of `k8s.io/dynamic-resource-allocation` 0.36.3; the messages are our own.
"""

from __future__ import annotations

import pytest

from descheduler.placement.cel import CelError, EvaluationError, InvalidExpression, Unsupported, compile_selector
from descheduler.placement.cel.frame import MOST_STEPS, Frame
from tests.placement.cel.answers import DEVICE, about, answer

OUTSIDE_THE_SUBSET = [
    ("device.?driver == 'a'", "device.?driver at position 7"),
    ("device.nothing == 1", "device.nothing at position 7"),
    ("1 == 1 && foo(1)", "foo() at position 11"),
    ("#model.foo()", "foo() at position 34"),
    ("true == {1: 'a'}.b", "a map with other keys than strings at position 9"),
    ("1 == A{}", "construction of a message at position 7"),
    ("device.driver{} == 1", "construction of a message at position 14"),
    ("[1, ?1] == []", "an optional element at position 5"),
    ("{?'a': 1} == {}", "an optional entry at position 2"),
    ("5 == 5u", "an unsigned integer at position 6"),
    ("#model == b'a'", "a bytes literal at position 38"),
]


@pytest.mark.parametrize(("expression", "message"), OUTSIDE_THE_SUBSET)
def test_what_is_outside_the_subset_is_named_with_its_place(expression: str, message: str) -> None:
    """Its value is unknown: nothing is refused, and nothing is promised."""
    assert told_of(expression) == (Unsupported, message)


INVALID_ONES = [
    ("1 == [1, 'a']", "expected int, found string at position 6"),
    ("1 + 'a' == 2", "no overload of + for (int, string) at position 3"),
    ("1 == (true ? 1 : 'a')", "no overload of ?: for (int, string) at position 12"),
    ("1 == 'x'.size('y')", "no overload of size for (string, string) at position 9"),
    ("[1].x == 1", "list(int) has no part that string names at position 4"),
    ("1 == [1][?'a'].value()", "list(int) has no part that string names at position 9"),
    ("{'a': 1}[1] == 1", "no overload of [] for (map(string, int), int) at position 9"),
    ("true && has(device)", "has() without a field at position 9"),
    ("[1].exists(5, true)", "the variable of a macro is not a name at position 12"),
    ("1.exists(x, true)", "int has no elements at position 2"),
    ("#model.exists(x, true)", "any has no elements at position 34"),
    ("cel.bind(5, 1, true)", "the variable of a macro is not a name at position 10"),
    ("optional.of(1).orValue('a') == 1", "no overload of orValue for (optional(int), string) at position 15"),
    ("true && 'a'", "expected bool, found string at position 9"),
    ("'a'.matches(5)", "expected string, found int at position 13"),
    ("if == 1", "syntax error at position 1: 'if'"),
    ("1 == 1 )", "syntax error at position 8: ')'"),
    ("1 == ", "syntax error at position 6: 'the end'"),
    ("1 == '123456789012345678901", 'syntax error at position 6: "\'1234567890123456789"'),
    ("1 == a_very_long_name_of_something 5", "syntax error at position 36: '5'"),
    ("'' == 'a\\q'", "invalid escape sequence in the string at position 7"),
    ("0 < 9223372036854775808", "integer out of range at position 5"),
    ("0 > -9223372036854775809", "integer out of range at position 5"),
    ("5", "must evaluate to bool or the unknown type, not int"),
]


@pytest.mark.parametrize(("expression", "message"), INVALID_ONES)
def test_what_the_api_server_refuses_is_told_with_its_place(expression: str, message: str) -> None:
    assert told_of(expression) == (InvalidExpression, message)


WITHOUT_A_VALUE = [
    ("#nothing == 1", "no such key: nothing"),
    ("#model.part == 1", "no such overload: .part(string)"),
    ("{'a': 1}['b'] == 1", "no such key: b"),
    ("[1, 2][#model] == 1", "no such overload: [](list, string)"),
    ("[1, 2][2] == 1", "index out of bounds: 2"),
    ("#model < 5", "no such overload: <(string, int)"),
    ("#index.startsWith('a')", "no such overload: startsWith(int, string)"),
    ("#index", "the result is of type int, not bool"),
    ("#version == 1", "no such overload: ==(semver, int)"),
    ("optional.none().value() == 1", "optional.none() has no value"),
    ("1 / 0 == 1", "division by zero"),
    ("9223372036854775807 + 1 > 0", "integer overflow"),
    ("dyn(1).exists(x, true)", "found int, expected a list or a map"),
    ("'a'.matches(#model + '(')", "regular expression 'A100(': missing ) at position 6"),
]


@pytest.mark.parametrize(("expression", "message"), WITHOUT_A_VALUE)
def test_error_on_a_device_names_the_values_that_led_to_it(expression: str, message: str) -> None:
    assert told_of(expression) == (EvaluationError, message)


def told_of(expression: str) -> tuple[type[CelError], str]:
    """Which kind of failure, and its message."""
    with pytest.raises(CelError) as raised:
        compile_selector(about(expression)).matches(DEVICE)
    return type(raised.value), str(raised.value)


@pytest.mark.parametrize(
    ("wide", "too_wide"),
    [
        pytest.param("(" * 47 + "true" + ")" * 47, "(" * 48 + "true" + ")" * 48, id="brackets"),
        pytest.param("1" + " + 1" * 46 + " > 0", "1" + " + 1" * 47 + " > 0", id="operators one after the other"),
        pytest.param("#healthy" + " ? true : false" * 45, "#healthy" + " ? true : false" * 48, id="conditionals"),
    ],
)
def test_nesting_of_more_than_48_levels_is_outside_the_subset(wide: str, too_wide: str) -> None:
    assert answer(about(wide)) is True
    kind, message = told_of(too_wide)
    assert kind is Unsupported
    assert message.startswith("nesting of more than 48 levels at position ")


def test_position_of_too_deep_nesting_is_that_of_the_level_beyond() -> None:
    assert told_of("(" * 48 + "false" + ")" * 48)[1] == "nesting of more than 48 levels at position 49"


@pytest.mark.parametrize("sign", [pytest.param("e", id="one byte each"), pytest.param("é", id="two bytes each")])
def test_expression_has_ten_kibibytes_at_most(sign: str) -> None:
    """As the API server has it. Bytes count, not characters."""
    most = (10 * 1024 - len("true //")) // len(sign.encode())
    longest = f"true //{sign * most}".ljust(10 * 1024 - most * (len(sign.encode()) - 1))

    assert answer(longest) is True
    assert told_of(longest + " ") == (InvalidExpression, "an expression of more than 10,240 bytes")


def test_evaluation_has_a_limit_of_steps() -> None:
    """A step is a node within a macro, or some characters of a regular expression."""
    frame = Frame(DEVICE, 0)

    frame.spend(MOST_STEPS - 1)
    frame.spend(1)

    with pytest.raises(Unsupported, match=r"^an evaluation of more than 20,000 steps$"):
        frame.spend(1)


MANY = f"[{', '.join(['1'] * 40)}]"


@pytest.mark.parametrize(
    ("expression", "is_answered"),
    [
        pytest.param(f"{MANY}.all(a, {MANY}.all(b, a == b))", True, id="elements times elements"),
        pytest.param(f"{MANY}.all(a, {MANY}.all(b, {MANY}.all(c, a == c)))", False, id="once more"),
        pytest.param(f"{MANY}.all(a, ('{'x' * 20}' + #model).matches('(y*){{50}}A'))", True, id="short pattern"),
        pytest.param(f"{MANY}.all(a, ('{'x' * 900}' + #model).matches('(y*){{50}}A'))", False, id="long text"),
    ],
)
def test_what_takes_too_many_steps_has_no_answer(expression: str, is_answered: bool) -> None:
    assert answer(about(expression)) is True if is_answered else told_of(expression)[0] is Unsupported


@pytest.mark.parametrize(
    ("expression", "too_long"),
    [
        pytest.param("size('{0}' + '{1}') == 4096", "size('{0}' + '{1}a') == 4097", id="sum of strings"),
        pytest.param("size('{0}'.replace('b', '{1}')) > 0", "size('{0}b'.replace('b', '{1}{0}')) > 0", id="replaced"),
        pytest.param("size(['{0}', '{1}'].join()) == 4096", "size(['{0}', '{1}'].join('-')) == 4097", id="joined"),
    ],
)
def test_strings_are_of_4096_characters_at_most(expression: str, too_long: str) -> None:
    halves = "a" * 2048, "a" * 2048

    assert answer(expression.format(*halves)) is True
    assert told_of(too_long.format(*halves)) == (Unsupported, "a string or list of more than 4096 elements")


def test_text_in_which_nothing_is_replaced_stays_within_the_limit() -> None:
    assert answer(f"size('{'a' * 2048}'.replace('a', '{'b' * 2048}', 0)) == 2048") is True
