from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from descheduler.report.columns import aligned
from descheduler.report.palette import Palette


def test_columns_are_as_wide_as_their_longest_cell() -> None:
    lines = list(aligned(["NAME", "WHY"], [["a", "old"], ["a-long-name", "older"]]))

    assert lines == ["NAME          WHY", "a             old", "a-long-name   older"]


def test_the_sentence_is_wrapped_below_itself() -> None:
    lines = list(aligned(["NAME", "WHY"], [["a", "it has been running for a very long time"]], width=34))

    assert lines == ["NAME   WHY", "a      it has been running for a", "       very long time"]


def test_names_are_never_broken_even_where_the_terminal_is_too_narrow() -> None:
    name = "cart-7f9-" * 10

    lines = list(aligned(["NAME", "WHY"], [[name, "is too old for this policy"]], width=40))

    assert lines[1] == f"{name}   is too old for this policy"


def test_a_long_word_in_a_sentence_stays_whole() -> None:
    lines = list(aligned(["N", "WHY"], [["a", "see " + "x" * 50]], width=40))

    assert lines[1:] == ["a   see", "    " + "x" * 50]


def test_control_characters_cannot_reach_the_terminal() -> None:
    lines = list(aligned(["NAME", "WHY"], [["a\x1b[31m\n", "\u202egone"]]))

    assert lines[1] == "a\\x1b[31m\\n   \\u202egone"


def test_an_empty_cell_shows() -> None:
    lines = list(aligned(["NAME", "NODE", "WHY"], [["a", "", ""]]))

    assert lines[1] == "a      -      -"


def test_wide_characters_take_two_cells() -> None:
    lines = list(aligned(["NAME", "WHY"], [["名前", "x"], ["abcd", "y"]]))

    assert lines[1:] == ["名前   x", "abcd   y"]


def test_only_the_header_is_marked_up() -> None:
    lines = list(aligned(["NAME", "WHY"], [["a", "b"]], palette=Palette(is_coloured=True)))

    assert lines == ["\x1b[1mNAME   WHY\x1b[0m", "a      b"]


@given(
    st.lists(st.tuples(st.text(max_size=20), st.text(max_size=60)), max_size=5),
    st.one_of(st.none(), st.integers(1, 90)),
)
def test_whatever_the_cells_hold_only_printable_lines_come_out(rows: list[tuple[str, str]], width: int | None) -> None:
    lines = list(aligned(["NAME", "WHY"], rows, width=width))

    assert all(line.isprintable() for line in lines)
    assert len(lines) >= 1 + len(rows)
