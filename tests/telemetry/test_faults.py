"""What is printed of an unexpected error."""

from __future__ import annotations

import pytest

from descheduler.documents.decode import Decoder
from descheduler.telemetry.faults import error_words, place_of, traceback_lines


class OwnError(Exception):
    pass


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ConnectionRefusedError(111, "Connection refused"), "connection refused"),
        (OSError("no number and no words"), "OSError"),
        (OSError(5, ""), "OSError"),
        (OSError(5, 7), "OSError"),
        (ValueError("secret"), "ValueError"),
    ],
)
def test_error_is_told_in_the_words_of_the_operating_system_or_by_its_type(error: Exception, words: str) -> None:
    assert error_words(error) == words


def test_place_of_an_error_is_the_innermost_of_this_program() -> None:
    with pytest.raises(AttributeError) as caught:
        Decoder(None).place((), None, "")  # type: ignore[arg-type]  # a fault on purpose
    with pytest.raises(ZeroDivisionError) as elsewhere:
        _ = 1 / 0

    assert place_of(caught.value).startswith("descheduler.documents.decode:")
    assert place_of(elsewhere.value) == ""
    assert place_of(ValueError()) == ""


@pytest.mark.parametrize(
    ("is_cause", "is_suppressed", "is_told"),
    [
        pytest.param(True, True, True, id="raised from it"),
        pytest.param(False, False, True, id="raised while it was handled"),
        pytest.param(False, True, False, id="raised from nothing while it was handled"),
    ],
)
def test_traceback_tells_where_an_error_came_from_and_no_text(
    is_cause: bool, is_suppressed: bool, is_told: bool
) -> None:
    first, error = ValueError("secret"), OwnError("secret")
    error.__cause__, error.__context__ = first if is_cause else None, first
    error.__suppress_context__ = is_suppressed

    lines = traceback_lines(error)

    types = [line for line in lines if not line.startswith("Traceback")]
    assert types == [*["ValueError"] * is_told, "tests.telemetry.test_faults.OwnError"]
    assert lines.count("Traceback (most recent call last):") == len(types)


def test_errors_that_came_from_each_other_end() -> None:
    first, second = ValueError(), KeyError()
    first.__cause__, second.__cause__ = second, first

    assert [line for line in traceback_lines(first) if not line.startswith("Traceback")] == ["KeyError", "ValueError"]
