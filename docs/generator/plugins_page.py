"""The page about plugins: what each one does, where it is enabled, and its arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from descheduler.cycle.plugins import REGISTRY
from descheduler.explanation.docs.arguments import about_arguments, parts_of, points_of, procedure_of, purpose_of
from descheduler.explanation.docs.source import attribute_docs, paragraphs
from descheduler.policy.plugin import PluginSpec
from docs.generator.markdown import anchor, page, table, wrapped
from docs.generator.types import default_text, type_text

_INTRODUCTION = """\
Every plugin of this version. Names, arguments and defaults are those of kubernetes-sigs/descheduler 0.36, and of
Koordinator 1.8 for those that are allowed in a `DeschedulerConfiguration` only: {native}. In a
`DeschedulerPolicy` the key of the extension point `preEvictionFilter` is `preevictionfilter`, as upstream reads it. An
unknown argument is an error with its line and column. An argument without a default is unset by default."""
_HEADER = ("Argument", "Type", "Default", "Meaning")


def make_page() -> str:
    """The whole page."""
    return page("Plugins", _lines())


def _lines() -> Iterator[str]:
    native = ", ".join(f"`{name}`" for name, spec in REGISTRY.items() if spec.native)
    yield from wrapped(_INTRODUCTION.format(native=native))
    rows = [[f"[{name}]({anchor(name)})", _points(spec), purpose_of(spec)] for name, spec in REGISTRY.items()]
    yield from table(("Plugin", "Extension points", "What it is for"), rows)
    parts: dict[type[msgspec.Struct], None] = {}
    for spec in REGISTRY.values():
        yield from _section(spec)
        parts |= dict.fromkeys(parts_of(spec.args_type))
    yield "## Parts of arguments"
    yield ""
    for part in sorted(parts, key=lambda part: part.__name__):
        yield f"### {part.__name__}"
        yield ""
        yield from wrapped(paragraphs(part.__doc__)[0])
        yield from _arguments(part, part())


def _section(spec: PluginSpec[Any]) -> Iterator[str]:
    yield f"## {spec.name}"
    yield ""
    yield from wrapped(f"{purpose_of(spec)} Extension points: {_points(spec)}.")
    for paragraph in procedure_of(spec):
        yield from wrapped(paragraph)
    yield from wrapped(about_arguments(spec))
    yield from _arguments(spec.args_type, spec.defaults(spec.args_type()))


def _points(spec: PluginSpec[Any]) -> str:
    return ", ".join(f"`{point}`" for point in points_of(spec))


def _arguments(cls: type[msgspec.Struct], defaults: msgspec.Struct) -> Iterator[str]:
    docs = attribute_docs(cls)
    rows = [
        [
            f"`{field.encode_name}`",
            type_text(field.type),
            default_text(getattr(defaults, field.name)),
            docs[field.name],
        ]
        for field in msgspec.structs.fields(cls)
    ]
    yield from table(_HEADER, rows)
