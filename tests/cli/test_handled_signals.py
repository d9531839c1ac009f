"""What the program makes of signals from its start on, where no run handles them itself."""

from __future__ import annotations

import atexit
import signal
from collections.abc import Callable, Iterator

import pytest

from descheduler.cli.ending import leaving
from descheduler.cli.ending.leaving import HANDLED, handle_signals
from descheduler.supervision import Watch


class Ended(Exception):  # noqa: N818 - the end of a program is no error
    """The program has ended, in this way."""


@pytest.fixture(autouse=True)
def own_signals(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Signals as at a terminal before, and what they were afterwards; the ends of the program are exceptions."""

    def ends(how: str) -> Callable[[int], None]:
        def end(code: int) -> None:
            raise Ended(f"{how} {int(code)}")

        return end

    before = {number: signal.getsignal(number) for number in HANDLED}
    for number in HANDLED:
        signal.signal(number, signal.SIG_DFL)
    monkeypatch.setattr(leaving, "leave", ends("left with"))
    monkeypatch.setattr(leaving, "die_of", ends("died of"))
    monkeypatch.setattr(atexit, "register", lambda function: function)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signal_ends_the_program_as_if_nothing_handled_it(number: signal.Signals) -> None:
    handle_signals(Watch())

    with pytest.raises(Ended, match=f"died of {int(number)}"):
        signal.raise_signal(number)


@pytest.mark.parametrize("number", HANDLED)
def test_exit_code_that_is_certain_is_not_changed_by_a_signal(number: signal.Signals) -> None:
    watch = Watch()
    watch.exit_code = 3
    handle_signals(watch)

    with pytest.raises(Ended, match="left with 3"):
        signal.raise_signal(number)


def test_ctrl_c_ends_the_program_at_once_where_it_waits_for_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    handle_signals(Watch())

    with pytest.raises(Ended, match="left with 130"):
        signal.raise_signal(signal.SIGINT)

    assert capfd.readouterr().err == "error: interrupted (Ctrl-C)\n"


class Waiting(Watch):
    """A program that waits for supervised work."""

    def interrupt(self) -> bool:
        return True


def test_ctrl_c_interrupts_supervised_work_and_the_second_one_ends_the_program() -> None:
    handle_signals(Waiting())

    signal.raise_signal(signal.SIGINT)
    with pytest.raises(Ended, match="left with 130"):
        signal.raise_signal(signal.SIGINT)


def test_signals_that_whoever_started_the_program_ignores_stay_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)

    handle_signals(Watch())

    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
