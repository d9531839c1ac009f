"""The functions of strings, quantities, versions and sets.

Rules: cel-go 0.26 `ext/strings.go` (version 2) and `ext/sets.go`; `pkg/cel/library` of k8s.io/apiserver 0.36. Answers:
measured on `cel` of `k8s.io/dynamic-resource-allocation` 0.36.3.
"""

from __future__ import annotations

import pytest

from tests.placement.cel.answers import ERROR, INVALID, about, answer

STRINGS = [
    ("#model.startsWith('A1')", True),
    ("#model.endsWith('00')", True),
    ("#model.contains('10')", True),
    ("#model.contains(1)", INVALID),
    ("#index.contains('1')", ERROR),
    ("#index.startsWith('7')", ERROR),
    ("#model.size() == 4", True),
    ("size(#model) == 4", True),
    ("size(#index) == 4", ERROR),
    ("size('é') == 1", True),
    ("#model.lowerAscii() == 'a100'", True),
    ("'É'.lowerAscii() == 'É'", True),
    ("'aé'.upperAscii() == 'Aé'", True),
    ("#index.upperAscii() == '7'", ERROR),
    ("#model.split('1')[0] == 'A'", True),
    ("#model.split('1')[2] == 'A'", ERROR),
    ("'a,b,c'.split(',', 2) == ['a', 'b,c']", True),
    ("'a,b'.split(',', 0) == []", True),
    ("'abc'.split('') == ['a', 'b', 'c']", True),
    ("'abc'.split('', 2) == ['a', 'bc']", True),
    ("'abc'.split('', 3) == ['a', 'b', 'c']", True),
    ("'abc'.split('', 4) == ['a', 'b', 'c']", True),
    ("'abc'.split('', 1) == ['abc']", True),
    ("'abc'.split('', -1) == ['a', 'b', 'c']", True),
    ("'a,b,c'.split(',', 1) == ['a,b,c']", True),
    ("'a,b,c'.split(',', -1) == ['a', 'b', 'c']", True),
    ("''.split('') == []", True),
    ("''.split(',') == ['']", True),
    ("'aaa'.replace('a', 'b') == 'bbb'", True),
    ("'aaa'.replace('a', 'b', 2) == 'bba'", True),
    ("'aaa'.replace('a', 'b', 0) == 'aaa'", True),
    ("'aaa'.replace('a', 'b', -1) == 'bbb'", True),
    ("'ab'.replace('', '-') == '-a-b-'", True),
    ("'ab'.substring(1) == 'b'", True),
    ("'ab'.substring(0, 1) == 'a'", True),
    ("'ab'.substring(0) == 'ab'", True),
    ("'ab'.substring(2) == ''", True),
    ("'ab'.substring(3) == ''", ERROR),
    ("'ab'.substring(-1) == 'b'", ERROR),
    ("'ab'.substring(1, 1) == ''", True),
    ("'ab'.substring(1, 2) == 'b'", True),
    ("'ab'.substring(1, 3) == 'b'", ERROR),
    ("'ab'.substring(2, 1) == ''", ERROR),
    ("'ab'.charAt(0) == 'a'", True),
    ("'ab'.charAt(1) == 'b'", True),
    ("'ab'.charAt(2) == ''", True),
    ("'ab'.charAt(3) == ''", ERROR),
    ("'ab'.charAt(-1) == 'b'", ERROR),
    ("' a\\u00a0'.trim() == 'a'", True),
    ("['a', 'b'].join('-') == 'a-b'", True),
    ("['a', 'b'].join() == 'ab'", True),
    ("[#index].join() == '7'", ERROR),
]


@pytest.mark.parametrize(("expression", "expected"), STRINGS)
def test_strings_are_asked_and_cut_by_code_points(expression: str, expected: bool | str) -> None:
    """Functions of strings, and errors for values of other types."""
    assert answer(about(expression)) == expected


