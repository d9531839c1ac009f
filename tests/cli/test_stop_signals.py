from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from descheduler.cli.stop_signals import stop_on_signals
from descheduler.supervision import Watch


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_first_signal_asks_for_an_end_in_order(number: signal.Signals) -> None:
    watch = Watch()

    with stop_on_signals(watch) as stop:
        signal.raise_signal(number)

    assert stop.is_set()
    assert watch.signal_number == number


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


def test_signals_mean_what_they_meant_before_afterwards() -> None:
    before = signal.getsignal(signal.SIGTERM)

    with stop_on_signals() as stop:
        assert signal.getsignal(signal.SIGTERM) is not before

    assert signal.getsignal(signal.SIGTERM) is before
    assert not stop.is_set()
