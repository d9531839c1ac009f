"""Flags that limit a run to some pods, spelt as kubectl spells them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from descheduler.cli.completions import complete_namespace
from descheduler.cli.flag_groups import FlagGroup, flag

if TYPE_CHECKING:
    from descheduler.eviction.checks.scope import Scope

__all__ = ["takes_scope", "takes_subject_namespace"]

_NAMESPACE = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)


def takes_scope(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the flags and hands what they say to the command as `scope`."""

    @flag(
        FlagGroup.PODS,
        "-n",
        "--namespace",
        "namespaces",
        multiple=True,
        metavar="NAME",
        shell_complete=complete_namespace,
        help="Evict only pods in this namespace; can be repeated. Plugins still count the other pods.",
    )
    @flag(FlagGroup.PODS, "-A", "--all-namespaces", is_flag=True, help="Evict pods in all namespaces; the default.")
    @flag(
        FlagGroup.PODS,
        "-l",
        "--selector",
        "labels",
        metavar="SELECTOR",
        help="Evict only pods with these labels, for example app=web,tier!=db. Plugins still count the other pods.",
    )
    @wraps(command)
    def with_scope(
        *args: object, namespaces: tuple[str, ...], all_namespaces: bool, labels: str | None, **flags: object
    ) -> object:
        _check_namespaces("-n", namespaces, all_namespaces=all_namespaces)
        return command(*args, scope=_make_scope(namespaces, labels), **flags)

    return with_scope


def takes_subject_namespace(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds -n and -A as they say where a thing is, and hands them to the command as `namespace` and `all_namespaces`.

    What limits the run goes to it as `scope`: `--run-namespace` stands for the -n of a run.
    """

    @flag(
        FlagGroup.PODS,
        "-n",
        "--namespace",
        metavar="NAME",
        shell_complete=complete_namespace,
        help="Namespace of the pod or workload; by default that of the kubeconfig's context, with --snapshot "
        "'default'.",
    )
    @flag(FlagGroup.PODS, "-A", "--all-namespaces", is_flag=True, help="Look for the name in every namespace.")
    @flag(
        FlagGroup.PODS,
        "--run-namespace",
        "run_namespaces",
        multiple=True,
        metavar="NAME",
        help="As -n of 'descheduler run': explain a run that evicts only pods of this namespace; can be repeated.",
    )
    @flag(
        FlagGroup.PODS,
        "-l",
        "--selector",
        "labels",
        metavar="SELECTOR",
        help="As -l of 'descheduler run': explain a run that evicts only pods with these labels.",
    )
    @wraps(command)
    def with_namespace(
        *args: object,
        namespace: str | None,
        all_namespaces: bool,
        run_namespaces: tuple[str, ...],
        labels: str | None,
        **flags: object,
    ) -> object:
        _check_namespaces("-n", () if namespace is None else (namespace,), all_namespaces=all_namespaces)
        _check_namespaces("--run-namespace", run_namespaces)
        scope = _make_scope(run_namespaces, labels)
        return command(*args, namespace=namespace, all_namespaces=all_namespaces, scope=scope, **flags)

    return with_namespace


def _check_namespaces(flag: str, namespaces: tuple[str, ...], *, all_namespaces: bool = False) -> None:
    if namespaces and all_namespaces:
        raise _usage_error(f"{flag} and -A cannot be used together")
    # An empty variable in a script must not turn a run for one team into one for all.
    if "" in namespaces:
        raise _usage_error(f"{flag} is empty; use -A for all namespaces")
    if odd := next((name for name in namespaces if not _NAMESPACE.fullmatch(name)), None):
        raise _usage_error(
            f"{flag}: {odd!r} is not a namespace name: only lowercase letters, digits and '-' are allowed"
        )


def _make_scope(namespaces: tuple[str, ...], labels: str | None) -> Scope:
    if labels is not None and not labels.strip():
        raise _usage_error("-l is empty; omit it to select pods with any labels")
    labels = labels or ""
    from descheduler.eviction.checks.scope import Scope
    from descheduler.model.selection.labels import LabelError, parse_selector

    try:
        return Scope(frozenset(namespaces), parse_selector(labels), labels.strip())
    except LabelError as error:
        raise _usage_error(f"-l: {error}") from error


def _usage_error(message: str) -> click.UsageError:
    return click.UsageError(message, click.get_current_context())
