"""Lists that are asked for before they are read."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future

import pytest

from descheduler.kube.background import BackgroundCalls
from descheduler.kube.errors import KindForbidden
from descheduler.kube.lists.begun import BegunList, BegunLists
from descheduler.transport.errors import AnswerBroken


class SlowList:
    """A list of two parts, whose server answers when `may_answer` is set."""

    def __init__(self, error: Exception | None = None) -> None:
        self.asked, self.may_answer, self.closed = threading.Event(), threading.Event(), threading.Event()
        self._error = error

    def parts(self) -> Generator[str, None, None]:
        self.asked.set()
        try:
            assert self.may_answer.wait(10)
            yield "first"
            if self._error is not None:
                raise self._error
            yield "second"
        finally:
            self.closed.set()


def test_server_is_asked_before_anybody_reads() -> None:
    slow = SlowList()

    begun = BegunList(slow.parts())

    assert slow.asked.wait(10)
    slow.may_answer.set()
    assert list(begun.parts()) == ["first", "second"]
    assert slow.closed.is_set()


def test_refusal_reaches_the_reader() -> None:
    def refused() -> Generator[str, None, None]:
        yield from ()
        raise KindForbidden("not allowed to list pods", status_code=403)

    begun = BegunList(refused())

    with pytest.raises(KindForbidden, match="not allowed"):
        list(begun.parts())


def test_list_that_is_cut_short_is_an_error_for_the_reader_behind_what_came() -> None:
    slow = SlowList(AnswerBroken("cut short"))
    slow.may_answer.set()
    parts = BegunList(slow.parts()).parts()

    assert next(parts) == "first"
    with pytest.raises(AnswerBroken, match="cut short"):
        next(parts)
    assert slow.closed.is_set()


def test_empty_list_has_no_part() -> None:
    def nothing() -> Generator[str, None, None]:
        yield from ()

    assert list(BegunList(nothing()).parts()) == []


def test_list_that_nobody_reads_is_given_up_without_waiting_for_the_server() -> None:
    slow = SlowList()
    begun = BegunList(slow.parts())
    assert slow.asked.wait(10)

    begun.close()

    assert not slow.closed.is_set()
    slow.may_answer.set()
    assert slow.closed.wait(10)


def test_list_that_is_read_in_part_is_given_up_at_once() -> None:
    slow = SlowList()
    slow.may_answer.set()
    parts = BegunList(slow.parts()).parts()
    next(parts)

    parts.close()

    assert slow.closed.is_set()


class TestSeveralLists:
    def test_next_list_is_asked_for_when_the_first_part_of_one_is_there(self) -> None:
        nodes, pods = SlowList(), SlowList()
        lists = BegunLists({"nodes": nodes.parts, "pods": pods.parts})

        lists.begin("nodes")

        assert nodes.asked.wait(10)
        assert not pods.asked.is_set()
        nodes.may_answer.set()
        assert pods.asked.wait(10)
        pods.may_answer.set()
        assert [*lists.parts("nodes"), *lists.parts("pods")] == ["first", "second"] * 2

    def test_next_list_is_asked_for_where_calls_are_made_at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def at_once(_: BackgroundCalls[object], call: Callable[[], object]) -> Future[object]:
            future: Future[object] = Future()
            future.set_result(call())
            return future

        monkeypatch.setattr(BackgroundCalls, "submit", at_once)
        lists = BegunLists({name: lambda: (part for part in ("first", "second")) for name in ("nodes", "pods")})

        lists.begin("nodes")

        assert [*lists.parts("nodes"), *lists.parts("pods")] == ["first", "second"] * 2

    def test_list_that_nobody_began_is_asked_for_when_it_is_read(self) -> None:
        nodes = SlowList()
        nodes.may_answer.set()

        assert list(BegunLists({"nodes": nodes.parts}).parts("nodes")) == ["first", "second"]

    def test_list_behind_one_that_is_refused_is_not_asked_for(self) -> None:
        pods = SlowList()

        def refused() -> Generator[str, None, None]:
            yield from ()
            raise KindForbidden("not allowed to list nodes", status_code=403)

        lists = BegunLists({"nodes": refused, "pods": pods.parts})

        with pytest.raises(KindForbidden):
            list(lists.parts("nodes"))
        assert not pods.asked.is_set()

    def test_list_that_was_given_up_is_asked_for_again(self) -> None:
        asked: list[SlowList] = []

        def ask() -> Generator[str, None, None]:
            asked.append(SlowList())
            asked[-1].may_answer.set()
            return asked[-1].parts()

        lists = BegunLists({"nodes": ask})
        lists.begin("nodes")
        assert asked[0].asked.wait(10)

        lists.give_up()

        assert list(lists.parts("nodes")) == ["first", "second"]
        assert [each.closed.wait(10) for each in asked] == [True, True]

    def test_list_that_was_given_up_does_not_begin_the_next_one(self) -> None:
        """It would be older than the one that is asked for again."""
        nodes, pods = SlowList(), SlowList()
        lists = BegunLists({"nodes": nodes.parts, "pods": pods.parts})
        lists.begin("nodes")
        assert nodes.asked.wait(10)

        lists.give_up()
        nodes.may_answer.set()

        assert nodes.closed.wait(10)
        assert not pods.asked.is_set()

    def test_list_that_nobody_goes_on_to_read_is_given_up_with_all(self) -> None:
        nodes = SlowList()
        nodes.may_answer.set()
        lists = BegunLists({"nodes": nodes.parts})
        lists.begin("nodes")
        assert nodes.asked.wait(10)
        lists.parts("nodes").close()

        lists.close()

        assert nodes.closed.wait(10)

    def test_nothing_is_asked_for_once_all_is_closed(self) -> None:
        nodes, pods = SlowList(), SlowList()
        lists = BegunLists({"nodes": nodes.parts, "pods": pods.parts})
        lists.begin("nodes")
        assert nodes.asked.wait(10)

        lists.close()
        nodes.may_answer.set()

        assert nodes.closed.wait(10)
        assert not pods.asked.is_set()
