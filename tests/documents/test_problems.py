"""How faults of documents are worded."""

from __future__ import annotations

import pytest

from descheduler.documents.problems import DocumentProblem, did_you_mean, dotted, shown, spelled


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (DocumentProblem("p.yaml", 12, 9, "a[0].b", "is odd"), "p.yaml:12:9: a[0].b: is odd"),
        (DocumentProblem("p.yaml", 12, 9, "", "is odd"), "p.yaml:12:9: is odd"),
        (DocumentProblem("<policy>", None, None, "a", "is odd"), "<policy>: a: is odd"),
        (DocumentProblem("<policy>", None, None, "", "is odd"), "<policy>: is odd"),
    ],
)
def test_problem_begins_with_its_place(problem: DocumentProblem, text: str) -> None:
    assert str(problem) == text


@pytest.mark.parametrize(
    ("path", "text"),
    [((), ""), (("a",), "a"), (("a", 0, "b", "c", 1, 2), "a[0].b.c[1][2]"), ((0, "a"), "[0].a")],
)
def test_path_is_dotted(path: tuple[str | int, ...], text: str) -> None:
    assert dotted(path) == text


@pytest.mark.parametrize(
    ("word", "end"),
    [
        ("maxSkww", "; did you mean 'maxSkew'?"),
        ("MAXSKEW", "; did you mean 'maxSkew'?"),
        ("other", ""),
        ("x" * 80, f"; did you mean '{'x' * 79}'?"),
        ("x" * 81, ""),
    ],
)
def test_nearest_name_is_suggested_for_words_of_usual_length(word: str, end: str) -> None:
    assert did_you_mean(word, ["maxSkew", "x" * 79]) == end


def test_text_of_others_is_shown_without_what_it_hides() -> None:
    assert spelled("https://user:secret@host/x") == "https://***@host/x"
    assert spelled("a@b: c") == "a@b: c"
    assert spelled("x" * 81).startswith("x" * 76)
    assert len(spelled("x" * 200)) <= 83
    assert shown("a\nb") == "'a\\nb'"
