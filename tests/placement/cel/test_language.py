"""The language: access to the device, equality, order, logic, arithmetic, macros and syntax.

Rules: CEL language definition (github.com/google/cel-spec, doc/langdef.md). Answers: measured on `cel` of
`k8s.io/dynamic-resource-allocation` 0.36.3, which the scheduler of Kubernetes 1.36.3 uses.
"""

from __future__ import annotations

import pytest

from descheduler.placement.cel import InvalidExpression, compile_selector
from tests.placement.cel.answers import ERROR, INVALID, about, answer

ACCESS = [
    ("device.driver == 'gpu.io'", True),
    ("device.allowMultipleAllocations", True),
    ("#model == 'A100'", True),
    ("device.attributes['gpu.io']['model'] == 'A100'", True),
    ("device.attributes['other.io'].tier == 'gold'", True),
    ("#tier == 'gold'", ERROR),
    ("#nothing == 1", ERROR),
    ("device.attributes['unknown.io'].x == 1", ERROR),
    ("'unknown.io' in device.attributes", False),
    ("'gpu.io' in device.attributes", True),
    ("'x' in device.attributes['unknown.io']", False),
    ("'model' in device.attributes['gpu.io']", True),
    ("has(#model)", True),
    ("has(#nothing)", False),
    ("has(device.attributes['unknown.io'].x)", False),
    ("has(device.attributes.unknown)", True),
    ("has(device.driver)", True),
    ("#model.part == 1", ERROR),
    ("has(#model.part)", False),
    ("device.attributes['gpu.io'].?model.orValue('none') == 'A100'", True),
    ("device.attributes['gpu.io'].?nothing.orValue('none') == 'none'", True),
    ("device.attributes['gpu.io'][?'nothing'].hasValue()", False),
    ("device.attributes['gpu.io'].?model.part.hasValue()", False),
    ("device.attributes['gpu.io'].?nothing.value() == 1", ERROR),
    ("device.attributes['gpu.io'].?nothing.or(device.attributes['gpu.io'].?index).value() == 7", True),
    ("device.attributes['gpu.io'].?index.optMap(i, i + 1).orValue(0) == 8", True),
    ("device.attributes['gpu.io'].?index.optFlatMap(i, optional.of(i > 5)).orValue(false)", True),
    ("device.attributes['gpu.io'].?nothing == optional.none()", True),
    ("device.attributes.?unknown.hasValue()", True),
    ("size(device.attributes) == 2", True),
    ("device['driver'] == 'gpu.io'", INVALID),
    ("{'A100': 40, 'H100': 80}[#model] == 40", True),
    ("{'H100': 80}[#model] == 80", ERROR),
    ("{'A100': 40}[#index] == 40", ERROR),
    ("{'a': 1, 'a': 2}.a == 2", True),
    ("[1, 2][0] == 1", True),
    ("[1, 2][dyn(1.0)] == 2", True),
    ("[1, 2][dyn(0.5)] == 1", ERROR),
    ("[1, 2][dyn(2.0)] == 1", ERROR),
    ("[1, 2][?dyn(1.0)].hasValue()", True),
    ("[1, 2][-1] == 2", ERROR),
    ("[1, 2][#model] == 2", ERROR),
    ("dyn(5)[0] == 5", ERROR),
    ("device.attributes[#index].x == 1", ERROR),
    ("device.attributes[#index] == {}", True),
    ("device.attributes[?#index].hasValue()", True),
    ("device.attributes[#model] == {}", True),
    ("[1, 2][?0].value() == 1", True),
    ("[1, 2][?1].value() == 2", True),
    ("[1, 2][?2].hasValue()", False),
    ("[1, 2][?-1].hasValue()", False),
    ("[1, 2][?#index].hasValue()", False),
    ("[1, 2][?#model].hasValue()", ERROR),
    ("{'a': 1}[?'a'].value() == 1", True),
    ("{'a': 1}[?#index].hasValue()", False),
    ("optional.none().?a.hasValue()", False),
    ("optional.of({'a': 1}).a.value() == 1", True),
    ("optional.of(1) == optional.of(1)", True),
    ("optional.of(1) == optional.of(2)", False),
    ("optional.of(1) == optional.none()", False),
    ("optional.none() == optional.none()", True),
    ("[1, 2][1] == 2", True),
    ("[1, 2][2] == 2", ERROR),
    ("#healthy", True),
    ("#index", ERROR),
]


@pytest.mark.parametrize(("expression", "expected"), ACCESS)
def test_a_missing_key_is_an_error_and_a_missing_domain_is_empty(expression: str, expected: bool | str) -> None:
    """`has`, `in` and optional access ask for a key without an error; a domain that is absent has no keys."""
    assert answer(about(expression)) == expected


