"""The time that an answer has, over a socket and a clock of the test."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any, cast

import pytest
import urllib3

from descheduler.transport import timed_connections
from descheduler.transport.timed_connections import keep_to_time, steady_answer, whole_answer
from tests.migration.stand_ins import Clock

SECONDS = 10.0
LEAST_PROGRESS = 64 << 10


class Socket:
    """Gives `size` bytes at a time, for each of which it takes `seconds`; `told` are the time-outs it was given."""

    def __init__(self, clock: Clock, *, size: int = 1, seconds: float = 0.0) -> None:
        self.told: list[float] = []
        self.size = size
        self.seconds = seconds
        self._clock = clock

    def makefile(self, mode: str, buffering: int) -> io.BytesIO:
        return io.BytesIO()

    def settimeout(self, seconds: float) -> None:
        self.told.append(seconds)

    def recv_into(self, buffer: memoryview) -> int:
        self._clock.sleep(self.seconds)
        count = min(self.size, len(buffer))
        buffer[:count] = bytes(count)
        return count


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(timed_connections, "time", SimpleNamespace(monotonic=clock.now))
    return clock


def answer_over(sock: Socket, seconds: float) -> Any:
    """An answer that has so much time."""
    pool: Any = keep_to_time(urllib3.PoolManager())
    connection = pool.pool_classes_by_scheme["http"].ConnectionCls("host")
    connection.timeout = seconds
    return connection.response_class(sock)


def num_read(sock: Socket, seconds: float, most: int = 20) -> int:
    """How many times something can be read before the time is over; `most` if that does not happen."""
    answer = answer_over(sock, seconds)
    for number in range(most):
        try:
            answer.fp.read1(LEAST_PROGRESS)
        except TimeoutError:
            return number
    return most


@pytest.mark.parametrize(("step", "number"), [(3.0, 4), (5.0, 2), (0.1, 20)])
@pytest.mark.parametrize("size", [1, LEAST_PROGRESS])
def test_whole_answer_has_its_time_whatever_comes_of_it(clock: Clock, step: float, number: int, size: int) -> None:
    assert num_read(Socket(clock, size=size, seconds=step), SECONDS) == number


@pytest.mark.parametrize(
    ("size", "number"),
    [(1, 2), (LEAST_PROGRESS, 20)],
    ids=["a byte at a time", "enough at a time"],
)
def test_answer_that_goes_on_has_its_time_again_for_each_64_kib(clock: Clock, size: int, number: int) -> None:
    steady = steady_answer(SECONDS).read_timeout

    assert num_read(Socket(clock, size=size, seconds=6.0), cast(float, steady)) == number


def test_time_in_which_nobody_reads_counts_for_the_whole_answer_alone(clock: Clock) -> None:
    whole, steady = (
        answer_over(Socket(clock), SECONDS),
        answer_over(Socket(clock), cast(float, steady_answer(SECONDS).read_timeout)),
    )
    whole.fp.read1(1)
    steady.fp.read1(1)

    clock.sleep(1000)

    assert steady.fp.read1(1) == b"\0"
    with pytest.raises(TimeoutError):
        whole.fp.read1(1)


def test_socket_is_told_of_the_time_that_is_left_when_it_has_changed_by_more_than_a_hundredth(clock: Clock) -> None:
    sock = Socket(clock)
    answer = answer_over(sock, SECONDS)

    for seconds in (0.0, 0.05, 0.04, 0.5, 0.05, 5.0):
        clock.sleep(seconds)
        answer.fp.read1(1)

    assert sock.told == [pytest.approx(each) for each in (10.0, 9.41, 4.36)]


def test_answer_without_a_time_has_any(clock: Clock) -> None:
    pool: Any = keep_to_time(urllib3.PoolManager())
    connection = pool.pool_classes_by_scheme["http"].ConnectionCls("host")
    connection.timeout = None
    sock: Any = SimpleNamespace(makefile=lambda mode: io.BytesIO(b"x"))

    assert connection.response_class(sock).fp.read() == b"x"


@pytest.mark.parametrize(("seconds", "connect"), [(5.0, 5.0), (1000.0, 10.0)])
def test_connection_has_less_time_than_a_long_answer(seconds: float, connect: float) -> None:
    assert whole_answer(seconds).connect_timeout == connect
    assert steady_answer(seconds).connect_timeout == connect


def test_pool_keeps_to_time_once_however_often_it_is_asked_to() -> None:
    pool = keep_to_time(urllib3.PoolManager())
    classes = dict(pool.pool_classes_by_scheme)

    assert keep_to_time(pool).pool_classes_by_scheme == classes
