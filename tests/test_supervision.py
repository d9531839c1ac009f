from __future__ import annotations

import signal
import threading
import time

import pytest

from descheduler.supervision import RunStopped, Watch, sleep_unless
from tests.migration.stand_ins import Clock

PATIENCE_SECONDS = 60.0


def hang(let_go: threading.Event) -> None:
    let_go.wait(PATIENCE_SECONDS)


def test_work_that_ends_in_time_gives_its_result() -> None:
    assert Watch().call("counting", lambda: 3) == 3


def test_what_is_done_meanwhile_is_done_beside_the_work() -> None:
    is_done = threading.Event()

    assert Watch().call("reading pods", lambda: is_done.wait(PATIENCE_SECONDS), meanwhile=is_done.set)


def test_work_that_fails_raises_what_it_raised() -> None:
    def fail() -> None:
        raise LookupError("none")

    with pytest.raises(LookupError, match="none"):
        Watch().call("counting", fail)


def test_work_that_hangs_is_given_up_at_the_deadline() -> None:
    clock, let_go = Clock(), threading.Event()
    watch = Watch(deadline_seconds=5, promise="nothing was evicted", clock=clock.now)

    def hang_beyond_the_deadline() -> None:
        clock.sleep(5)
        hang(let_go)

    with pytest.raises(RunStopped) as raised:
        watch.call("reading pods", hang_beyond_the_deadline)
    let_go.set()

    assert str(raised.value) == "stopped by --deadline 5s while reading pods; nothing was evicted"
    assert raised.value.signal_number is None
    assert watch.has_given_up


def test_work_that_hangs_is_given_up_on_a_signal() -> None:
    watch, let_go = Watch(), threading.Event()

    def hang_after_the_signal() -> None:
        watch.request_stop(signal.SIGTERM)
        hang(let_go)

    with pytest.raises(RunStopped, match=r"^stopped by SIGTERM while reading pods$") as raised:
        watch.call("reading pods", hang_after_the_signal)
    let_go.set()

    assert raised.value.signal_number == signal.SIGTERM


def test_loss_of_the_lease_is_named() -> None:
    watch = Watch()
    watch.find_loss = lambda: "lease a/b was deleted"
    watch.stop.set()

    with pytest.raises(
        RunStopped, match=r"^stopped by the loss of its Lease \(lease a/b was deleted\) while deciding$"
    ):
        watch.call("deciding", lambda: None)


def test_no_work_begins_when_the_time_is_over() -> None:
    clock = Clock()
    watch = Watch(started=0.0, deadline_seconds=5, clock=clock.now)
    begun: list[int] = []
    clock.sleep(5)

    with pytest.raises(RunStopped, match="while deciding"):
        watch.call("deciding", lambda: begun.append(1))

    assert begun == []


def test_work_that_was_given_up_ends_at_its_next_step() -> None:
    watch, given_up, has_ended = Watch(), threading.Event(), threading.Event()
    ends: list[str] = []

    def read_pages() -> None:
        watch.tell("reading pods")
        watch.stop.set()
        given_up.wait(PATIENCE_SECONDS)
        try:
            watch.tell("reading more pods")
        except RunStopped as stopped:
            ends.append(str(stopped))
        has_ended.set()

    with pytest.raises(RunStopped):
        watch.call("reading", read_pages)
    given_up.set()

    assert has_ended.wait(PATIENCE_SECONDS)
    assert ends == ["stopped by request while reading pods"]


def test_what_work_comes_to_after_it_was_given_up_is_undone() -> None:
    given_up = threading.Event()
    undone: list[str] = []

    class Patient(Watch):
        def patience_seconds(self, most_seconds: float) -> float:
            given_up.set()
            return PATIENCE_SECONDS

    watch = Patient()

    def take_late() -> str:
        watch.stop.set()
        given_up.wait(PATIENCE_SECONDS)
        return "lease"

    with pytest.raises(RunStopped):
        watch.call("taking the Lease", take_late, undo=undone.append)

    assert undone == ["lease"]
    assert not watch.has_given_up


def test_what_was_delivered_is_not_undone() -> None:
    undone: list[str] = []

    assert Watch().call("taking", lambda: "lease", undo=undone.append) == "lease"
    assert undone == []


def test_a_step_of_the_end_may_still_be_made_when_the_time_is_over() -> None:
    watch = Watch()
    watch.stop.set()

    assert watch.finish("writing", lambda: "written") == "written"


def test_a_step_of_the_end_that_hangs_is_given_up_shortly_after() -> None:
    watch, let_go = Watch(started=time.monotonic() - 10, deadline_seconds=6), threading.Event()

    with pytest.raises(RunStopped, match="while writing"):
        watch.finish("writing", lambda: hang(let_go))
    let_go.set()


def test_a_step_of_the_end_has_its_own_bound() -> None:
    let_go = threading.Event()

    with pytest.raises(TimeoutError, match=r"not done within 0.1 s"):
        Watch().finish("pushing", lambda: hang(let_go), most_seconds=0.1)
    let_go.set()


