"""The flag that names objects which a dry run takes to have been created."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

import click

from descheduler.cli.completions import complete_file
from descheduler.cli.flag_groups import FlagGroup, flag
from descheduler.cli.flags.values import file_source, read_input_name

if TYPE_CHECKING:
    from descheduler.documents.document import TreeNode

_KIND, _GROUP = "DeviceTaintRule", "resource.k8s.io"
_EFFECTS = ("NoSchedule", "NoExecute", "None")


def _read_rules(ctx: click.Context, option: click.Parameter, name: str | None) -> Sequence[Mapping[str, object]]:
    if name is None:
        return ()
    read_input_name(ctx, option, name)
    from descheduler.documents.problems import PolicyError
    from descheduler.documents.source import read_roots

    source, shown = file_source(name)
    name = shown or name
    try:
        roots = read_roots(source, name, "manifest")
    except PolicyError as error:
        raise click.BadParameter(f"{error}.") from error
    rules = [_rule(node, name) for root in roots for node in _items(root)]
    if not rules:
        raise click.BadParameter(f"{name}: holds no {_KIND}.")
    return rules


def _items(node: TreeNode) -> Iterator[TreeNode]:
    """The objects of a document, those of a list one by one; nothing for an empty one."""
    from descheduler.documents.document import find

    items = find(node, ("items",))
    if items is not node and isinstance(items.value, tuple):
        yield from items.value
    elif node.value is not None:
        yield node


def _rule(node: TreeNode, name: str) -> Mapping[str, object]:
    """The object of a DeviceTaintRule, with all that the API server requires of it."""
    from descheduler.documents.document import member_text, to_plain

    place = f"{name}:{node.mark.line}" if node.mark else name
    kind, version = member_text(node, "kind"), member_text(node, "apiVersion")
    if kind != _KIND or version.partition("/")[0] != _GROUP:
        what = f"{kind or 'an object without kind'} ({version})" if version else kind or "an object without kind"
        raise click.BadParameter(f"{place}: {what} cannot be assumed; use {_KIND} ({_GROUP}).")
    rule = cast("Mapping[str, object]", to_plain(node))
    for path in (("metadata", "name"), ("spec", "taint", "key"), ("spec", "taint", "effect")):
        if not _text_at(rule, path):
            raise click.BadParameter(f"{place}: {_KIND} has no {'.'.join(path)}.")
    effect = _text_at(rule, ("spec", "taint", "effect"))
    if effect not in _EFFECTS:
        raise click.BadParameter(f"{place}: spec.taint.effect: {effect!r} is not one of {', '.join(_EFFECTS)}.")
    return rule


def _text_at(value: object, path: Sequence[str]) -> str:
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, str) else ""


takes_assumed = flag(
    FlagGroup.DUMP,
    "--with",
    "assumed",
    callback=_read_rules,
    metavar="FILE",
    shell_complete=complete_file,
    help="Decide as if the DeviceTaintRules of this file (YAML or JSON, - for standard input) had been created, to "
    "see which pods such a taint would move. A run needs --dry-run or --snapshot with it.",
)
"""Adds the DeviceTaintRules of a file, as `assumed`."""
