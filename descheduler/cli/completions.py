"""What a shell offers for values on the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from descheduler.cluster.snapshot import Snapshot

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@%+=,-]*")
"""Names that shells take as they are. Others, which a dump or a kubeconfig can hold, could be run as commands."""


def complete_file(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Leaves it to the shell, which knows the files."""
    return [CompletionItem(incomplete, type="file")]


def complete_context(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The contexts of the kubeconfig; none where it cannot be read."""
    from descheduler.explanation.sources import known_contexts

    return _offered(known_contexts(ctx.params.get("kubeconfig")), incomplete)


def complete_namespace(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The namespaces of the pods in the dump that is named before; none without one."""
    return _offered(names_in_dump(ctx, "namespace"), incomplete)


def names_in_dump(ctx: click.Context, type_name: str) -> list[str]:
    """The names of pods, nodes or namespaces in the dump that is named before; none of other types, or without one.

    Pods are those of the namespace that is named before, or named with theirs.
    """
    snapshot = _dump(ctx.params.get("snapshot"))
    names = set(_names(snapshot, type_name, ctx.params.get("namespace"))) if snapshot else set()
    return sorted(filter(_PLAIN.fullmatch, names))


def _names(snapshot: Snapshot, type_name: str, namespace: object) -> Iterator[str]:
    match type_name:
        case "node":
            yield from (node.name for node in snapshot.nodes)
        case "namespace":
            yield from (pod.namespace for pod in snapshot.pods)
        case "pod" if isinstance(namespace, str):
            yield from (pod.name for pod in snapshot.pods if pod.namespace == namespace)
        case "pod":
            yield from (f"{pod.namespace}/{pod.name}" for pod in snapshot.pods)


def _dump(named: object) -> Snapshot | None:
    """The dump in files; None where they cannot be read, and for standard input, which the command reads."""
    from descheduler.cluster.snapshot import DumpError
    from descheduler.explanation.sources import read_dumps

    files = [name for name in named if isinstance(name, str)] if isinstance(named, tuple) else []
    if not files or "-" in files:
        return None
    try:
        return read_dumps([Path(file) for file in files], None, skip_broken=True)
    except DumpError:
        return None


def _offered(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(incomplete) and _PLAIN.fullmatch(name)]
