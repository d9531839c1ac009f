"""What an operator asks about, found by name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from descheduler.cluster.snapshot import Snapshot
from descheduler.documents.problems import did_you_mean, shown
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted

_MOST_NAMED = 5
GROUP_KINDS: Mapping[str, str] = {
    kind.lower(): kind
    for kind in (
        "Namespace",
        "Deployment",
        "StatefulSet",
        "DaemonSet",
        "ReplicaSet",
        "ReplicationController",
        "Job",
        "CronJob",
    )
}
"""What holds pods that are explained together: the word of a question → the kind."""
_MADE_BY = {"Deployment": "ReplicaSet", "CronJob": "Job"}
"""Kinds that make pods by means of another one, whose objects have the name of the first, a dash and a suffix."""


class UnknownSubjectError(ValueError):
    """Nothing of that name is there; the message names the nearest thing that is."""


class OwnedPods(NamedTuple):
    """A workload or a namespace, and its pods that have not finished, one at least. A namespace is in none."""

    kind: str
    namespace: str
    name: str
    pods: tuple[Pod, ...]


def find_pod(snapshot: Snapshot, name: str) -> Pod:
    """The pod called `namespace/name`, or the only one called `name`. Raises UnknownSubjectError."""
    namespace, slash, bare = name.partition("/")
    if not slash:
        found = [pod for pod in snapshot.pods if pod.name == name]
        if len(found) != 1:
            raise UnknownSubjectError(_without_namespace(snapshot, name, [pod.key for pod in found]))
        return found[0]
    known = {pod.key: pod for pod in snapshot.pods}
    if name in known:
        return known[name]
    here = [pod.key for pod in snapshot.pods if pod.namespace == namespace]
    hint = _elsewhere([pod.key for pod in snapshot.pods if pod.name == bare]) or did_you_mean(name, here or known)
    if not here and not hint:
        hint = f"; namespace {shown(namespace)} has no pods (write NAMESPACE/NAME, or TYPE/NAME for another type)"
    raise UnknownSubjectError(f"no pod {shown(name)} in {snapshot.source or 'the snapshot'}{hint}")


def find_node(snapshot: Snapshot, name: str) -> Node:
    """The node called `name`. Raises UnknownSubjectError."""
    known = {node.name: node for node in snapshot.nodes}
    return known[find_key("node", snapshot, name, known)]


def find_plugin(known: Iterable[str], name: str) -> str:
    """The name of a plugin as it is spelt, whatever the case it was asked for in. Raises UnknownSubjectError."""
    by_lower_case = {plugin.lower(): plugin for plugin in known}
    found = by_lower_case.get(name.lower())
    if found is None:
        hint = did_you_mean(name, by_lower_case.values()) or f"; known are {', '.join(by_lower_case.values())}"
        foreign = "plugins of other packages are known only with a policy that names them"
        raise UnknownSubjectError(f"no plugin {shown(name)}{hint}; {foreign}")
    return found


def find_group(snapshot: Snapshot, kind: str, name: str) -> OwnedPods:
    """The namespace called `name`, or the workload called `namespace/name`, or the only one called `name`.

    It is known by its pods. Raises UnknownSubjectError, also where none of them is left.
    """
    pods = [pod for pod in snapshot.pods if not pod.is_terminal]
    if kind == "Namespace":
        groups = _grouped(pods, lambda pod: pod.namespace)
    else:
        groups = _grouped(pods, lambda pod: _workload_key(snapshot, kind, pod))
    key = find_key(f"pods of {kind}", snapshot, name, groups)
    namespace, _, bare = key.rpartition("/")
    return OwnedPods(kind, namespace, bare, tuple(groups[key]))


def find_key(what: str, snapshot: Snapshot, name: str, known: Collection[str]) -> str:
    """The one of `known`, keys `namespace/name` or names of what is in no namespace, that `name` is, or ends.

    Raises UnknownSubjectError, whose message calls them `what`.
    """
    if name in known:
        return name
    matching = _named(known, name.rpartition("/")[2])
    if len(matching) == 1 and "/" not in name:
        return matching[0]
    if matching and "/" not in name:
        raise UnknownSubjectError(f"{shown(name)} is in several namespaces; write {_listed(matching)}")
    hint = _elsewhere(matching) or did_you_mean(name, known)
    raise UnknownSubjectError(f"no {what} {shown(name)} in {snapshot.source or 'the snapshot'}{hint}")


def _grouped(pods: Iterable[Pod], key: Callable[[Pod], str]) -> dict[str, list[Pod]]:
    groups: dict[str, list[Pod]] = {}
    for pod in pods:
        groups.setdefault(key(pod), []).append(pod)
    return {name: found for name, found in groups.items() if name}


def _named(groups: Iterable[str], name: str) -> list[str]:
    return [group for group in groups if group.rpartition("/")[2] == name]


def _workload_key(snapshot: Snapshot, kind: str, pod: Pod) -> str:
    """`namespace/name` of the workload of this kind that `pod` belongs to, empty without one."""
    owner = pod.controller
    if owner is None:
        return ""
    if owner.kind == kind:
        return f"{pod.namespace}/{owner.name}"
    if owner.kind != _MADE_BY.get(kind):
        return ""
    workload = snapshot.workloads.get(owner.uid)
    makers = () if workload is None else workload.owners
    # Where the object between was not read, its name tells.
    name = next((maker.name for maker in makers if maker.kind == kind), "")
    name = name or ("" if workload is not None else owner.name.rpartition("-")[0])
    return f"{pod.namespace}/{name}" if name else ""


def _without_namespace(snapshot: Snapshot, name: str, keys: list[str]) -> str:
    if not keys:
        hint = did_you_mean(name, {pod.name for pod in snapshot.pods})
        return f"no pod {shown(name)} in any namespace of {snapshot.source or 'the snapshot'}{hint}"
    return f"{shown(name)} is in several namespaces; write {_listed(keys)}"


def _elsewhere(keys: list[str]) -> str:
    return f"; there is {_listed(keys)}" if keys else ""


def _listed(keys: list[str]) -> str:
    more = len(keys) - _MOST_NAMED
    return " or ".join(shown(key) for key in keys[:_MOST_NAMED]) + (f" or {counted(more, 'other')}" if more > 0 else "")
