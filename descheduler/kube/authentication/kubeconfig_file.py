"""What a kubeconfig says: the files merged, the context chosen, and what it names found and checked.

The official client's messages repeat whole entries of the file, tokens included, and it passes over missing files and
users in silence. Every message here names file, entry and way out, and no value that could be secret.

Its parts are those of `v1.Config` (client-go 1.36, `tools/clientcmd/api/v1`) that matter to a connection.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Generic, TypeVar

import msgspec
import yaml

from descheduler.model.text.urls import is_host_name, is_web_url
from descheduler.transport.errors import SettingsError


class ContextBody(msgspec.Struct):
    """Which cluster as which user, and the namespace that is meant where none is named."""

    cluster: str | None = None
    user: str | None = None
    namespace: str | None = None


class Extension(msgspec.Struct):
    """Something for other programs, here for a credential plugin."""

    name: str | None = None
    extension: object = None


class ClusterBody(msgspec.Struct, rename="kebab"):
    """Where a cluster is and how to know it."""

    server: str | None = None
    certificate_authority: str | None = None
    certificate_authority_data: str | None = None
    insecure_skip_tls_verify: bool | None = None
    tls_server_name: str | None = None
    proxy_url: str | None = None
    extensions: list[Extension] | None = None

    def __repr__(self) -> str:
        return "ClusterBody(...)"  # addresses may hold passwords


class EnvironmentVariable(msgspec.Struct):
    """One variable for a credential plugin."""

    name: str
    value: str = ""

    def __repr__(self) -> str:
        return "EnvironmentVariable(...)"


class Exec(msgspec.Struct, rename="camel"):
    """A credential plugin."""

    command: str | None = None
    args: list[str] | None = None
    env: list[EnvironmentVariable] | None = None
    api_version: str | None = None
    provide_cluster_info: bool = False
    interactive_mode: str | None = None

    def __repr__(self) -> str:
        return "Exec(...)"


class UserBody(msgspec.Struct, rename="kebab"):
    """How a user proves who it is."""

    token: str | None = None
    token_file: str | None = msgspec.field(default=None, name="tokenFile")
    client_certificate: str | None = None
    client_certificate_data: str | None = None
    client_key: str | None = None
    client_key_data: str | None = None
    username: str | None = None
    password: str | None = None
    exec: Exec | None = None
    auth_provider: dict[str, object] | None = None

    def __repr__(self) -> str:
        return "UserBody(...)"


class Context(msgspec.Struct):
    """A named context."""

    name: str
    context: ContextBody | None = None


class Cluster(msgspec.Struct):
    """A named cluster."""

    name: str
    cluster: ClusterBody | None = None


class User(msgspec.Struct):
    """A named user."""

    name: str
    user: UserBody | None = None


class KubeconfigFile(msgspec.Struct):
    """One file."""

    current_context: str | None = msgspec.field(default=None, name="current-context")
    contexts: list[Context] | None = None
    clusters: list[Cluster] | None = None
    users: list[User] | None = None


_Named = TypeVar("_Named", Context, Cluster, User)


class ChosenContext(msgspec.Struct, frozen=True):
    """The context that will be used with its cluster and its user; paths in them are relative to their folders."""

    where: str
    """The files, for messages."""
    name: str
    cluster_name: str
    cluster: ClusterBody
    cluster_folder: Path
    user_name: str
    user: UserBody
    user_folder: Path
    namespace: str = ""


class _Entry(msgspec.Struct, Generic[_Named], frozen=True):
    body: _Named
    folder: Path


def choose_context(files: Sequence[Path], context: str | None) -> ChosenContext:
    """The context named `context`, else the current one, in `files` merged as kubectl does: the first entry wins.

    Raises SettingsError for a file that is missing or malformed, and for a context, cluster, server or user that
    is not there.
    """
    documents = [(file.parent, _read(file)) for file in files]
    where = "kubeconfig " + ", ".join(str(file) for file in files)
    contexts = _by_name((folder, document.contexts) for folder, document in documents)
    name = context or next((document.current_context for _, document in documents if document.current_context), None)
    if name is None:
        raise SettingsError(f"{where}: no current-context is set; choose one with --context ({_known(contexts)})")
    if name not in contexts:
        raise SettingsError(f"{where}: context {name!r} is not defined ({_known(contexts)})")
    body = contexts[name].body.context or ContextBody()
    clusters = _by_name((folder, document.clusters) for folder, document in documents)
    users = _by_name((folder, document.users) for folder, document in documents)
    cluster = _named(clusters, body.cluster or "", f"{where}: context {name!r} names cluster")
    server = cluster.body.cluster or ClusterBody()
    if not is_web_url(server.server or ""):
        raise SettingsError(f"{where}: cluster {body.cluster!r} needs a server such as https://host:6443")
    if server.tls_server_name and not is_host_name(server.tls_server_name):
        raise SettingsError(f"{where}: tls-server-name of cluster {body.cluster!r} is not the name of a host")
    user_folder, user = Path(), UserBody()
    if body.user:
        entry = _named(users, body.user, f"{where}: context {name!r} names user")
        user_folder, user = entry.folder, entry.body.user or UserBody()
    chosen = where, name, body.cluster or "", server, cluster.folder, body.user or "", user, user_folder
    return ChosenContext(*chosen, namespace=body.namespace or "")


def context_names(files: Sequence[Path]) -> list[str]:
    """The names of the contexts in `files`, in their order. Raises SettingsError for a file that cannot be read."""
    documents = [(file.parent, _read(file)) for file in files]
    return list(_by_name((folder, document.contexts) for folder, document in documents))


def _read(file: Path) -> KubeconfigFile:
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise SettingsError(
            f"kubeconfig {file}: no such file; name another one with --kubeconfig or KUBECONFIG"
        ) from error
    except (OSError, ValueError) as error:  # not UTF-8, or a NUL character in the name
        cause = getattr(error, "strerror", None) or "it is not text"
        raise SettingsError(f"kubeconfig {file}: cannot be read: {str(cause).lower()}") from None
    try:
        loaded = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        # The parser's own text quotes the line, which may be the one with the token; hence no chaining either. It
        # raises more than its own errors: on dates such as 2026-13-01, and on nesting without end.
        raise SettingsError(f"kubeconfig {file}{_position(error)}: is not valid YAML; fix it") from None
    if not isinstance(loaded, dict):
        raise SettingsError(f"kubeconfig {file}: contains no configuration; fix it")
    if (place := _not_text(loaded)) is not None:
        raise SettingsError(f"kubeconfig {file}: {place} holds a NUL or a character that is not text; fix it")
    try:
        return msgspec.convert(loaded, KubeconfigFile)
    except msgspec.ValidationError as error:
        raise SettingsError(f"kubeconfig {file}: {str(error)[:1].lower()}{str(error)[1:]}") from None


def _position(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    return f":{mark.line + 1}:{mark.column + 1}" if mark is not None else ""


def _not_text(loaded: object) -> str | None:
    """The place of a text that neither a header field nor the name of a file can carry, such as a lone surrogate."""
    pending, seen = [("", loaded)], set[int]()
    while pending:
        place, value = pending.pop()
        if isinstance(value, (dict, list)) and id(value) in seen:  # aliases may repeat, and hold each other
            continue
        seen.add(id(value))
        match value:
            case str() if not _is_text(value):
                return place.lstrip(".")
            case dict():
                # A key may be what is not text, and is not shown.
                pending += [(f"{place}.{key}" if _is_text(key) else place, key) for key in value]
                pending += [(f"{place}.{key}" if _is_text(key) else place, value[key]) for key in value]
            case list():
                pending += [(f"{place}[{index}]", item) for index, item in enumerate(value)]
    return None


def _is_text(text: object) -> bool:
    if not isinstance(text, str):
        return True
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _by_name(entries: Iterable[tuple[Path, Sequence[_Named] | None]]) -> dict[str, _Entry[_Named]]:
    found: dict[str, _Entry[_Named]] = {}
    for folder, named in entries:
        for entry in named or ():
            found.setdefault(entry.name, _Entry(entry, folder))
    return found


def _named(entries: dict[str, _Entry[_Named]], name: str, what: str) -> _Entry[_Named]:
    if name not in entries:
        raise SettingsError(f"{what} {name!r}, which is not defined ({_known(entries)})")
    return entries[name]


def _known(entries: Iterable[str]) -> str:
    names = ", ".join(sorted(entries))
    return f"defined: {names}" if names else "none is defined"
