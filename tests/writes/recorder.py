"""The calls that fake API servers have received and that change something; it imports nothing of the program."""

from __future__ import annotations

import copy
import threading
from dataclasses import dataclass
from typing import Any

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_QUERY = "/query"
"""How the paths of Prometheus end, which is asked by POST too."""


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """One call. `resource` is `plural[.group][/subresource]`, `name` that of the object, "" where none is stated.

    `before` is the object as it was where the call replaces all of it, None where it is not known.
    """

    verb: str
    resource: str
    name: str
    body: Any = None
    before: Any = None

    @classmethod
    def of(cls, method: str, path: str, body: Any, before: Any = None) -> WrittenCall | None:
        """The call of a request; None for one that only reads, and for one to another server."""
        verb, group, rest = _VERBS.get(method), "", list[str]()
        match path.strip("/").split("/"):
            case ["api", _, *rest]:
                pass
            case ["apis", group, _, *rest]:
                pass
        if verb is None or not rest or path.endswith(_QUERY):
            return None
        if rest[0] == "namespaces" and len(rest) > 2:
            rest = rest[2:]
        plural, name, subresource = (*rest, "", "")[:3]
        stated = body.get("metadata") if isinstance(body, dict) else None
        name = name or (str(stated.get("name", "")) if isinstance(stated, dict) else "")
        if verb == "delete" and not name:
            verb = "deletecollection"
        resource = plural + (f".{group}" if group else "") + (f"/{subresource}" if subresource else "")
        return cls(verb, resource, name, body, before)


class Recorder:
    """Takes calls from any thread, and gives them out once."""

    def __init__(self) -> None:
        self._calls: list[WrittenCall] = []
        self._lock = threading.Lock()

    def note(self, method: str, path: str, body: Any, *, before: Any = None) -> None:
        """A server has received this request; `body` is what its JSON says, `before` the object that it replaces."""
        call = WrittenCall.of(method, path, body, copy.deepcopy(before) if method == "PUT" else None)
        if call is not None:
            with self._lock:
                self._calls.append(call)

    def take(self) -> list[WrittenCall]:
        """The calls since the last time."""
        with self._lock:
            taken, self._calls = self._calls, []
            return taken


RECORDER = Recorder()
"""What the fake servers of this process tell; after each test its calls are held against the list."""
