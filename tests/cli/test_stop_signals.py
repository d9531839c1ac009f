from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from descheduler.cli.ending.leaving import end_search_on_interrupt, stop_on_signals
from descheduler.supervision import Watch
from tests.cli.commands import restored_logging

__all__ = ["restored_logging"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_first_signal_asks_for_an_end_in_order(number: signal.Signals) -> None:
    watch = Watch()

    with stop_on_signals(watch) as stop:
        signal.raise_signal(number)

    assert stop.is_set()
    assert watch.signal_number == number


@pytest.mark.parametrize(("number", "name"), [(signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "SIGTERM")])
def test_a_signal_ends_a_search_first_and_then_the_run(number: signal.Signals, name: str) -> None:
    watch = Watch()
    watch.may_end_search = True

    with stop_on_signals(watch) as stop:
        signal.raise_signal(number)
        assert (watch.is_search_over, watch.search_ended_by) == (True, name)
        assert not stop.is_set()
        signal.raise_signal(number)

    assert stop.is_set()


def test_sigterm_on_a_dump_ends_a_search_first() -> None:
    watch = Watch()
    watch.may_end_search = True

    with end_search_on_interrupt(watch):
        signal.raise_signal(signal.SIGTERM)

    assert (watch.is_search_over, watch.search_ended_by) == (True, "SIGTERM")


@pytest.mark.usefixtures("default_sigint")
def test_ctrl_c_on_a_dump_ends_a_search_first_and_then_the_run_at_once() -> None:
    watch = Watch()
    watch.may_end_search = True

    with end_search_on_interrupt(watch):
        signal.raise_signal(signal.SIGINT)
        assert watch.is_search_over
        assert not watch.stop.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


@pytest.fixture
def default_sigint() -> Iterator[None]:
    """SIGINT as at a terminal; a process that a shell starts in the background ignores it."""
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, inherited)


@pytest.mark.usefixtures("default_sigint")
def test_the_second_signal_ends_at_once() -> None:
    with stop_on_signals():
        signal.raise_signal(signal.SIGINT)

        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


@pytest.mark.usefixtures("default_sigint")
def test_a_second_signal_counts_while_the_first_is_being_handled() -> None:
    class Interrupted(Watch):
        def request_stop(self, signal_number: int) -> None:
            signal.raise_signal(signal.SIGINT)
            super().request_stop(signal_number)

    with stop_on_signals(Interrupted()), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)


@pytest.mark.usefixtures("default_sigint", "restored_logging")
def test_the_second_signal_names_the_pods_that_may_leave(capfd: pytest.CaptureFixture[str]) -> None:
    watch = Watch()
    watch.has_effects = True
    watch.find_open = lambda: [f"shop/p{number}" for number in range(103)]

    with stop_on_signals(watch):
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)

    lines = [line.partition("] ")[2] for line in capfd.readouterr().err.splitlines()]
    assert lines[0] == '"Interrupted by a second signal; outcome not written" unconfirmed=103'
    assert lines[1] == '"Eviction not confirmed, counted as evicted" pod="shop/p0"'
    assert len(lines) == 102
    assert lines[-1] == '"More evictions not confirmed" num=3'


@pytest.mark.usefixtures("default_sigint")
def test_the_second_signal_has_nothing_to_say_before_the_first_eviction(capfd: pytest.CaptureFixture[str]) -> None:
    with stop_on_signals():
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)

    assert capfd.readouterr().err == ""


def test_signals_mean_what_they_meant_before_afterwards() -> None:
    before = signal.getsignal(signal.SIGTERM)

    with stop_on_signals() as stop:
        assert signal.getsignal(signal.SIGTERM) is not before

    assert signal.getsignal(signal.SIGTERM) is before
    assert not stop.is_set()
