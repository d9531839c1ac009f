"""Flags that limit a run to some pods, spelt as kubectl spells them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from descheduler.eviction.checks.scope import Scope

__all__ = ["takes_scope"]

_NAMESPACE = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)


def takes_scope(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the flags and hands what they say to the command as `scope`."""

    @click.option(
        "-n",
        "--namespace",
        "namespaces",
        multiple=True,
        metavar="NAME",
        help="Move only pods of this namespace; may be given several times. Other pods stay, and still count for the "
        "plugins.",
    )
    @click.option("-A", "--all-namespaces", is_flag=True, help="Move pods of every namespace, as without -n.")
    @click.option(
        "-l",
        "--selector",
        "labels",
        metavar="SELECTOR",
        help="Move only pods with these labels, such as app=web,tier!=db. Other pods stay, and still count.",
    )
    @wraps(command)
    def with_scope(
        *args: object, namespaces: tuple[str, ...], all_namespaces: bool, labels: str | None, **flags: object
    ) -> object:
        if namespaces and all_namespaces:
            raise _usage_error("-n and -A exclude each other; give one of them")
        # An empty variable in a script must not turn a run for one team into one for all.
        if "" in namespaces:
            raise _usage_error("-n names no namespace; give -A for all of them")
        if odd := next((name for name in namespaces if not _NAMESPACE.fullmatch(name)), None):
            raise _usage_error(f"-n: {odd!r} is no name of a namespace: only small letters, digits and '-'")
        if labels is not None and not labels.strip():
            raise _usage_error("-l selects by no label; leave it out to move pods with any labels")
        return command(*args, scope=_make_scope(namespaces, labels or ""), **flags)

    return with_scope


def _make_scope(namespaces: tuple[str, ...], labels: str) -> Scope:
    from descheduler.eviction.checks.scope import Scope
    from descheduler.model.labels import LabelError, parse_selector

    try:
        return Scope(frozenset(namespaces), parse_selector(labels), labels.strip())
    except LabelError as error:
        raise _usage_error(f"-l: {error}") from error


def _usage_error(message: str) -> click.UsageError:
    return click.UsageError(message, click.get_current_context())
