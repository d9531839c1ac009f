"""What `explain` is asked about, in the words that kubectl takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, NoReturn

import click
from click.shell_completion import CompletionItem

from descheduler.cli.completions import complete_plugin

__all__ = ["TYPES", "Question", "complete_question", "read_question"]

_SHORT = {
    "pod": ("po",),
    "node": ("no",),
    "namespace": ("ns",),
    "deployment": ("deploy",),
    "statefulset": ("sts",),
    "daemonset": ("ds",),
    "replicaset": ("rs",),
    "replicationcontroller": ("rc",),
    "job": (),
    "cronjob": ("cj",),
    "plugin": (),
    "elasticquota": ("eq", "eqs"),
    "reservation": (),
    "podgroup": ("pg", "pgs"),
    "device": (),
    "podmigrationjob": ("pmj",),
    "poddisruptionbudget": ("pdb", "budget", "budgets"),
}
TYPES: Mapping[str, str] = {word: name for name, short in _SHORT.items() for word in (name, f"{name}s", *short)}
"""What a type may be called → its name here. The groups of the API may follow, as in `deployment.apps`."""
_WITHOUT_NAMESPACE = frozenset(
    {"node", "namespace", "plugin", "elasticquota", "reservation", "device", "podmigrationjob"}
)
_OF_SEVERAL_API_GROUPS = frozenset({"podgroup"})
_VERSION = re.compile(r"v\d+((alpha|beta)\d+)?")
_ALL_TOGETHER = "poddisruptionbudget"
"""The type that is explained without a name, too: all of a namespace, or of the cluster."""
_DEFAULT_NAMESPACE = "default"
_HOW = "write TYPE NAME or TYPE/NAME, for example pod/web-1 -n shop, deploy/web -n shop or node/worker-3"


class Question(NamedTuple):
    """A type of `TYPES` and a name: `namespace/name` where the type has one, or a name that any namespace may hold.

    The name of a type that several API groups have may begin with the group and a colon.
    For all budgets of a namespace it is `namespace/`, for all of the cluster it is empty.
    """

    subject: str
    name: str


def read_question(
    words: Sequence[str], namespace: str | None, *, all_namespaces: bool, default: Callable[[], str] = str
) -> Question:
    """The question in `words`, which are TYPE NAME, TYPE/NAME or NAMESPACE/NAME of a pod. Raises UsageError.

    `namespace` is that of -n; without one it is what `default` gives, or the one called default. It is asked only where
    a namespace has to be found.
    """
    if len(words) == 1 and _type_of(words[0]) == _ALL_TOGETHER:
        return Question(_ALL_TOGETHER, f"{namespace}/" if namespace and not all_namespaces else "")
    subject, api_group, name = _split(words)
    own, slash, bare = name.rpartition("/")
    if subject in _WITHOUT_NAMESPACE:
        if slash:
            raise click.UsageError(f"{name!r} is not the name of a {subject}: {_HOW}")
        return Question(subject, name)
    if not bare or (slash and not own) or "/" in own:
        raise click.UsageError(f"{name!r} is not the name of a {subject}: {_HOW}")
    if own and namespace and own != namespace:
        raise click.UsageError(f"{name} is in namespace {own}, and -n says {namespace}; leave one of them out")
    if all_namespaces and not own:
        return Question(subject, f"{api_group}{bare}")
    return Question(subject, f"{api_group}{own or namespace or default() or _DEFAULT_NAMESPACE}/{bare}")


def complete_question(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The types that begin so, as the first word; then the names of plugins for that type."""
    words = ctx.params.get(param.name or "") or ()
    if not words:
        return [CompletionItem(name) for name in _SHORT if name.startswith(incomplete)]
    return complete_plugin(incomplete) if TYPES.get(words[0]) == "plugin" else []


def _split(words: Sequence[str]) -> tuple[str, str, str]:
    """The type, its API group and a colon where several have the type, and the name.

    A first part that is not a type is the namespace of a pod.
    """
    match words:
        case [word] if "/" in word:
            left, _, name = word.partition("/")
            subject = _type_of(left)
            return (subject, _api_group(subject, left), name) if subject else ("pod", "", word)
        case [word]:
            raise click.UsageError(f"{word!r} needs a name: {_HOW}" if _type_of(word) else f"{word!r}: {_HOW}")
        case [word, name] if "/" not in word:
            subject = _type_of(word) or _unknown(word)
            return subject, _api_group(subject, word), name
        case _:
            raise click.UsageError(f"explains one thing at a time: {_HOW}")


def _type_of(word: str) -> str | None:
    return TYPES.get(word.lower().partition(".")[0])


def _api_group(subject: str, word: str) -> str:
    """The API group of `podgroup.scheduling.volcano.sh` and a colon; a version may stand before the group."""
    _, _, group = word.lower().partition(".")
    version, _, rest = group.partition(".")
    group = rest if _VERSION.fullmatch(version) else group
    return f"{group}:" if group and subject in _OF_SEVERAL_API_GROUPS else ""


def _unknown(word: str) -> NoReturn:
    from descheduler.documents.problems import did_you_mean

    hint = did_you_mean(word, TYPES)
    raise click.UsageError(f"{word!r} is not a type that can be explained{hint}; types are {', '.join(_SHORT)}")
