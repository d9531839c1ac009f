from __future__ import annotations

import io
import logging

import pytest

from descheduler.telemetry.console import ERASE_LINE, Console, find_console
from descheduler.telemetry.logging import LogFormat, configure_logging, log_event

logger = logging.getLogger("descheduler.test")


class Terminal(io.StringIO):
    """A terminal of 80 columns."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal() -> Terminal:
    return Terminal()


def console_on(terminal: Terminal, *, verbosity: int | None = 0, log_format: LogFormat = "text") -> Console | None:
    configure_logging(terminal, verbosity=verbosity, log_format=log_format)
    return find_console()


def lines_on(terminal: Terminal) -> list[str]:
    """What stands on the terminal, without the erased lines."""
    return [line.rpartition(ERASE_LINE)[2] for line in terminal.getvalue().split("\n")]


def test_line_is_replaced_by_the_next_one(terminal: Terminal) -> None:
    console = console_on(terminal)
    assert console is not None

    console.show("1 of 2")
    console.show("2 of 2")

    assert lines_on(terminal) == ["2 of 2"]


def test_log_line_stands_above_the_line(terminal: Terminal) -> None:
    console = console_on(terminal)
    assert console is not None

    console.show("1 of 2")
    logger.warning("look")
    console.say("Cluster: here")

    log_line, said, line = lines_on(terminal)
    assert log_line.endswith('"look"')
    assert (said, line) == ("Cluster: here", "1 of 2")


def test_line_that_ended_leaves_nothing(terminal: Terminal) -> None:
    console = console_on(terminal)
    assert console is not None

    console.show("1 of 2")
    console.show("")
    logger.warning("look")

    assert "1 of 2" not in "".join(lines_on(terminal))


def test_line_is_cut_to_the_width_of_the_terminal(terminal: Terminal) -> None:
    console = console_on(terminal)
    assert console is not None

    console.show("x" * 200)

    assert lines_on(terminal) == ["x" * 79]


def test_terminal_without_escape_sequences_gets_no_line(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    console = console_on(terminal)
    assert console is not None

    console.show("1 of 2")
    logger.warning("look")

    assert ERASE_LINE not in terminal.getvalue()
    assert "1 of 2" not in terminal.getvalue()


def test_closed_terminal_is_no_fault(terminal: Terminal) -> None:
    console = console_on(terminal)
    assert console is not None
    terminal.close()

    console.show("1 of 2")
    logger.warning("look")


@pytest.mark.parametrize(
    ("verbosity", "log_format", "expected"),
    [
        pytest.param(None, "text", ["look"], id="only warnings where nobody asked for more"),
        pytest.param(0, "text", ["story", "look"], id="the story where somebody asked for it"),
        pytest.param(None, "json", ["story", "look"], id="the story in JSON, which a program reads"),
    ],
)
def test_log_below_warnings_is_silent_on_a_terminal(
    terminal: Terminal, verbosity: int | None, log_format: LogFormat, expected: list[str]
) -> None:
    console_on(terminal, verbosity=verbosity, log_format=log_format)

    log_event(logger, "story")
    logger.warning("look")

    assert [word for word in ("story", "look") if f'"{word}"' in terminal.getvalue()] == expected


def test_log_that_is_piped_tells_the_story_without_being_asked() -> None:
    stream = io.StringIO()

    configure_logging(stream, verbosity=None, log_format="text")
    log_event(logger, "story")

    assert '"story"' in stream.getvalue()
    assert find_console() is None


def test_json_on_a_terminal_is_nothing_but_json(terminal: Terminal) -> None:
    assert console_on(terminal, log_format="json") is None


def test_standard_error_may_be_closed_from_the_start() -> None:
    configure_logging(None, verbosity=None, log_format="text")

    logger.warning("nobody hears")

    assert find_console() is None