def test_steps_of_the_end_share_what_is_left_after_the_deadline() -> None:
    clock = Clock()
    watch = Watch(started=0.0, deadline_seconds=10, clock=clock.now)

    assert watch.patience_seconds(5) == 5
    clock.sleep(10)
    assert watch.patience_seconds(5) == pytest.approx(2.25)
    clock.sleep(3)
    assert watch.patience_seconds(5) == pytest.approx(0.75)
    clock.sleep(10)
    assert watch.patience_seconds(5) == pytest.approx(0.25)


def test_deadline_counts_from_the_start() -> None:
    assert Watch(started=7.0, deadline_seconds=3).deadline == 10.0
    assert Watch(started=7.0).deadline is None


def test_deadline_is_named_as_it_was_typed() -> None:
    watch = Watch(deadline_seconds=0.0)
    watch.deadline_text = "5m"

    assert watch.cause == "--deadline 5m"


def test_sleep_ends_at_once_when_the_run_is_stopped() -> None:
    stop = threading.Event()
    stop.set()

    nap = threading.Thread(target=sleep_unless(stop), args=(3600.0,), daemon=True)
    nap.start()
    nap.join(PATIENCE_SECONDS)

    assert not nap.is_alive()


def test_ctrl_c_interrupts_where_the_main_thread_waits_for_work() -> None:
    watch, let_go = Watch(), threading.Event()
    heard: list[bool] = []

    def hang_interrupted() -> None:
        heard.append(watch.interrupt())
        hang(let_go)

    with pytest.raises(KeyboardInterrupt):
        watch.call("reading pods", hang_interrupted)
    let_go.set()

    assert heard == [True]
    assert watch.has_given_up


def test_ctrl_c_interrupts_nothing_where_nothing_is_waited_for() -> None:
    watch = Watch()

    assert not watch.interrupt()
    assert watch.call("counting", lambda: 3) == 3


def test_work_of_the_end_is_done_after_an_interrupt() -> None:
    watch = Watch()
    with pytest.raises(KeyboardInterrupt):
        watch.call("reading pods", watch.interrupt)

    assert watch.finish("exporting metrics", lambda: "written") == "written"


@pytest.mark.parametrize(("is_done", "most_seconds"), [(True, 60.0), (False, 0.0)])
def test_wait_ends_once_all_is_done_or_its_time_is_over(is_done: bool, most_seconds: float) -> None:
    looks: list[bool] = []

    def look() -> bool:
        looks.append(is_done)
        assert len(looks) == 1
        return is_done

    Watch().wait_until(look, most_seconds)

    assert looks == [is_done]


@pytest.mark.parametrize(
    ("signal_number", "may_end", "expected"),
    [
        pytest.param(signal.SIGINT, True, "Ctrl-C", id="Ctrl-C"),
        pytest.param(signal.SIGTERM, True, "SIGTERM", id="SIGTERM"),
        pytest.param(signal.SIGINT, False, "", id="no search is under way"),
        pytest.param(signal.SIGHUP, True, "", id="another signal"),
    ],
)
def test_first_signal_ends_a_search_alone(signal_number: int, may_end: bool, expected: str) -> None:
    watch = Watch()
    watch.may_end_search = may_end

    answers = [watch.ends_search(signal_number) for _ in range(2)]

    assert answers == [bool(expected), False]
    assert (watch.search_ended_by, watch.is_search_over) == (expected, bool(expected))
    assert not watch.is_over


@pytest.mark.parametrize(("seconds", "is_over"), [(4.9, False), (5.0, True), (5.1, True)])
def test_time_is_over_at_the_deadline(seconds: float, is_over: bool) -> None:
    clock = Clock()
    watch = Watch(started=0.0, deadline_seconds=5, clock=clock.now)
    clock.sleep(seconds)

    assert watch.is_over is is_over


def test_deadline_may_be_set_later() -> None:
    watch = Watch(started=7.0)
    watch.limit(3)

    assert watch.deadline == 10.0


def test_steps_of_the_end_share_what_is_left_after_a_signal_was_noticed() -> None:
    clock = Clock()
    watch = Watch(started=0.0, clock=clock.now)
    clock.sleep(10)
    watch.request_stop(signal.SIGTERM)

    patience = []
    for _ in range(3):
        patience.append(watch.patience_seconds(5))
        clock.sleep(2)

    assert patience == [pytest.approx(3.0), pytest.approx(2.0), pytest.approx(1.0)]
    assert watch.patience_seconds(0.1) == pytest.approx(0.1)


def test_earlier_of_two_ends_counts() -> None:
    clock = Clock()
    watch = Watch(started=0.0, deadline_seconds=1, clock=clock.now)
    watch.stop.set()
    clock.sleep(1)

    assert watch.patience_seconds(5) == pytest.approx(2.25)


def test_sleep_is_that_of_whoever_gives_one() -> None:
    slept: list[float] = []

    Watch(sleep=slept.append).sleep(3600.0)

    assert slept == [3600.0]


@pytest.mark.parametrize(
    ("number", "cause"), [(signal.SIGINT, "SIGINT (Ctrl-C)"), (signal.SIGTERM, "SIGTERM"), (None, "request")]
)
def test_cause_of_a_stop_is_named(number: int | None, cause: str) -> None:
    watch = Watch()
    if number is None:
        watch.stop.set()
    else:
        watch.request_stop(number)

    assert watch.cause == cause


def test_deadline_that_was_not_typed_is_named_in_seconds() -> None:
    assert Watch(deadline_seconds=90.0).cause == "--deadline 90s"
