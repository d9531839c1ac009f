"""How tables, figures, paragraphs and labelled lines fit the width."""

from __future__ import annotations

import pytest

from descheduler.report.tables.columns import TIE, Row, Toned, aligned, side_by_side
from descheduler.report.tables.palette import Palette, Tone
from descheduler.report.tables.table_style import TableStyle

SENTENCE = "the pod is too old for the policy"


def test_table_has_its_title_above_and_an_empty_line_below() -> None:
    assert list(TableStyle().table(["A", "B"], [["1", "2"]], title="T")) == ["T", "A   B", "1   2", ""]
    assert list(TableStyle(has_headers=False).table((), [["1", "2"]])) == ["1   2"]
    assert list(TableStyle().table(["A", "B"], [], title="T")) == []


def test_sentence_is_said_again_where_another_one_came_between_and_in_wide_tables() -> None:
    rows = [["a", "x"], ["b", "x"], ["c", "y"], ["d", "x"], ["e", ""], ["f", ""]]

    assert [row[-1] for row in TableStyle().without_repeats(rows)] == ["x", "as above", "y", "x", "", ""]
    assert TableStyle(is_wide=True).without_repeats(rows) == rows


def test_labelled_texts_stand_one_below_the_other_and_empty_ones_take_no_line() -> None:
    lines = list(TableStyle().labelled({"By plugin": "A 1", "Why": "", "Goal": "done"}))

    assert lines == ["By plugin:   A 1", "Goal:        done"]


def test_paragraph_is_indented_and_its_further_lines_twice() -> None:
    lines = list(TableStyle(width=16).paragraph("one two three four five", indent="  "))

    assert lines == ["  one two", "    three four", "    five"]
    assert max(map(len, lines)) <= 16


@pytest.mark.parametrize("style", [TableStyle(), TableStyle(width=10, is_wide=True)], ids=["no terminal", "wide"])
def test_paragraph_is_one_line_where_output_is_whole(style: TableStyle) -> None:
    assert list(style.paragraph("one two three four five")) == ["one two three four five"]


def test_notes_are_paragraphs_with_an_empty_line_after_them() -> None:
    assert list(TableStyle().notes(["a\\x1b", "b"])) == ["a\\x1b", "b", ""]
    assert list(TableStyle().notes([])) == []


def test_heading_stands_out_where_there_are_colours() -> None:
    assert list(TableStyle(palette=Palette(is_coloured=True)).heading("T")) == ["\x1b[1mT\x1b[0m"]


@pytest.mark.parametrize(
    ("tone", "coloured", "text"),
    [
        (Tone.PLAIN, True, "x"),
        (Tone.WARNING, True, "\x1b[33mx\x1b[0m"),
        (Tone.FAILURE, True, "\x1b[31mx\x1b[0m"),
        (Tone.FAILURE, False, "x"),
    ],
)
def test_tones_are_codes_of_the_terminal(tone: Tone, coloured: bool, text: str) -> None:
    assert Palette(is_coloured=coloured).toned(tone, "x") == text


@pytest.mark.parametrize(
    ("width", "parts"),
    [
        pytest.param(22, [[0, 1, 2, 3]], id="all fit"),
        pytest.param(21, [[0, 1, 2], [0, 3]], id="one too many"),
        pytest.param(15, [[0, 1], [0, 2], [0, 3]], id="two fit"),
        pytest.param(16, [[0, 1, 2], [0, 3]], id="three fit"),
        pytest.param(5, [[0, 1], [0, 2], [0, 3]], id="none fits beside the first"),
    ],
)
def test_columns_stand_side_by_side_as_far_as_they_fit(width: int, parts: list[list[int]]) -> None:
    """Columns of 4, 3, 3 and 3 cells, and 3 between any two."""
    found = side_by_side(["TIME", "ONE", "TWO", "SIX"], [["1", "2", "3", "4"]], width)

    assert list(map(list, found)) == parts


def test_last_column_needs_a_part_of_its_width_alone() -> None:
    assert [list(part) for part in side_by_side(["N", "WHY"], [["a", "x" * 90]], 36)] == [[0, 1]]


def test_title_of_figures_stands_above_the_first_part_alone() -> None:
    header, rows = ["TIME", "ONE", "TWO"], [["1", "2", "3"]]

    assert list(TableStyle(width=10).figures(header, rows, title="T")) == [
        *("T", "TIME   ONE", "1      2", ""),
        *("TIME   TWO", "1      3", ""),
    ]
    assert list(TableStyle(width=10, is_wide=True).figures(header, rows, title="T"))[1] == "TIME   ONE   TWO"


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        pytest.param(37, ["ab   the pod is too old for the", "     policy"], id="as narrow as it may be"),
        pytest.param(36, ["ab", "    the pod is too old for the", "    policy"], id="too narrow"),
        pytest.param(38, [f"ab   {SENTENCE}"], id="wide enough"),
    ],
)
def test_sentence_stands_below_the_names_where_fewer_than_32_cells_are_left(width: int, lines: list[str]) -> None:
    assert list(aligned((), [["ab", SENTENCE]], width=width)) == lines


def test_short_sentence_needs_no_more_than_its_own_width() -> None:
    assert list(aligned((), [["abcdefghij", "old"]], width=16)) == ["abcdefghij   old"]
    assert list(aligned((), [["abcdefghij", "older"]], width=16)) == ["abcdefghij", "    older"]


def test_names_are_not_shortened_below_twelve_cells() -> None:
    lines = list(aligned(["NODE", "POD", "WHY"], [["n" * 20, "p" * 20, SENTENCE]], width=20))

    assert lines[2] == "nnnnn…nnnnnn   ppppp…pppppp"


def test_only_as_much_of_a_name_is_cut_as_has_to_be() -> None:
    header, row = ["NODE", "PLUGIN", "WHY"], ["abcdefghijklmnopqrst", "q" * 14, SENTENCE]

    assert list(aligned(header, [row], width=37))[2] == f"abcdefghijklmnopqrst   {'q' * 14}"
    assert list(aligned(header, [row], width=36))[2] == f"abcdefghi…lmnopqrst   {'q' * 14}"


def test_name_of_wide_characters_is_cut_by_cells() -> None:
    first, *_ = aligned((), [["名前" * 10, SENTENCE]], width=12)

    assert first == "名前…前名前"


def test_combining_marks_take_no_cell() -> None:
    assert list(aligned(["N", "WHY"], [["e\u0301e\u0301", "x"], ["ab", "y"]]))[1:] == [
        "e\u0301e\u0301   x",
        "ab   y",
    ]


def test_tied_cell_of_a_name_shows_a_space() -> None:
    assert list(aligned((), [[f"a{TIE}b", f"c{TIE}d"]])) == ["a b   c d"]


def test_toned_sentence_stands_out_on_every_line() -> None:
    row: Row = ["ab", Toned(SENTENCE, Tone.FAILURE)]

    lines = list(aligned((), [row], width=37, palette=Palette(is_coloured=True)))

    assert lines == ["ab   \x1b[31mthe pod is too old for the\x1b[0m", "     \x1b[31mpolicy\x1b[0m"]
