"""Watches: what has changed since a version, line by line, as the client reads on."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from tests.faults.faults import status_body
from tests.living.api.lists import selection
from tests.living.api.request import Request, Target
from tests.living.store import Change, Key, Object, Store

_LONGEST_SECONDS = 1800.0
_BOOKMARK_SECONDS = 60.0
_REAL_WAIT_SECONDS = 0.002


def watched(store: Store, target: Target, request: Request, ended: Callable[[], bool]) -> Iterator[bytes]:
    """The lines of a watch until its `timeoutSeconds` are over, or `ended`. Raises Refused (400) at once.

    Reading on lets time pass, to the next thing that happens, when the thread that owns the clock reads; any other
    thread waits until somebody else lets time pass.
    """
    return _Watch(store, target, request, ended).lines()


class _Watch:
    def __init__(self, store: Store, target: Target, request: Request, ended: Callable[[], bool]) -> None:
        self._store = store
        self._target = target
        self._is_chosen = selection(target, request)
        self._ended = ended
        self._has_bookmarks = request.query.get("allowWatchBookmarks") in ("1", "true")
        self._clock = store.clock
        seconds = float(request.query.get("timeoutSeconds") or 0) or _LONGEST_SECONDS
        self._end = self._clock.monotonic() + seconds
        wanted = request.query.get("resourceVersion", "")
        self._starts_anew = wanted in ("", "0")
        self._seen = store.version if self._starts_anew else int(wanted)
        self._is_expired = not self._starts_anew and self._seen < store.oldest_version
        self._log_index = 0
        self._first = sorted(store.items(target.resource).items()) if self._starts_anew else []

    def lines(self) -> Iterator[bytes]:
        if self._is_expired:
            text = f"too old resource version: {self._seen} ({self._store.oldest_version})"
            yield _line("ERROR", status_body(410, "Expired", text))
            return
        for key, found in self._first:
            if self._is_chosen(key, found):
                yield _line("ADDED", found)
        bookmark_at = self._clock.monotonic() + _BOOKMARK_SECONDS
        while not self._ended():
            yield from self._news()
            is_over = self._clock.monotonic() >= self._end
            if self._has_bookmarks and (is_over or self._clock.monotonic() >= bookmark_at):
                bookmark_at = self._clock.monotonic() + _BOOKMARK_SECONDS
                yield self._bookmark()
            if is_over:
                return
            self._wait(bookmark_at)

    def _news(self) -> Iterator[bytes]:
        with self._clock.lock:
            lines: list[bytes] = []
            while self._log_index < len(self._store.log):
                change = self._store.log[self._log_index]
                self._log_index += 1
                if change.version > self._seen and change.resource is self._target.resource:
                    lines.extend(self._told(change))
            self._seen = self._store.version
        yield from lines

    def _told(self, change: Change) -> Iterator[bytes]:
        """An object that begins or ceases to be selected is told as added or deleted."""
        before = self._visible(change.key, change.before)
        after = self._visible(change.key, change.after)
        if after is not None:
            yield _line("ADDED" if before is None else "MODIFIED", after)
        elif before is not None:
            version = {"resourceVersion": str(change.version)}
            yield _line("DELETED", {**before, "metadata": {**before["metadata"], **version}})

    def _visible(self, key: Key, found: Object | None) -> Object | None:
        return found if found is not None and self._is_chosen(key, found) else None

    def _bookmark(self) -> bytes:
        resource = self._target.resource
        head = {"kind": resource.kind, "apiVersion": resource.api_version}
        return _line("BOOKMARK", {**head, "metadata": {"resourceVersion": str(self._seen)}})

    def _wait(self, bookmark_at: float) -> None:
        clock = self._clock
        if not clock.is_virtual or threading.get_ident() != clock.owner:
            time.sleep(_REAL_WAIT_SECONDS)
            clock.catch_up()
            return
        due = clock.next_due_seconds
        until_end = min(self._end, bookmark_at) - clock.monotonic()
        clock.sleep(until_end if due is None else min(due, until_end))


def _line(kind: str, found: Any) -> bytes:
    return json.dumps({"type": kind, "object": found}).encode() + b"\n"