QUANTITIES = [
    ("$memory.isGreaterThan(quantity('16Gi'))", True),
    ("$memory.isLessThan(quantity('40Gi'))", False),
    ("$memory.compareTo(quantity('40960Mi')) == 0", True),
    ("$memory.compareTo(quantity('41Gi')) == -1", True),
    ("$memory.compareTo(quantity('1')) == 1", True),
    ("$memory.asInteger() == 42949672960", True),
    ("$memory.isInteger()", True),
    ("$share.isInteger()", False),
    ("$share.asInteger() == 0", ERROR),
    ("$share.asApproximateFloat() == 0.5", True),
    ("$nothing.isInteger()", ERROR),
    ("quantity('1000m').isInteger()", False),
    ("quantity('1.0').isInteger()", False),
    ("quantity('1e3').isInteger()", True),
    ("quantity('1Ti').isInteger()", True),
    ("quantity('1Pi').isInteger()", False),
    ("quantity('1000000000000000000').isInteger()", False),
    ("quantity('100000000000000000').isInteger()", True),
    ("quantity('9E').isInteger()", True),
    ("quantity('90E').isInteger()", False),
    ("quantity('1m').isInteger()", False),
    ("quantity('99999999999Ki').isInteger()", True),
    ("quantity('999999999999Ki').isInteger()", False),
    ("quantity('1.5Ki').isInteger()", False),
    ("quantity('1.5k').isInteger()", True),
    ("quantity('1e18').isInteger()", True),
    ("quantity('1e19').isInteger()", False),
    ("quantity('').isInteger()", ERROR),
    ("quantity('0.0').isInteger()", False),
    ("quantity('0.0').add(quantity('1')).isInteger()", True),
    ("quantity('1').add(quantity('0.0')).isInteger()", True),
    ("quantity('1').add(quantity('0.5')).isInteger()", False),
    ("quantity('5E').add(quantity('5E')).isInteger()", False),
    ("quantity('-5E').add(quantity('-5E')).isInteger()", False),
    ("quantity('9223372036854775807').isInteger()", False),
    ("quantity('1234567890123.456789M').isInteger()", False),
    ("quantity('123456789012.345678M').isInteger()", True),
    ("quantity('9223372036854775k').add(807).isInteger()", True),
    ("quantity('9223372036854775k').add(808).isInteger()", False),
    ("quantity('-9223372036854775k').sub(807).isInteger()", True),
    ("$memory.isGreaterThan(quantity('40Gi'))", False),
    ("$memory.isLessThan(quantity('41Gi'))", True),
    ("quantity('0.5').add(quantity('0.5')).isInteger()", False),
    ("quantity('1').add(quantity('1')).asInteger() == 2", True),
    ("quantity('1').add(1) == quantity('2')", True),
    ("quantity('1').sub(quantity('2')) == quantity('-1')", True),
    ("quantity('1').sub(2) == quantity('-1')", True),
    ("sign(quantity('-1')) == -1", True),
    ("sign(quantity('0')) == 0", True),
    ("sign(quantity('2')) == 1", True),
    ("sign(null) == 1", ERROR),
    ("null.isInteger()", ERROR),
    ("quantity('x') == quantity('1')", ERROR),
    ("quantity(#model).isInteger()", ERROR),
    ("quantity(#index).isInteger()", ERROR),
    ("isQuantity('1Gi')", True),
    ("isQuantity('1GiB')", False),
    ("isQuantity(#model)", False),
    ("isQuantity(#index)", ERROR),
    ("$memory.isGreaterThan(5)", INVALID),
    ("$memory.isGreaterThan(#index)", ERROR),
]


@pytest.mark.parametrize(("expression", "expected"), QUANTITIES)
def test_quantities_compare_by_value_and_are_integers_by_spelling(expression: str, expected: bool | str) -> None:
    """Comparison is by value; `isInteger` depends on how an amount is written."""
    assert answer(about(expression)) == expected


