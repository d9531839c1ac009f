"""What `explain` is asked about, in the words that kubectl takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, NoReturn

import click
from click.shell_completion import CompletionItem

from descheduler.cli.completions import names_in_dump
from descheduler.report.subjects import SUBJECTS, Subject, SubjectType, types_of

_VERSION = re.compile(r"v\d+((alpha|beta)\d+)?")
_DEFAULT_NAMESPACE = "default"
_HOW = "write TYPE NAME or TYPE/NAME, for example pod/web-1 -n shop, deploy/web -n shop or node/worker-3"


class Question(NamedTuple):
    """A type and a name: `namespace/name` where the type has one, or a name that any namespace may hold.

    The name of a type that several API groups have may begin with the group and a colon.
    For all things of a type in a namespace it is `namespace/`, for all of the cluster it is empty.
    """

    type_name: str
    name: str


def read_question(
    words: Sequence[str],
    namespace: str | None,
    *,
    all_namespaces: bool,
    default: Callable[[], str] = str,
    subjects: Sequence[Subject] = SUBJECTS,
) -> Question:
    """The question in `words`, which are TYPE NAME, TYPE/NAME or NAMESPACE/NAME of a pod. Raises UsageError.

    `namespace` is that of -n; without one it is what `default` gives, or the one called default. It is asked only where
    a namespace has to be found.
    """
    types = {word: kind for word, (kind, _) in types_of(subjects).items()}
    if len(words) == 1 and (listed := _type_of(words[0], types)) and listed.can_be_listed:
        return Question(listed.name, f"{namespace}/" if namespace and not all_namespaces else "")
    kind, api_group, name = _split(words, types)
    own, slash, bare = name.rpartition("/")
    is_odd = not bare or (slash and not own) or "/" in own if kind.has_namespace else bool(slash)
    if is_odd:
        raise click.UsageError(f"{name!r} is not the name of a {kind.name}: {_HOW}")
    if not kind.has_namespace:
        return Question(kind.name, name)
    if own and namespace and own != namespace:
        no_type = f" ({own!r} is not a type that can be explained)" if tuple(words) == (name,) else ""
        told = f"{name} is in namespace {own}{no_type}, and -n says {namespace}; leave one of them out"
        raise click.UsageError(told)
    if all_namespaces and not own:
        return Question(kind.name, f"{api_group}{bare}")
    return Question(kind.name, f"{api_group}{own or namespace or default() or _DEFAULT_NAMESPACE}/{bare}")


def complete_question(
    ctx: click.Context, param: click.Parameter, incomplete: str, subjects: Sequence[Subject] = SUBJECTS
) -> list[CompletionItem]:
    """The types that begin so, as the first word; then the names that are known without a cluster, or from a dump."""
    words, types = ctx.params.get(param.name or "") or (), types_of(subjects)
    if not words:
        known = dict.fromkeys(kind.name for kind, _ in types.values())
        return [CompletionItem(name) for name in known if name.startswith(incomplete)]
    if words[0] not in types:
        return []
    kind, subject = types[words[0]]
    if subject.needs_cluster:
        names: Iterable[str] = names_in_dump(ctx, kind.name)
    else:
        from descheduler.explanation.asked import explained_by

        names = explained_by(subject).names()
    return [CompletionItem(name) for name in names if name.lower().startswith(incomplete.lower())]


def _split(words: Sequence[str], types: Mapping[str, SubjectType]) -> tuple[SubjectType, str, str]:
    """The type, its API group and a colon where several have the type, and the name.

    A first part that is not a type is the namespace of a pod.
    """
    match words:
        case [word] if "/" in word:
            left, _, name = word.partition("/")
            kind = _type_of(left, types)
            return (kind, _api_group(kind, left), name) if kind else (types["pod"], "", word)
        case [word]:
            raise click.UsageError(f"{word!r} needs a name: {_HOW}" if _type_of(word, types) else f"{word!r}: {_HOW}")
        case [word, name] if "/" not in word:
            kind = _type_of(word, types) or _unknown(word, types)
            return kind, _api_group(kind, word), name
        case _:
            raise click.UsageError(f"explains one thing at a time: {_HOW}")


def _type_of(word: str, types: Mapping[str, SubjectType]) -> SubjectType | None:
    return types.get(word.lower().partition(".")[0])


def _api_group(kind: SubjectType, word: str) -> str:
    """The API group in `podgroup.scheduling.volcano.sh` or `podgroup.v1beta1.scheduling.volcano.sh`, with a colon."""
    _, _, group = word.lower().partition(".")
    version, _, rest = group.partition(".")
    group = rest if _VERSION.fullmatch(version) else group
    return f"{group}:" if group and kind.has_several_api_groups else ""


def _unknown(word: str, types: Mapping[str, SubjectType]) -> NoReturn:
    from descheduler.documents.problems import did_you_mean

    hint = did_you_mean(word, types)
    known = dict.fromkeys(kind.name for kind in types.values())
    raise click.UsageError(f"{word!r} is not a type that can be explained{hint}; types are {', '.join(known)}")
