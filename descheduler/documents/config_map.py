"""Documents inside ConfigMaps: `kubectl get configmap -o yaml` or a rendered chart in, the one that is meant out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from descheduler.documents.document import (
    Document,
    DocumentError,
    Mark,
    Member,
    TreeNode,
    Value,
    member_node,
    member_text,
)
from descheduler.documents.problems import spelled

_LITERAL = "|"
_MOST_NAMED = 10

Parse = Callable[[str], Document]


class Content(msgspec.Struct, frozen=True):
    """A kind of documents that ConfigMaps hold: what several are called, and one with its article.

    `line` is what their text says in one of its lines, also when the rest of it is wrong; `group` is how the
    apiVersion of one begins that stands by itself.
    """

    plural: str
    one: str
    group: str
    line: re.Pattern[str]


POLICY = Content(
    "policies",
    "a DeschedulerPolicy or a DeschedulerConfiguration",
    "descheduler/",
    re.compile(
        r"""^[^#\n]*\b(apiVersion["']?\s*:\s*["']?descheduler/"""
        r"""|kind["']?\s*:\s*["']?Descheduler(Policy|Configuration)\b)""",
        re.MULTILINE,
    ),
)
SCHEDULER_CONFIGURATION = Content(
    "scheduler configurations",
    "a KubeSchedulerConfiguration or a volcano-scheduler.conf",
    "kubescheduler.config.k8s.io/",
    re.compile(
        r"""^[^#\n]*\bkind["']?\s*:\s*["']?KubeSchedulerConfiguration\b"""
        r"""|^(?:[{]\s*)?["']?(actions|tiers)["']?\s*:""",
        re.MULTILINE,
    ),
)


def document_in_config_map(content: Content, text: str, roots: Sequence[TreeNode], parse: Parse) -> Document | None:
    """What the one ConfigMap entry of `roots` holds that is `content`; None when there is no ConfigMap.

    `roots` are the documents of `text`, Lists among them. Places in the result are those of `text`; of an entry that is
    not a literal block (`key: |`) every place is that of the entry. Raises DocumentError for ConfigMaps with no such
    entry or with several.
    """
    entries = [entry for config_map in _config_maps(roots) for entry in _entries(config_map)]
    meant = [entry for entry in entries if content.line.search(str(entry[1].value))]
    if len(meant) == 1:
        return parsed_entry(meant[0][1], text, parse)
    if meant:
        message = f"holds several {content.plural}: {_listed(meant)}; keep one of them"
        raise DocumentError(message, meant[1][1].mark)
    first = next(_config_maps(roots), None)
    if first is None:
        return None
    message = f"no entry of a ConfigMap holds {content.one}; entries: "
    raise DocumentError(message + (_listed(entries) or "none"), first.mark)


def _listed(entries: Sequence[tuple[str, TreeNode]]) -> str:
    names = [name for name, _ in entries[:_MOST_NAMED]]
    more = [f"and {len(entries) - _MOST_NAMED} more"] if len(entries) > _MOST_NAMED else []
    return ", ".join([*names, *more])


def _config_maps(roots: Iterable[TreeNode]) -> Iterator[TreeNode]:
    for root in roots:
        kind = member_text(root, "kind")
        if kind == "ConfigMap":
            yield root
        elif kind in ("List", "ConfigMapList"):
            items = member_node(root, "items").value
            if isinstance(items, tuple):
                yield from _config_maps(items)


def _entries(config_map: TreeNode) -> Iterator[tuple[str, TreeNode]]:
    """Names such as `policy.yaml of ConfigMap descheduler`, and the texts."""
    data = member_node(config_map, "data").value
    name = member_text(member_node(config_map, "metadata"), "name")
    for key, member in data.items() if isinstance(data, Mapping) else ():
        if isinstance(member.node.value, str):
            yield spelled(f"{key} of ConfigMap {name}" if name else key), member.node


def parsed_entry(entry: TreeNode, text: str, parse: Parse) -> Document:
    """The document in `entry`, a string in the document of `text`, with places of `text`. Raises DocumentError."""
    content = str(entry.value)
    place = _placer(entry, content, text)
    try:
        document = parse(content)
    except DocumentError as error:
        is_inexact = error.mark and _indent(entry, content, text) is None
        where = f", in line {error.mark.line} of the entry" if error.mark and is_inexact else ""
        raise DocumentError(f"{error}{where}", place(error.mark)) from error
    notes = tuple((place(mark), note) for mark, note in document.notes)
    return replace(document, root=_Mover(place).node(document.root), notes=notes)


def _placer(entry: TreeNode, content: str, text: str) -> Callable[[Mark | None], Mark | None]:
    """Places in the content of an entry → places in the text around it."""
    indent = _indent(entry, content, text)
    if entry.mark is None or indent is None:
        return lambda _: entry.mark
    line = entry.mark.line
    return lambda mark: Mark(line + mark.line, indent + mark.column) if mark else None


def _indent(entry: TreeNode, content: str, text: str) -> int | None:
    """Columns before the lines of a literal block, whose lines are those of its content; None for other scalars."""
    if entry.mark is None:
        return None
    lines = text.splitlines()
    if not lines[entry.mark.line - 1][entry.mark.column - 1 :].startswith(_LITERAL):
        return None
    number, line = next((number, line) for number, line in enumerate(content.split("\n")) if line.strip())
    return len(lines[entry.mark.line + number]) - len(line)


class _Mover:
    """Copies nodes to other places; nodes that aliases share stay shared."""

    def __init__(self, place: Callable[[Mark | None], Mark | None]) -> None:
        self._place = place
        self._moved: dict[int, TreeNode] = {}

    def node(self, node: TreeNode) -> TreeNode:
        """`node` with all places in it moved."""
        moved = self._moved.get(id(node))
        if moved is None:
            duplicates = tuple((key, self._place(mark)) for key, mark in node.duplicates)
            moved = replace(node, value=self._value(node), mark=self._place(node.mark), duplicates=duplicates)
            self._moved[id(node)] = moved
        return moved

    def _value(self, node: TreeNode) -> Value:
        if isinstance(node.value, tuple):
            return tuple(map(self.node, node.value))
        if isinstance(node.value, Mapping):
            return {key: self._member(member) for key, member in node.value.items()}
        return node.value

    def _member(self, member: Member) -> Member:
        earlier = tuple(map(self.node, member.earlier))
        return Member(self._place(member.key_mark), self.node(member.node), earlier)
