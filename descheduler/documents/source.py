"""Where a policy document comes from: a file, a text or an object."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from descheduler.documents.config_map import POLICY, SCHEDULER_CONFIGURATION, document_in_config_map
from descheduler.documents.document import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_NODES,
    Document,
    DocumentError,
    Mark,
    Member,
    TreeNode,
    member_text,
    to_plain,
)
from descheduler.documents.helm_values import policy_in_values
from descheduler.documents.json_document import parse_json
from descheduler.documents.problems import DocumentProblem, PolicyError, spelled
from descheduler.documents.yaml_document import parse_yaml, parse_yaml_documents
from descheduler.model.text.printable import printable

_POLICY = "policy"
_CONTENTS = {_POLICY: POLICY, "scheduler configuration": SCHEDULER_CONFIGURATION}
"""What the documents are that are looked for in ConfigMaps, by noun."""
_MOST_BITS = 1024
_TEMPLATE = "{{"


def read_document(source: Path | str | Mapping[str, object], name: str | None, noun: str = _POLICY) -> Document:
    """The document in `source`: a Path is read, a str is YAML or JSON text, a mapping is taken as it is.

    `name` stands for the file in messages, and `noun` for what is in it, which may stand in a ConfigMap. Raises
    PolicyError with one problem when there is no document to be had.
    """
    path = printable(name or (str(source) if isinstance(source, Path) else f"<{noun}>"))
    try:
        if isinstance(source, Mapping):
            document = Document(path, _Importer().node(source, 0), "object")
            return _with_notes_of_templates(_unwrapped(document, "", noun))
        text = _read_text(source, noun) if isinstance(source, Path) else source
        return _with_notes_of_templates(_unwrapped(_parse(text, path, noun), text, noun))
    except DocumentError as error:
        raise _error_of(error, path) from error


def read_plain_documents(source: Path | str, name: str, noun: str) -> list[object]:
    """All documents of a YAML or JSON file, or of such a text, as plain dicts, lists and scalars.

    `name` stands for the source in messages, and `noun` for what is in it. Raises PolicyError with one problem when
    there is no document to be had.
    """
    return [to_plain(root) for root in read_roots(source, name, noun)]


def read_roots(source: Path | str, name: str, noun: str) -> list[TreeNode]:
    """The same with the place of each value."""
    try:
        roots = parse_yaml_documents(_read_text(source, noun) if isinstance(source, Path) else source)
        for root in roots:
            _refuse_infinite(root)
    except DocumentError as error:
        raise _error_of(error, printable(name)) from error
    return list(roots)


def read_lines(path: Path, name: str, noun: str) -> Document:
    """The lines of a text file as a list of strings, without spaces around them, blank lines and `#` comments.

    `name` stands for the file in messages, and `noun` for what is in it. Raises PolicyError when it cannot be read.
    """
    try:
        lines = enumerate(_read_text(path, noun, "text").splitlines(), start=1)
    except DocumentError as error:
        raise _error_of(error, printable(name)) from error
    texts = ((number, line.partition("#")[0].strip()) for number, line in lines)
    items = tuple(TreeNode(text, Mark(number, 1)) for number, text in texts if text)
    return Document(printable(name), TreeNode(items), "lines")


def _error_of(error: DocumentError, path: str) -> PolicyError:
    line, column = (error.mark.line, error.mark.column) if error.mark else (None, None)
    return PolicyError([DocumentProblem(path, line, column, "", str(error))])


def _unwrapped(document: Document, text: str, noun: str) -> Document:
    """What is meant in a ConfigMap or values of `document`, whose text is `text`; the document itself without these."""
    root, content = document.root, _CONTENTS.get(noun)
    may_hold_more = root.value is None or isinstance(root.value, Mapping)  # comments alone make an empty document
    if content is None or member_text(root, "apiVersion").startswith(content.group) or not may_hold_more:
        return document
    roots = parse_yaml_documents(text) if document.form == "yaml" else (root,)

    def parse(entry: str) -> Document:
        return _parse(entry, document.path, noun)

    in_values = policy_in_values(document.path, text, roots, parse) if noun == _POLICY else None
    return in_values or document_in_config_map(content, text, roots, parse) or document


def _read_text(path: Path, noun: str, form: str = "YAML or JSON") -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise DocumentError(f"no such file; name the {noun} file to read") from error
    except IsADirectoryError as error:
        raise DocumentError(f"is a directory; name the {noun} file in it") from error
    except (OSError, ValueError) as error:
        raise DocumentError(f"cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > MAX_BYTES:
        raise DocumentError(f"is larger than {MAX_BYTES // 2**20} MiB; no {noun} needs that")
    return _decode(data, noun, form)


def _decode(data: bytes, noun: str, form: str) -> str:
    if data.startswith(b"\x1f\x8b"):
        raise DocumentError("is compressed with gzip; unpack it first")
    if b"\0" in data:
        raise DocumentError(f"holds NUL bytes, so it is not a text file; a {noun} is {form} in UTF-8")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        message = f"byte 0x{data[error.start]:02x} is not UTF-8; save the {noun} as UTF-8"
        raise DocumentError(message, Mark(line, column)) from error


def _parse(text: str, path: str, noun: str) -> Document:
    if len(text) > MAX_BYTES:
        raise DocumentError(f"is larger than {MAX_BYTES // 2**20} MiB; no {noun} needs that")
    if "\0" in text:
        raise DocumentError(f"holds NUL characters, so it is not text; a {noun} is YAML or JSON")
    is_json = text.lstrip().startswith("{") and not text.lstrip().startswith(_TEMPLATE)
    try:
        document = parse_json(text, path) if is_json else parse_yaml(text, path)
    except DocumentError as error:
        mark = _template_near(text, error.mark)
        if mark is None:
            raise
        message = f"is a template ({_TEMPLATE}), not YAML; render it first, for example with 'helm template'"
        raise DocumentError(message, mark) from error
    _refuse_infinite(document.root)
    return document


def _template_near(text: str, mark: Mark | None) -> Mark | None:
    """The first place of a template that keeps a text from being YAML: one before `mark`, in its line or as a line."""
    for number, line in enumerate(text.splitlines(), start=1):
        is_near = mark is None or number in (mark.line - 1, mark.line)
        if _TEMPLATE in line and (is_near or line.lstrip().startswith(_TEMPLATE)):
            return Mark(number, line.index(_TEMPLATE) + 1)
    return None


def _with_notes_of_templates(document: Document) -> Document:
    """The document with a note for each text that is a template, which says nothing before it is rendered."""
    note = f"is a template ({_TEMPLATE}) and not evaluated; check what 'helm template' renders as well"
    found = {
        node.mark: note for node in _nodes(document.root) if isinstance(node.value, str) and _TEMPLATE in node.value
    }
    return replace(document, notes=(*document.notes, *found.items()))


def _refuse_infinite(root: TreeNode) -> None:
    """Infinity and NaN exist in YAML but not in JSON, which Kubernetes decodes from: they are errors anywhere."""
    for node in _nodes(root):
        if isinstance(node.value, float) and not math.isfinite(node.value):
            raise DocumentError(f"{node.value} is not a number that Kubernetes accepts", node.mark)


def _nodes(root: TreeNode) -> Iterator[TreeNode]:
    """All nodes from `root` down, each once."""
    pending, seen = [root], set()
    while pending:
        node = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        if isinstance(node.value, tuple):
            pending.extend(node.value)
        elif isinstance(node.value, Mapping):
            pending.extend(member.node for member in node.value.values())


class _Importer:
    """Turns plain objects into nodes without marks, within the limits of parsed text."""

    def __init__(self) -> None:
        self._nodes = 0

    def node(self, value: object, depth: int) -> TreeNode:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise DocumentError(f"holds more than {MAX_NODES} values; no policy needs that")
        if depth > MAX_DEPTH:
            raise DocumentError(f"is nested more than {MAX_DEPTH} levels deep")
        if isinstance(value, float) and not math.isfinite(value):
            raise DocumentError(f"{value} is not a number that Kubernetes accepts")
        if isinstance(value, int) and value.bit_length() > _MOST_BITS:
            raise DocumentError(f"holds a number of {value.bit_length()} bits")
        if value is None or isinstance(value, (bool, int, float, str)):
            return TreeNode(value)
        if isinstance(value, (list, tuple)):
            return TreeNode(tuple(self.node(item, depth + 1) for item in value))
        if isinstance(value, Mapping):
            return self._object(value, depth)
        raise DocumentError(f"holds a {type(value).__name__}; a policy holds only the types of JSON")

    def _object(self, value: Mapping[object, object], depth: int) -> TreeNode:
        members: dict[str, Member] = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise DocumentError(f"has the key {spelled(repr(key))}; keys are strings")
            members[key] = Member(None, self.node(item, depth + 1))
        return TreeNode(members)


def digest_of(document: Document) -> str:
    """SHA-256 in hexadecimal of the document as canonical JSON: sorted keys, no layout."""
    canonical = json.dumps(to_plain(document.root), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()