EQUALITY = [
    ("#index == 7.0", True),
    ("#index == '7'", False),
    ("#index != '7'", True),
    ("#model == 5", False),
    ("#healthy == 1", False),
    ("#index == null", False),
    ("#version == 'x'", ERROR),
    ("#version != 'x'", True),
    ("'x' == #version", False),
    ("#version == null", False),
    ("#index == #version", False),
    ("#version == #index", ERROR),
    ("$memory == #index", ERROR),
    ("#index == $memory", False),
    ("$memory == quantity('40960Mi')", True),
    ("1 == 1.0", INVALID),
    ("device.driver == 5", INVALID),
    ("[1, 2] == [1, 2]", True),
    ("['a'] == [1]", INVALID),
    ("[] == ['a']", False),
    ("{'a': 1} == {'a': 1}", True),
    ("device == device", True),
    ("#model in ['A100', 'H100']", True),
    ("#index in [7.0]", True),
    ("#healthy in ['a']", False),
    ("#version in ['1.2.3']", ERROR),
    ("#version in [semver('1.2.3-rc.1')]", True),
    ("5 in device.attributes['gpu.io']", INVALID),
    ("#index in device.attributes['gpu.io']", False),
    ("#model in #model", ERROR),
    ("[1, 'a'] == []", INVALID),
    ("[#index, 1] == []", INVALID),
    ("[[1], []] == []", False),
    ("[1, 2] == [1, 2, 3]", False),
    ("[1, 2] == [1, 3]", False),
    ("{'a': 1} == {'a': 2}", False),
    ("{'a': 1} == {'b': 1}", False),
    ("device.attributes['gpu.io'] == {}", False),
    ("device.attributes['unknown.io'] == {}", True),
    ("dyn(7.0) == #index", True),
    ("dyn(7.5) == #index", False),
    ("dyn(7.0) == dyn('7')", False),
    ("dyn('7') == dyn(7.0)", False),
    ("dyn([1]) == dyn({'a': 1})", False),
    ("dyn({'a': 1}) == dyn(1)", False),
    ("dyn(null) == #index", False),
    ("dyn(null) == null", True),
    ("quantity('1') == null", False),
    ("null == quantity('1')", False),
    ("null == device.driver", INVALID),
    ("device == null", False),
    ("[$memory] == [#index]", True),
    ("[#index] == [$memory]", False),
    ("{'a': #version} == {'a': #index}", True),
    ("[#version] != [#index]", False),
    ("sets.contains([$memory], [#index])", False),
    ("#index in {'7': 1}", False),
    ("'7' in {'7': 1}", True),
    ("'8' in {'7': 1}", False),
    ("#model != 'A100'", False),
    ("#version != semver('1.2.3-rc.1')", False),
]


@pytest.mark.parametrize(("expression", "expected"), EQUALITY)
def test_values_of_different_types_are_unequal(expression: str, expected: bool | str) -> None:
    """Equality is by value, int and double compare as numbers; a quantity or version on the left is strict."""
    assert answer(about(expression)) == expected


ORDER = [
    ("#index < 7.5", True),
    ("7.5 > #index", True),
    ("#model < 'B'", True),
    ("#model < 'a'", True),
    ("#model > 5", ERROR),
    ("#broken < #healthy", True),
    ("#healthy < 1", ERROR),
    ("'é' > 'z'", True),
    ("#version < semver('2.0.0')", INVALID),
    ("#version < #version", ERROR),
    ("$memory < quantity('1')", INVALID),
    ("0.0 / 0.0 < 1.0", ERROR),
    ("1 < 'a'", INVALID),
    ("#index <= 7 && #index >= 7", True),
    ("#index < 7 || #index > 7", False),
    ("7.0 <= #index", True),
    ("1.0 < #index", True),
    ("#index > 7.5", False),
    ("'a' <= 'a' && 'a' >= 'a'", True),
    ("'a' < 'a' || 'a' > 'a'", False),
    ("1.0 < 0.0 / 0.0", ERROR),
    ("0.0 / 0.0 == 0.0 / 0.0", False),
]


@pytest.mark.parametrize(("expression", "expected"), ORDER)
def test_numbers_strings_and_booleans_are_ordered(expression: str, expected: bool | str) -> None:
    """int and double mix, strings compare by code point, all else is an error."""
    assert answer(about(expression)) == expected


LOGIC = [
    ("false && #nothing == 1", False),
    ("#nothing == 1 && false", False),
    ("true || #nothing == 1", True),
    ("#nothing == 1 || true", True),
    ("#nothing == 1 && true", ERROR),
    ("#nothing == 1 || false", ERROR),
    ("#index && false", False),
    ("#index && true", ERROR),
    ("#index || true", True),
    ("false && 5", INVALID),
    ("!#healthy", False),
    ("!#model", ERROR),
    ("!!#healthy", True),
    ("#healthy ? true : #nothing == 1", True),
    ("#broken ? #nothing == 1 : true", True),
    ("#nothing == 1 ? true : true", ERROR),
    ("#model ? true : false", ERROR),
    ("true ? 1 : 'x'", INVALID),
    ("true ? #healthy : 5", True),
    ("true || false && false", True),
    ("#broken == #healthy == false", True),
]


