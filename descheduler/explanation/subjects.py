"""What an operator asks about, found by name."""

from __future__ import annotations

from collections.abc import Iterable

from descheduler.cluster.snapshot import Snapshot
from descheduler.documents.problems import did_you_mean, shown
from descheduler.model.node import Node
from descheduler.model.pod import Pod

__all__ = ["UnknownSubjectError", "find_node", "find_plugin", "find_pod"]

_MOST_NAMED = 5


class UnknownSubjectError(ValueError):
    """Nothing of that name is there; the message names the nearest thing that is."""


def find_pod(snapshot: Snapshot, name: str) -> Pod:
    """The pod called `namespace/name`. Raises UnknownSubjectError, also for a name without its namespace."""
    namespace, slash, bare = name.partition("/")
    if not slash:
        raise UnknownSubjectError(_without_namespace(snapshot, name))
    known = {pod.key: pod for pod in snapshot.pods}
    if name in known:
        return known[name]
    here = [pod.key for pod in snapshot.pods if pod.namespace == namespace]
    hint = _elsewhere(snapshot, bare) or did_you_mean(name, here or known)
    raise UnknownSubjectError(f"no pod {shown(name)} in {snapshot.source or 'the snapshot'}{hint}")


def find_node(snapshot: Snapshot, name: str) -> Node:
    """The node called `name`. Raises UnknownSubjectError."""
    known = {node.name: node for node in snapshot.nodes}
    if name in known:
        return known[name]
    hint = did_you_mean(name, known)
    raise UnknownSubjectError(f"no node {shown(name)} in {snapshot.source or 'the snapshot'}{hint}")


def find_plugin(known: Iterable[str], name: str) -> str:
    """The name of a plugin as it is spelt, whatever the case it was asked for in. Raises UnknownSubjectError."""
    by_lower_case = {plugin.lower(): plugin for plugin in known}
    found = by_lower_case.get(name.lower())
    if found is None:
        hint = did_you_mean(name, by_lower_case.values()) or f"; known are {', '.join(by_lower_case.values())}"
        raise UnknownSubjectError(f"no plugin {shown(name)}{hint}")
    return found


def _without_namespace(snapshot: Snapshot, name: str) -> str:
    keys = [pod.key for pod in snapshot.pods if pod.name == name]
    if not keys:
        return f"{shown(name)} does not name a pod; write it as NAMESPACE/NAME"
    return f"{shown(name)} does not say which namespace; write {_listed(keys)}"


def _elsewhere(snapshot: Snapshot, name: str) -> str:
    keys = [pod.key for pod in snapshot.pods if pod.name == name]
    return f"; there is {_listed(keys)}" if keys else ""


def _listed(keys: list[str]) -> str:
    more = len(keys) - _MOST_NAMED
    return " or ".join(shown(key) for key in keys[:_MOST_NAMED]) + (f" or {more} others" if more > 0 else "")
