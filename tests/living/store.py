"""The objects of the cluster, each change of which is numbered, remembered and told to whoever listens."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import msgspec

from tests.living.clock import VirtualClock
from tests.living.resources import Resource, by_plural

Object = dict[str, Any]
Key = tuple[str, str]
"""Namespace ("" for objects of the cluster) and name."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change; `before` is None for a creation, `after` for a removal.

    `actor` is who made it, and `call` the number of the API call in which it did, 0 for what happened by itself.
    """

    version: int
    resource: Resource
    key: Key
    before: Object | None
    after: Object | None
    actor: str
    call: int

    @property
    def present(self) -> Object:
        """The object as it is, or as it was last."""
        found = self.after if self.after is not None else self.before
        assert found is not None
        return found


class Store:
    """Objects by kind, namespace and name. What is handed out is never changed in place, and may not be."""

    def __init__(self, clock: VirtualClock, seed: int = 0) -> None:
        self.clock = clock
        self.random = random.Random(f"store {seed}")
        self.version = 1000
        self.oldest_version = 1000
        """Changes before it are forgotten: watches and lists that ask for them are told that they expired."""
        self.log: list[Change] = []
        self.listeners: list[Callable[[Change], None]] = []
        self.actor = "setup"
        self.call = 0
        self._objects: dict[Resource, dict[Key, Object]] = defaultdict(dict)
        self._stamps: Counter[Resource] = Counter()
        self._groups: dict[tuple[Resource, Callable[[Object], str | None]], tuple[int, dict[str, list[Object]]]] = {}
        self._num_uids = 0

    @contextmanager
    def acting(self, actor: str, call: int = 0) -> Iterator[None]:
        """What is changed within is said to be changed by `actor`."""
        former = self.actor, self.call
        self.actor, self.call = actor, call
        try:
            yield
        finally:
            self.actor, self.call = former

    def get(self, kind: str, name: str, namespace: str = "") -> Object | None:
        """The object, None when there is none; `kind` as in `by_plural`."""
        return self.find(by_plural(kind), (namespace, name))

    def all(self, kind: str) -> list[Object]:
        """The objects of a kind by namespace and name."""
        return list(self.grouped(kind, _all).get("", ()))

    def grouped(self, kind: str, by: Callable[[Object], str | None]) -> Mapping[str, Sequence[Object]]:
        """What `by` says of an object → the objects of a kind of which it says so, by namespace and name.

        `by` is a function of a module, not made anew for each call: its groups are kept until an object changes.
        """
        resource = by_plural(kind)
        stamp, groups = self._groups.get((resource, by), (-1, {}))
        if stamp != self._stamps[resource]:
            groups = defaultdict(list)
            for _, found in sorted(self._objects[resource].items(), key=_first):
                if (group := by(found)) is not None:
                    groups[group].append(found)
            groups = dict(groups)
            self._groups[resource, by] = self._stamps[resource], groups
        return groups

    def find(self, resource: Resource, key: Key) -> Object | None:
        """The object, None when there is none."""
        return self._objects[resource].get(key)

    def items(self, resource: Resource, version: int | None = None) -> dict[Key, Object]:
        """The objects of a kind, as they were at `version` if one is given."""
        found = dict(self._objects[resource])
        for change in reversed(self.log):
            if version is None or change.version <= version:
                break
            if change.resource is resource:
                if change.before is None:
                    found.pop(change.key, None)
                else:
                    found[change.key] = change.before
        return found

    def add(self, resource: Resource, created: Object) -> Object:
        """Stores a new object with a uid, the time of its creation and a version; returns it as stored."""
        metadata = {"creationTimestamp": self.clock.text(), "uid": self.new_uid(), **created["metadata"]}
        if resource.has_status:
            metadata.setdefault("generation", 1)
        return self._put(resource, {**_head(resource), **created, "metadata": metadata})

    def replace(self, resource: Resource, changed: Object) -> Object:
        """Stores another version of an object that is there; what does not change it is no change."""
        before = self.find(resource, _key(resource, changed))
        assert before is not None
        if {**changed, "metadata": _unversioned(changed)} == {**before, "metadata": _unversioned(before)}:
            return before
        if resource.has_status and changed.get("spec") != before.get("spec"):
            generation = before["metadata"].get("generation", 1) + 1
            changed = {**changed, "metadata": {**changed["metadata"], "generation": generation}}
        return self._put(resource, {**_head(resource), **changed})

    def edit(self, kind: str, name: str, namespace: str, edit: Callable[[Object], object]) -> Object | None:
        """Has `edit` change a copy of the object and stores that; None when there is no such object."""
        resource = by_plural(kind)
        found = self.find(resource, (namespace, name))
        if found is None:
            return None
        changed = copied(found)
        edit(changed)
        return self.replace(resource, changed)

    def remove(self, resource: Resource, key: Key) -> None:
        """Takes an object away."""
        before = self._objects[resource].pop(key)
        self._tell(resource, key, before, None)

    def compact(self) -> None:
        """Forgets all changes so far, as etcd does every five minutes."""
        self.oldest_version = self.version

    def new_uid(self) -> str:
        """A uid that nobody has had."""
        self._num_uids += 1
        return f"{self.random.getrandbits(32):08x}-0000-4000-8000-{self._num_uids:012x}"

    def _put(self, resource: Resource, stored: Object) -> Object:
        key = _key(resource, stored)
        before = self._objects[resource].get(key)
        metadata = {**stored["metadata"], "resourceVersion": str(self.version + 1)}
        self._objects[resource][key] = stored = {**stored, "metadata": metadata}
        self._tell(resource, key, before, stored)
        return stored

    def _tell(self, resource: Resource, key: Key, before: Object | None, after: Object | None) -> None:
        self.version += 1
        self._stamps[resource] += 1
        change = Change(self.version, resource, key, before, after, self.actor, self.call)
        self.log.append(change)
        for listener in self.listeners:
            listener(change)


def copied(original: Object) -> Object:
    """A copy that may be changed at any depth."""
    copy: Object = msgspec.json.decode(msgspec.json.encode(original))
    return copy


def _all(found: Object) -> str:
    del found
    return ""


def _first(item: tuple[Key, Object]) -> Key:
    return item[0]


def _key(resource: Resource, stored: Object) -> Key:
    metadata = stored["metadata"]
    return (metadata.get("namespace", "") if resource.is_namespaced else "", metadata["name"])


def _head(resource: Resource) -> Object:
    return {"apiVersion": resource.api_version, "kind": resource.kind}


def _unversioned(stored: Object) -> Object:
    return {name: value for name, value in stored["metadata"].items() if name != "resourceVersion"}
