"""Quantities are exact whatever their spelling."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.model.quantity import NANO, QuantityError, ceil_milli, ceil_value, format_quantity, parse_quantity

LARGEST = (2**63 - 1) * NANO
SCALES = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "": Fraction(1),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "Ti": Fraction(2**40),
}


@given(st.integers(min_value=-LARGEST, max_value=LARGEST))
def test_parsing_what_was_formatted_is_the_identity(nano: int) -> None:
    assert parse_quantity(format_quantity(nano)) == nano


@given(
    st.integers(min_value=0, max_value=10**6),
    st.text("0123456789", max_size=6),
    st.sampled_from(sorted(SCALES)),
    st.sampled_from(["", "+", "-"]),
)
def test_any_spelling_is_exact_and_rounds_away_from_zero(whole: int, digits: str, suffix: str, sign: str) -> None:
    text = f"{sign}{whole}{'.' + digits if digits else ''}{suffix}"

    exact = Fraction(f"{whole}.{digits or 0}") * SCALES[suffix] * NANO

    rounded = -(-exact.numerator // exact.denominator)
    assert parse_quantity(text) == (-rounded if sign == "-" else rounded)


@given(st.lists(st.integers(min_value=0, max_value=10**9), max_size=50))
def test_sum_of_parts_is_the_whole(millis: list[int]) -> None:
    assert sum(parse_quantity(f"{milli}m") for milli in millis) == parse_quantity(f"{sum(millis)}m")


@pytest.mark.parametrize(
    ("text", "nano"),
    [
        ("0", 0),
        ("1", NANO),
        ("100m", NANO // 10),
        (".5", NANO // 2),
        ("5.", 5 * NANO),
        ("1.5Gi", 3 * 2**29 * NANO),
        ("1e3", 1000 * NANO),
        ("1E3", 1000 * NANO),
        ("1E", 10**18 * NANO),
        ("1e-3", NANO // 1000),
        ("12345n", 12345),
        ("0.1n", 1),
        ("-0.1n", -1),
        ("1e-4301", 1),
        ("0." + "0" * 39 + "1e40", NANO),
        ("1e40", LARGEST),
        ("0." + "0" * 40 + "1e41", NANO),
        ("0." + "0" * 3990 + "1e3991", NANO),
        ("1e4100", LARGEST),
        ("1e4101", LARGEST),
        ("1e-4100", 1),
        ("0e999999999", 0),
        ("9223372036854775808", LARGEST),
        ("1e999999999", LARGEST),
        ("-16Ei", -LARGEST),
    ],
)
def test_spelling_means_what_kubernetes_reads(text: str, nano: int) -> None:
    assert parse_quantity(text) == nano


@pytest.mark.parametrize("text", ["", "m", "1 Gi", "1gi", "1KI", "--1", "1.2.3", "0x10", "1e", "1_000", "١"])
def test_what_is_no_quantity_is_named(text: str) -> None:
    with pytest.raises(QuantityError) as caught:
        parse_quantity(text)

    assert repr(text) in str(caught.value)


@given(st.integers(min_value=-(10**15), max_value=10**15))
def test_coarser_units_round_up(nano: int) -> None:
    assert ceil_value(nano) * NANO - nano in range(NANO)
    assert ceil_milli(nano) * 10**6 - nano in range(10**6)


@pytest.mark.parametrize("text", ["9" * 5000, "9" * 5000 + "Gi"])
def test_more_digits_than_python_reads_are_the_most_there_is(text: str) -> None:
    assert parse_quantity(text) == LARGEST


@pytest.mark.parametrize("text", ["0." + "0" * 5000 + "1", "." + "1" * 5000 + "Ki"])
def test_more_places_than_python_reads_are_left_out(text: str) -> None:
    assert 0 <= parse_quantity(text) <= parse_quantity("1Ki")


@pytest.mark.parametrize("text", ["1" * 250_000 + "x", "." + "1" * 250_000 + "x", "1." + "1" * 250_000 + "x"])
def test_long_text_that_is_no_quantity_is_refused_at_once(text: str) -> None:
    """Looking at its digits again and again took minutes."""
    with pytest.raises(QuantityError) as caught:
        parse_quantity(text)

    assert len(str(caught.value)) < 200