VERSIONS = [
    ("#version.isGreaterThan(semver('1.2.2'))", True),
    ("#version.isLessThan(semver('1.2.3'))", True),
    ("#version.compareTo(semver('1.2.3-rc.1')) == 0", True),
    ("#version.compareTo(semver('1.2.3-rc.2')) == -1", True),
    ("#version.compareTo(semver('1.2.3-alpha')) == 1", True),
    ("#version == semver('1.2.3-rc.1+build')", True),
    ("#version.major() == 1", True),
    ("#version.minor() == 2", True),
    ("#version.patch() == 3", True),
    ("#model.major() == 1", ERROR),
    ("#model.isGreaterThan(semver('1.0.0'))", ERROR),
    ("#version.isGreaterThan('1.2.2')", INVALID),
    ("semver(#model).major() == 1", ERROR),
    ("semver('1.0.0-1').isLessThan(semver('1.0.0-a'))", True),
    ("semver('1.0.0-a').isLessThan(semver('1.0.0-a.1'))", True),
    ("semver('1.0.0-2').isLessThan(semver('1.0.0-10'))", True),
    ("semver('v1.2.3').major() == 1", ERROR),
    ("semver('1.2').major() == 1", ERROR),
    ("semver('v1.2', true) == semver('1.2.0')", True),
    ("semver('01.02.03', true) == semver('1.2.3')", True),
    ("semver('1.2-rc', true) == semver('1.2.0')", ERROR),
    ("semver('1', true) == semver('1.0.0')", True),
    ("semver('0.00.10', true) == semver('0.0.10')", True),
    ("semver('1.2.3-rc', true) == semver('1.2.3-rc')", True),
    ("semver('1.2+b', true) == semver('1.2.0')", ERROR),
    ("semver('1.2', false) == semver('1.2.0')", ERROR),
    ("semver('18446744073709551615.0.0').minor() == 0", True),
    ("semver('18446744073709551616.0.0').minor() == 0", ERROR),
    ("semver('1.2.3').isGreaterThan(semver('1.2.3'))", False),
    ("semver('1.2.3').isLessThan(semver('1.2.3'))", False),
    ("semver('1.2.3').isGreaterThan(semver('1.2.3-rc'))", True),
    ("semver('1.2.3').compareTo(semver('1.3.0')) == -1", True),
    ("isSemver('1.2-rc', true)", False),
    ("isSemver('1-rc.0', true)", False),
    ("isSemver('1+b', true)", False),
    ("isSemver('1.2.3-0')", True),
    ("isSemver('1.2.3-0a')", True),
    ("isSemver('1.2.3')", True),
    ("isSemver('1.2.3-rc.1+b')", True),
    ("isSemver('1.2')", False),
    ("isSemver('01.2.3')", False),
    ("isSemver('1.2.3-01')", False),
    ("isSemver('1.2.3-')", False),
    ("isSemver('v1.2', true)", True),
    ("isSemver('')", False),
    ("isSemver(#index)", ERROR),
    ("#version.isGreaterThan(null)", ERROR),
    ("null.major() == 1", ERROR),
]


@pytest.mark.parametrize(("expression", "expected"), VERSIONS)
def test_versions_are_strict_and_a_pre_release_is_before_its_release(expression: str, expected: bool | str) -> None:
    """Comparison ignores build metadata; `semver(text, true)` is lenient."""
    assert answer(about(expression)) == expected


SETS = [
    ("sets.contains([1, 2], [1])", True),
    ("sets.contains([1], [1, 2])", False),
    ("sets.intersects([1, 2], [2, 3])", True),
    ("sets.intersects([1], [])", False),
    ("sets.equivalent([1], [1, 1])", True),
    ("sets.equivalent([1], [1, 2])", False),
    ("sets.equivalent([1, 2], [1])", False),
    ("sets.equivalent([], [])", True),
    ("sets.contains([], [])", True),
    ("sets.contains(['a'], [1])", INVALID),
    ("sets.contains([#model], ['A100'])", True),
]


@pytest.mark.parametrize(("expression", "expected"), SETS)
def test_lists_are_compared_as_sets(expression: str, expected: bool | str) -> None:
    """Functions of sets."""
    assert answer(about(expression)) == expected