@pytest.mark.parametrize(("expression", "expected"), LOGIC)
def test_an_operand_that_decides_absorbs_the_error_of_the_other(expression: str, expected: bool | str) -> None:
    """`&&` and `||` are commutative about errors; a conditional evaluates the chosen branch alone."""
    assert answer(about(expression)) == expected


ARITHMETIC = [
    ("#index + 1 == 8", True),
    ("#index + 1.0 == 8.0", ERROR),
    ("#index - 10 == -3", True),
    ("#index * 2 == 14", True),
    ("-#index == -7", True),
    ("--#index == 7", True),
    ("-#model == 1", ERROR),
    ("-7 / 2 == -3", True),
    ("-7 % 2 == -1", True),
    ("7 % -2 == 1", True),
    ("#index / 0 == 1", ERROR),
    ("#index % 0 == 1", ERROR),
    ("1.0 / 0.0 > 1.0", True),
    ("9223372036854775806 + 1 == 9223372036854775807", True),
    ("9223372036854775807 + 1 > 0", ERROR),
    ("-9223372036854775807 - 1 == -9223372036854775808", True),
    ("4611686018427387904 * -2 == -9223372036854775808", True),
    ("7 / -2 == -3", True),
    ("-7 / -2 == 3", True),
    ("-7 % -2 == -1", True),
    ("-1.0 / 0.0 < -1.0", True),
    ("1.0 / -0.0 < -1.0", True),
    ("3.0 / 2.0 == 1.5", True),
    ("2.0 - 0.5 == 1.5", True),
    ("2.0 * 0.5 == 1.0", True),
    ("-(1.5) == -1.5", True),
    ("-9223372036854775808 - 1 < 0", ERROR),
    ("-9223372036854775808 / -1 > 0", ERROR),
    ("-(-9223372036854775808) > 0", ERROR),
    ("4611686018427387904 * 2 > 0", ERROR),
    ("9223372036854775808 > 0", INVALID),
    ("1 + 1.0 == 2.0", INVALID),
    ("1 + 2 * 3 == 7", True),
    ("'a' + 'b' == 'ab'", True),
    ("#model + '!' == 'A100!'", True),
    ("#model + 1 == 'A1001'", INVALID),
    ("[1] + [2] == [1, 2]", True),
    ("1.5 % 2.0 == 0.0", INVALID),
    (".5 + 1e3 == 1000.5", True),
    ("0x1F == 31", True),
    ("0x7FFFFFFFFFFFFFFF == 9223372036854775807", True),
    ("0x8000000000000000 > 0", INVALID),
    ("-0x8000000000000000 == -9223372036854775808", True),
    ("0xFFFFFFFFFFFFFFFFFFFFFFFF > 0", INVALID),
    ("000000000000000000000000000001 == 1", True),
]


@pytest.mark.parametrize(("expression", "expected"), ARITHMETIC)
def test_integers_have_64_bits_and_do_not_mix_with_doubles(expression: str, expected: bool | str) -> None:
    """Overflow and division by zero are errors; a remainder has the sign of the dividend."""
    assert answer(about(expression)) == expected


