from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from descheduler.report.tables.columns import TIE, Row, Toned, aligned
from descheduler.report.tables.palette import Palette, Tone
from descheduler.report.tables.table_style import TableStyle


def test_columns_are_as_wide_as_their_longest_cell() -> None:
    lines = list(aligned(["NAME", "WHY"], [["a", "old"], ["a-long-name", "older"]]))

    assert lines == ["NAME          WHY", "a             old", "a-long-name   older"]


def test_the_sentence_is_wrapped_below_itself() -> None:
    lines = list(aligned(["NAME", "WHY"], [["a", "it has been running for a very long time"]], width=40))

    assert lines == ["NAME   WHY", "a      it has been running for a very", "       long time"]


def test_a_sentence_with_little_room_goes_below_the_names() -> None:
    row = ["cart-7f9-" * 3, "ip-10-0-0-1.internal", "is too old for the policy that is run here"]

    lines = list(aligned(["POD", "NODE", "WHY"], [row], width=60))

    assert lines == [
        "POD                           NODE",
        "    WHY",
        "cart-7f9-cart-7f9-cart-7f9-   ip-10-0-0-1.internal",
        "    is too old for the policy that is run here",
    ]


def test_names_that_are_wider_than_the_terminal_lose_their_middle() -> None:
    lines = list(aligned(["POD", "WHY"], [["cart-" * 10 + "x2kq", "is too old for the policy"]], width=30))

    assert lines[2:] == ["cart-cart-cart…-cart-cart-x2kq", "    is too old for the policy"]


def test_names_of_pods_lose_their_middle_last() -> None:
    row = ["payments", "payments-9d656420-318ac", "ip-10-0-0-1.internal", "RemovePodsViolatingNodeTaints", "too old"]

    lines = list(aligned(["NAMESPACE", "POD", "NODE", "PLUGIN", "WHY"], [row], width=80))

    assert lines[2] == "payments    payments-9d656420-318ac   ip-10-0-0….internal   RemovePod…odeTaints"


def test_figures_that_are_too_many_for_the_width_go_on_below() -> None:
    header, rows = ["TIME", "EVICTED", "NOT ATTEMPTED", "ENDED BY"], [["2026-01-15T12:00:00Z", "1", "2", ""]]

    narrow = list(TableStyle(width=36).figures(header, rows, title="Runs"))

    assert narrow == [
        "Runs",
        "TIME                   EVICTED",
        "2026-01-15T12:00:00Z   1",
        "",
        "TIME                   NOT ATTEMPTED",
        "2026-01-15T12:00:00Z   2",
        "",
        "TIME                   ENDED BY",
        "2026-01-15T12:00:00Z   -",
        "",
    ]
    assert list(TableStyle(width=80).figures(header, rows)) == list(TableStyle().figures(header, rows))


def test_names_are_whole_without_a_terminal() -> None:
    name = "cart-7f9-" * 20

    lines = list(aligned(["POD", "WHY"], [[name, "is too old"]]))

    assert lines[1] == f"{name}   is too old"


def test_a_toned_cell_is_coloured_and_takes_no_more_room() -> None:
    rows: list[Row] = [["a", Toned("pending", Tone.FAILURE), "x"], ["a", "node-1234", "y"]]

    lines = list(aligned(["N", "TARGET", "WHY"], rows, palette=Palette(is_coloured=True)))

    assert lines[1:] == ["a   \x1b[31mpending\x1b[0m     x", "a   node-1234   y"]


def test_columns_are_as_wide_as_those_of_the_rows_beside() -> None:
    lines = list(aligned(["N", "WHY"], [["a", "x"]], like=[["abcdef", "y"]]))

    assert lines == ["N        WHY", "a        x"]


def test_a_long_word_in_a_sentence_stays_whole() -> None:
    lines = list(aligned(["N", "WHY"], [["a", "see " + "x" * 50]], width=40))

    assert lines[1:] == ["a   see", "    " + "x" * 50]


def test_control_characters_cannot_reach_the_terminal() -> None:
    lines = list(aligned(["NAME", "WHY"], [["a\x1b[31m\n", "\u202egone"]]))

    assert lines[1] == "a\\x1b[31m\\n   \\u202egone"


def test_an_empty_cell_shows() -> None:
    lines = list(aligned(["NAME", "NODE", "WHY"], [["a", "", ""]]))

    assert lines[1] == "a      -      -"


def test_an_empty_sentence_below_the_names_takes_no_line() -> None:
    rows = [["cart-" * 5, ""], ["mail-" * 5, "is too old for the policy that is run"], ["shop-" * 5, "as above"]]

    lines = list(aligned(["POD", "WHY"], rows, width=40))

    assert lines[2:] == [
        "cart-" * 5,
        "mail-" * 5,
        "    is too old for the policy that is",
        "    run",
        "shop-" * 5,
        "    as above",
    ]


def test_a_sentence_that_is_that_above_takes_no_line_below_the_names() -> None:
    rows = [["mail-" * 5, "is too old for the policy that is run"], ["shop-" * 5, "as above"]]

    assert list(aligned(["POD", "WHY"], rows, width=40))[-2:] == ["    run", "shop-" * 5]


def test_wide_characters_take_two_cells() -> None:
    lines = list(aligned(["NAME", "WHY"], [["名前", "x"], ["abcd", "y"]]))

    assert lines[1:] == ["名前   x", "abcd   y"]


def test_only_the_header_is_marked_up() -> None:
    lines = list(aligned(["NAME", "WHY"], [["a", "b"]], palette=Palette(is_coloured=True)))

    assert lines == ["\x1b[1mNAME   WHY\x1b[0m", "a      b"]


def test_tied_words_stay_on_one_line() -> None:
    lines = list(aligned((), [["By plugin:", f"PodLifeTime{TIE}4, RemoveDuplicates{TIE}12"]], width=46))

    assert lines == ["By plugin:   PodLifeTime 4,", "             RemoveDuplicates 12"]


@given(
    st.lists(st.tuples(st.text(max_size=20), st.text(max_size=60)), max_size=5),
    st.one_of(st.none(), st.integers(1, 90)),
)
def test_whatever_the_cells_hold_only_printable_lines_come_out(rows: list[tuple[str, str]], width: int | None) -> None:
    lines = list(aligned(["NAME", "WHY"], rows, width=width))

    assert all(line.isprintable() for line in lines)
    assert len(lines) >= 1 + len(rows)
