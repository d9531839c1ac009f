"""Calls made on a few daemon threads, so that a hanging connection never keeps the process alive."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class BackgroundCalls(Generic[T]):
    """Runs calls in the order of submission on at most `max_threads` threads, each started when first needed.

    Unlike `concurrent.futures.ThreadPoolExecutor` the interpreter does not wait for these threads at exit: a run that
    was told to stop must end within its grace period even when the API server never answers.
    """

    def __init__(self, max_threads: int, *, name: str) -> None:
        self._max_threads = max_threads
        self._name = name
        self._calls: queue.SimpleQueue[tuple[Callable[[], T], Future[T]] | None] = queue.SimpleQueue()
        self._futures: list[Future[T]] = []
        self._num_threads = 0

    def submit(self, call: Callable[[], T]) -> Future[T]:
        """The future of `call`. Not for use from several threads at once."""
        self._futures = [future for future in self._futures if not future.done()]
        if len(self._futures) >= self._num_threads and self._num_threads < self._max_threads:
            self._start_thread()
        future: Future[T] = Future()
        self._futures.append(future)
        self._calls.put((call, future))
        return future

    def _start_thread(self) -> None:
        """Starts one more thread; where the system has none left, the calls wait for those that run."""
        thread = threading.Thread(target=self._work, name=f"{self._name}-{self._num_threads + 1}", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            if not self._num_threads:
                raise
        else:
            self._num_threads += 1

    def close(self) -> None:
        """Cancels calls that have not started and lets the threads end; does not wait for calls that are running."""
        for future in self._futures:
            future.cancel()
        for _ in range(self._num_threads):
            self._calls.put(None)

    def _work(self) -> None:
        while (item := self._calls.get()) is not None:
            call, future = item
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(call())
            except BaseException as error:  # handed to whoever asks for the result, as concurrent.futures does
                future.set_exception(error)