MACROS = [
    ("['A100', 'H100'].exists(m, m == #model)", True),
    ("[#nothing, 'A100'].exists(m, m == 'A100')", INVALID),
    ("['x', 'A100'].exists(m, m == 'A100' || #nothing == m)", True),
    ("[1, 2].exists(i, i / (i - 1) > 0)", True),
    ("[2, 1].exists(i, i / (i - 1) > 0)", True),
    ("[1, 2].all(i, i / (i - 1) < 0)", False),
    ("[1, 2].all(i, i > 0)", True),
    ("[].all(i, i == 1)", True),
    ("[].exists(i, i == 1)", False),
    ("[1, 2].exists_one(i, i > 1)", True),
    ("[1, 2].exists_one(i, i > 0)", False),
    ("[1, 2].exists_one(i, i > 2)", False),
    ("[1, 2].exists_one(i, i / (i - 1) > 0)", ERROR),
    ("[1, 2, 3].filter(i, i > 1) == [2, 3]", True),
    ("[1, 2].map(i, i * 2) == [2, 4]", True),
    ("[1, 2].map(i, i > 1, i * 2) == [4]", True),
    ("[1, 2].exists(i, i)", INVALID),
    ("device.attributes.exists(d, d == 'other.io')", True),
    ("device.attributes['gpu.io'].all(name, name != 'nothing')", True),
    ("{'a': 1}.exists(k, k == 'a')", True),
    ("{'a': 1}.map(k, k + k) == ['aa']", True),
    ("[1, 2].filter(i, dyn(i))[0] == 1", ERROR),
    ("[1, 2].exists(i, dyn(i))", ERROR),
    ("optional.of(1).optMap(x, x + 1).value() == 2", True),
    ("optional.none().optMap(x, 1).hasValue()", False),
    ("null.optMap(x, x).hasValue()", ERROR),
    ("null.hasValue()", ERROR),
    ("dyn(1).optMap(x, 1).hasValue()", ERROR),
    ("optional.of(1).or(optional.of(2)).value() == 1", True),
    ("optional.none().or(optional.of(2)).value() == 2", True),
    ("optional.of(1).orValue(1 / 0) == 1", True),
    ("optional.of(1).or(2) == optional.of(1)", INVALID),
    ("dyn(1).orValue(2) == 1", True),
    ("#model.orValue('none') == 'A100'", True),
    ("#nothing.orValue('none') == 'none'", ERROR),
    ("dyn(1).hasValue()", ERROR),
    ("#model.matches('^A[0-9]+')", True),
    ("matches(#model, '^B')", False),
    ("#index.matches('7')", ERROR),
    ("#model.matches(dyn(5))", ERROR),
    ("#model.matches(#model)", True),
    ("#model.matches('(')", INVALID),
    ("#model.matches(device.driver + '(')", ERROR),
    ("#model.exists(c, c == 'A')", INVALID),
    ("dyn(#model).exists(c, c == 'A')", ERROR),
    ("[[1], [2]].exists(l, l.exists(i, i == 2))", True),
    ("[1].exists(device, device == 1)", True),
    ("[1].exists(x, [2].exists(x, x == 2) && x == 1)", True),
    ("cel.bind(gpu, device.attributes['gpu.io'], gpu.model == 'A100' && gpu.index < 8)", True),
    ("cel.bind(x, #nothing, true)", True),
    ("cel.bind(x, #nothing, x == 1 || true)", True),
    ("cel.bind(x, #nothing, x == 1)", ERROR),
    ("cel.bind(d, device, d.driver == 'gpu.io')", True),
    ("[1].exists(5, true)", INVALID),
    ("has(5)", INVALID),
    ("has(device)", INVALID),
    ("has(device.attributes['gpu.io'])", INVALID),
]


@pytest.mark.parametrize(("expression", "expected"), MACROS)
def test_macros_evaluate_an_expression_for_each_element(expression: str, expected: bool | str) -> None:
    """`exists` and `all` absorb errors, others do not; a bound error counts where it is read."""
    assert answer(about(expression)) == expected


SYNTAX = [
    ('"A100" == #model', True),
    ("r'\\d' == '\\\\d'", True),
    ("'\\x41\\u0031\\U00000030\\060' == 'A100'", True),
    ("'''A100''' == #model", True),
    ("'a' == 'b", INVALID),
    ("'\\q' == 'q'", INVALID),
    ("'\\ud800' == ''", INVALID),
    ("'\\udfff' == ''", INVALID),
    ("size('\\ud7ff\\ue000') == 2", True),
    ("size('\\U0010ffff') == 1", True),
    ("'\\U00110000' == ''", INVALID),
    ("'\\n\\t\\\\' != 'nt'", True),
    ("// only a comment", INVALID),
    ("true // the rest", True),
    ("#model == ", INVALID),
    ("(true", INVALID),
    ("true)", INVALID),
    ("true true", INVALID),
    ("true && ", INVALID),
    ("1 = 1", INVALID),
    ("if", INVALID),
    ("#model.if == 1", ERROR),
    ("x == 1", INVALID),
    (".device.driver == 'gpu.io'", True),
    ("true ? false", INVALID),
    ("[true,][0]", True),
    ("{'a': true,}.a", True),
    ("!-1", INVALID),
    ("-!true", INVALID),
    ("!", INVALID),
    ("'é' == 'é'", True),
    ("device . driver == 'gpu.io'", True),
    ("@", INVALID),
    ("5", INVALID),
    ("''", INVALID),
    ("dyn(true)", INVALID),
    ("device.attributes['gpu.io'].?healthy", INVALID),
]


@pytest.mark.parametrize(("expression", "expected"), SYNTAX)
def test_what_does_not_parse_or_is_not_boolean_is_refused(expression: str, expected: bool | str) -> None:
    """Literals, escapes, comments and operators as the grammar has them."""
    assert answer(about(expression)) == expected


def test_undeclared_name_is_told_with_its_place() -> None:
    with pytest.raises(InvalidExpression, match=r"^undeclared name x at position 5$"):
        compile_selector("1 + x == 2")
