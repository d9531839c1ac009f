"""What a kubeconfig says, checked before the official client reads it.

The client's own messages repeat whole entries of the file, tokens included, and it passes over missing files and users
in silence; every message here names file, entry and way out, and no value that could be secret.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import msgspec
import yaml

from descheduler.kube.errors import KubeConfigError

__all__ = ["ChosenContext", "choose_context"]


@dataclass(frozen=True, slots=True)
class ChosenContext:
    """The context that will be used, and what of its entries matters to messages and checks."""

    files: tuple[Path, ...]
    name: str
    user_name: str
    exec_command: str | None


class _ContextBody(msgspec.Struct):
    cluster: str | None = None
    user: str | None = None


class _ClusterBody(msgspec.Struct):
    server: str | None = None


class _Exec(msgspec.Struct):
    command: str | None = None


class _UserBody(msgspec.Struct):
    exec: _Exec | None = None


class _Context(msgspec.Struct):
    name: str
    context: _ContextBody | None = None


class _Cluster(msgspec.Struct):
    name: str
    cluster: _ClusterBody | None = None


class _User(msgspec.Struct):
    name: str
    user: _UserBody | None = None


class _Document(msgspec.Struct):
    current_context: str | None = msgspec.field(default=None, name="current-context")
    contexts: list[_Context] | None = None
    clusters: list[_Cluster] | None = None
    users: list[_User] | None = None


_Entry = TypeVar("_Entry", _Context, _Cluster, _User)


def choose_context(files: Sequence[Path], context: str | None) -> ChosenContext:
    """The context named `context`, else the current one, in `files` merged as kubectl does: the first entry wins.

    Raises KubeConfigError for a file that is missing or malformed, and for a context, cluster, server or user that
    is not there.
    """
    documents = [_read(file) for file in files]
    where = "kubeconfig " + ", ".join(str(file) for file in files)
    contexts = _by_name([entry for document in documents for entry in document.contexts or ()])
    name = context or next((document.current_context for document in documents if document.current_context), None)
    if name is None:
        raise KubeConfigError(f"{where}: no current-context is set; choose one with --context ({_known(contexts)})")
    if name not in contexts:
        raise KubeConfigError(f"{where}: context {name!r} is not defined ({_known(contexts)})")
    body = contexts[name].context or _ContextBody()
    _check_cluster(where, name, body, documents)
    return ChosenContext(tuple(files), name, body.user or "", _exec_command(where, name, body, documents))


def _read(file: Path) -> _Document:
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise KubeConfigError(
            f"kubeconfig {file}: no such file; name another one with --kubeconfig or KUBECONFIG"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        cause = getattr(error, "strerror", None) or "it is not text"
        raise KubeConfigError(f"kubeconfig {file}: cannot be read: {str(cause).lower()}") from error
    try:
        loaded = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        # The parser's own text quotes the line, which may be the one with the token; hence no chaining either. It
        # raises more than its own errors: on dates such as 2026-13-01, and on nesting without end.
        raise KubeConfigError(f"kubeconfig {file}{_position(error)}: is not valid YAML; write it anew") from None
    if not isinstance(loaded, dict):
        raise KubeConfigError(f"kubeconfig {file}: holds no configuration; write it anew")
    try:
        return msgspec.convert(loaded, _Document)
    except msgspec.ValidationError as error:
        raise KubeConfigError(f"kubeconfig {file}: {str(error)[:1].lower()}{str(error)[1:]}") from None


def _position(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    return f":{mark.line + 1}:{mark.column + 1}" if mark is not None else ""


def _check_cluster(where: str, name: str, body: _ContextBody, documents: Sequence[_Document]) -> None:
    clusters = _by_name([entry for document in documents for entry in document.clusters or ()])
    if body.cluster is None or body.cluster not in clusters:
        raise KubeConfigError(
            f"{where}: context {name!r} names cluster {body.cluster or ''!r}, which is not defined ({_known(clusters)})"
        )
    if not _is_url((clusters[body.cluster].cluster or _ClusterBody()).server or ""):
        raise KubeConfigError(f"{where}: cluster {body.cluster!r} needs a server such as https://host:6443")


def _is_url(text: str) -> bool:
    try:
        url = urlsplit(text)
        is_host = bool(url.hostname) and not any(character.isspace() for character in url.netloc)
        return url.scheme in {"http", "https"} and is_host and url.port != 0
    except ValueError:  # brackets that are not closed, or a port that is none
        return False


def _exec_command(where: str, name: str, body: _ContextBody, documents: Sequence[_Document]) -> str | None:
    if not body.user:
        return None
    users = _by_name([entry for document in documents for entry in document.users or ()])
    if body.user not in users:
        raise KubeConfigError(
            f"{where}: context {name!r} names user {body.user!r}, which is not defined ({_known(users)})"
        )
    plugin = (users[body.user].user or _UserBody()).exec
    return (plugin.command or "") if plugin is not None else None


def _by_name(entries: Sequence[_Entry]) -> dict[str, _Entry]:
    return {entry.name: entry for entry in reversed(entries)}


def _known(named: dict[str, _Context] | dict[str, _Cluster] | dict[str, _User]) -> str:
    return f"defined: {', '.join(sorted(named))}" if named else "none is defined"
