"""The page about the documents `Plan`, `Outcome` and `Explanation`, from their types and published JSON Schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from descheduler.explanation.docs.arguments import parts_of
from descheduler.explanation.docs.schema import DOCUMENTS
from descheduler.explanation.docs.source import paragraphs
from descheduler.report.published_schema import published_schema
from docs.generator.markdown import anchor, page, table, wrapped

_INTRODUCTION = """\
With `-o json` or `-o yaml`, `descheduler run` writes a `Plan` in a dry run, else an `Outcome`, which holds the plan;
`descheduler explain` writes an `Explanation`, and `descheduler simulate` a `Simulation`. Every field is always present,
and there are no others. `descheduler schema plan`, `descheduler schema outcome`, `descheduler schema explanation` and
`descheduler schema simulation` print the JSON Schema. `apiVersion` changes with every change of a field or its
meaning."""

_PYTHON_NAME = re.compile(r"`([a-z]+(?:_[a-z]+)+)`")

Schema = Mapping[str, Any]


def make_page() -> str:
    """The whole page."""
    return page("Plan, outcome and explanation", _lines())


def _lines() -> Iterator[str]:
    yield _INTRODUCTION
    yield ""
    schemas: dict[str, Schema] = {}
    for name in DOCUMENTS:
        schemas |= json.loads(published_schema(name))["$defs"]
    documents = tuple(DOCUMENTS.values())
    for cls in dict.fromkeys((*documents, *(part for document in documents for part in parts_of(document)))):
        yield from _section(cls, schemas[cls.__name__])


def _section(cls: type[msgspec.Struct], schema: Schema) -> Iterator[str]:
    yield f"## {_heading(cls.__name__)}"
    yield ""
    spelling = {field.name: field.encode_name for field in msgspec.structs.fields(cls)}
    for paragraph in paragraphs(cls.__doc__):
        yield from wrapped(_PYTHON_NAME.sub(lambda match: f"`{spelling.get(match[1], match[1])}`", paragraph))
    rows = [[f"`{name}`", _type(schema["properties"][name])] for name in spelling.values()]
    yield from table(("Field", "Type"), rows)


def _heading(class_name: str) -> str:
    """The name of a part, which for a whole document is its `kind`."""
    return class_name.removesuffix("Document")


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        name = _heading(schema["$ref"].rpartition("/")[2])
        return f"[{name}]({anchor(name)})"
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(_type(option) for option in schema["anyOf"])
    if schema["type"] == "array":
        return f"list of {_type(schema['items'])}"
    if schema["type"] == "object":
        return f"map of string to {_type(schema['additionalProperties'])}"
    return f"{schema['type']} ({schema['format']})" if "format" in schema else str(schema["type"])
