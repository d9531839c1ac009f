"""The JSON Schema of each document, and that of policies, for editors and pipelines.

`python -m descheduler.explanation.docs.schema` writes the files. The schema of policies is made from the types that
policies are decoded into, from the table of plugins, and from the words that stand with both. It refuses what
`descheduler validate` refuses for its structure, and unknown fields, of which `validate` only warns in a
DeschedulerPolicy.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import inspect

from descheduler.cycle.plugins import REGISTRY
from descheduler.documents.fields import Fields
from descheduler.explanation.docs.arguments import purpose_of
from descheduler.explanation.docs.source import attribute_docs, docstring, paragraphs
from descheduler.explanation.explaining import explanation_type
from descheduler.model.text.duration import DURATION_PATTERN
from descheduler.policy.effective import plain_value
from descheduler.policy.koordinator import descheduler_configuration
from descheduler.policy.koordinator.profile import POINTS, KoordinatorPluginsSection
from descheduler.policy.plugin import ExtensionPoint, PluginSpec, Registry
from descheduler.policy.plugin_args import PluginConfigSection
from descheduler.policy.upstream import descheduler_policy, profile
from descheduler.report.outcome.document import OutcomeDocument
from descheduler.report.outcome.status_document import StatusDocument
from descheduler.report.plan.document import Plan
from descheduler.report.plan.file import PlanFile
from descheduler.report.plan_answer import PlanAnswer
from descheduler.report.plan_difference import PlanDifference
from descheduler.report.published_schema import schema_file
from descheduler.report.simulation_document import Simulation

JsonObject = dict[str, Any]

_ID = "urn:descheduler:schema:policy:v1alpha2"
_API_VERSION = "descheduler/v1alpha2"
_UPSTREAM, _KOORDINATOR = "DeschedulerPolicy", "DeschedulerConfiguration"
_MOST_BITS = 53
"""Bounds of larger integers are left out: readers of JSON that know only floats would round them."""
DOCUMENTS: Mapping[str, type[Fields]] = {
    "plan": Plan,
    "outcome": OutcomeDocument,
    "explanation": explanation_type(),
    "plan-file": PlanFile,
    "difference": PlanDifference,
    "answer": PlanAnswer,
    "status": StatusDocument,
    "simulation": Simulation,
}
"""Name on the command line → type of the document."""
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def policy_schema_text() -> str:
    """The schema as JSON: a document is a DeschedulerPolicy or a DeschedulerConfiguration."""
    upstream, koordinator = _upstream(), _koordinator()
    shared = upstream.keys() & koordinator.keys()
    if odd := [name for name in shared if upstream[name] != koordinator[name]]:
        raise TypeError(f"different parts of policies have one name: {', '.join(odd)}")
    schema = {
        "$schema": _DIALECT,
        "$id": _ID,
        "title": "Policy of descheduler",
        "description": f"A {_UPSTREAM} or a {_KOORDINATOR}, {_API_VERSION}.",
        "oneOf": [_reference(_UPSTREAM), _reference(_KOORDINATOR)],
        "$defs": dict(sorted((upstream | koordinator).items())),
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _upstream() -> JsonObject:
    known = {name: spec for name, spec in REGISTRY.items() if not spec.native}
    parts = _Parts(_UPSTREAM, known)
    for key, point in profile.POINTS.items():
        parts.sets[key] = parts.plugin_set(_names(known, {point}), lambda names: names)
    for key in ("presort", "sort"):
        parts.sets[key] = parts.plugin_set(None, lambda names: names)
    parts.add_document(descheduler_policy.DeschedulerPolicySection)
    return parts.definitions


def _koordinator() -> JsonObject:
    parts = _Parts(_KOORDINATOR, REGISTRY)
    for key, points in POINTS.items():
        parts.sets[key] = parts.plugin_set(_names(REGISTRY, points), _by_reference)
    parts.add_document(descheduler_configuration.DeschedulerConfigurationSection)
    return parts.definitions


def _by_reference(names: JsonObject) -> JsonObject:
    return {"type": "object", "properties": {"name": names}, "required": ["name"], "additionalProperties": False}


def _names(registry: Registry, points: frozenset[ExtensionPoint] | set[ExtensionPoint]) -> list[str]:
    return [name for name, spec in registry.items() if spec.extension_points & points]


def _reference(name: str) -> JsonObject:
    return {"$ref": f"#/$defs/{name}"}


class _Parts:
    """The definitions of one kind of document. `sets` are the plugin sets of its profiles, by key."""

    def __init__(self, kind: str, registry: Registry) -> None:
        self.definitions: JsonObject = {}
        self.sets: JsonObject = {}
        self._kind = kind
        self._registry = registry

    def add_document(self, section: type[msgspec.Struct]) -> None:
        """Defines the document and all its parts."""
        document = self._object(section, section())
        document["type"] = "object"
        document["properties"]["apiVersion"] |= {"const": _API_VERSION}
        document["properties"]["kind"] |= {"const": self._kind}
        self.definitions[self._kind] = document | {"required": ["apiVersion", "kind"]}

    def plugin_set(self, names: list[str] | None, entry: Callable[[JsonObject], JsonObject]) -> JsonObject:
        """A set that enables plugins of `names`, or any; `entry` makes an entry from the schema of a name."""
        known: JsonObject = {"type": "string"} if names is None else {"enum": names}
        properties = {
            "enabled": _list(entry(known)),
            "disabled": _list(entry({"type": "string"})),
        }
        return {"type": ["object", "null"], "properties": properties, "additionalProperties": False}

    def _object(self, cls: type[msgspec.Struct], defaults: msgspec.Struct) -> JsonObject:
        docs = attribute_docs(cls)
        info = inspect.type_info(cls)
        assert isinstance(info, inspect.StructType)  # noqa: S101 - it is a Struct
        properties = {}
        for field in info.fields:
            described = self._field(cls, field)
            if field.name in docs:
                described = {"description": docs[field.name], **described}
            value = plain_value(getattr(defaults, field.name))
            properties[field.encode_name] = described | ({} if value in (None, "", [], {}) else {"default": value})
        return {"type": ["object", "null"], "properties": properties, "additionalProperties": False}

    def _field(self, cls: type[msgspec.Struct], field: inspect.Field) -> JsonObject:
        if cls in (profile.PluginsSection, KoordinatorPluginsSection):
            return dict(self.sets[field.encode_name])
        return self._type(field.type)

    def _type(self, info: inspect.Type) -> JsonObject:
        match info:
            case inspect.BoolType():
                return {"type": "boolean"}
            case inspect.StrType():
                return {"type": "string"} | ({"pattern": info.pattern} if info.pattern else {})
            case inspect.IntType():
                return {"type": "integer", **_bounds(info.ge, info.le)}
            case inspect.FloatType():
                return {"type": "number", **_bounds(info.ge, info.le)}
            case inspect.TimeDeltaType():
                return {"type": "string", "pattern": DURATION_PATTERN}
            case inspect.StructType(cls=cls):
                return self._part(cls)
            case inspect.VarTupleType(item_type=item):
                return _list(self._type(item))
            case inspect.DictType(value_type=value):
                return {"type": ["object", "null"], "additionalProperties": self._type(value)}
            case inspect.Metadata(type=annotated, extra_json_schema=extra):
                return {**self._type(annotated), **(extra or {})}
            case inspect.UnionType(types=types):
                return self._union([option for option in types if not isinstance(option, inspect.NoneType)])
            case _:
                raise TypeError(f"no schema for the type {info!r}; add it")

    def _union(self, options: list[inspect.Type]) -> JsonObject:
        schemas = [self._type(option) for option in options]
        return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}

    def _part(self, cls: type[msgspec.Struct]) -> JsonObject:
        """A reference to the definition of an object, which is made when it is first met."""
        is_own = cls.__module__.startswith(("descheduler.policy.upstream.", "descheduler.policy.koordinator."))
        name = cls.__name__.removesuffix("Section").removeprefix("Koordinator")
        name = f"{self._kind}{name}" if is_own or cls is PluginConfigSection else name
        if name not in self.definitions:
            self.definitions[name] = {}
            made = self._plugin_config() if cls is PluginConfigSection else self._object(cls, cls())
            self.definitions[name] = {"description": paragraphs(docstring(cls))[0], **made}
        return _reference(name)

    def _plugin_config(self) -> JsonObject:
        """An entry of `pluginConfig`, whose name tells what its arguments are."""
        docs = attribute_docs(PluginConfigSection)
        cases = [_case(name, self._args(spec)) for name, spec in self._registry.items()]
        return {
            "type": ["object", "null"],
            "properties": {
                "name": {"description": docs["name"], "enum": list(self._registry)},
                "args": {"description": docs["args"], "type": ["object", "null"]},
            },
            "required": ["name"],
            "additionalProperties": False,
            "allOf": cases,
        }

    def _args(self, spec: PluginSpec[Any]) -> JsonObject:
        """A reference to the arguments of a plugin, which may name their own version and kind."""
        made = self._object(spec.args_type, spec.defaults(spec.args_type()))
        kind = {"const": f"{spec.name}Args"} if spec.native else {"type": "string"}
        made["properties"] |= {"apiVersion": {"type": "string"}, "kind": kind}
        name = spec.args_type.__name__
        self.definitions[name] = {"description": f"Arguments of {spec.name}. {purpose_of(spec)}", **made}
        return _reference(name)


def _case(name: str, args: JsonObject) -> JsonObject:
    named = {"properties": {"name": {"const": name}}, "required": ["name"]}
    return {"if": named, "then": {"properties": {"args": args}}}


def _list(items: JsonObject) -> JsonObject:
    return {"type": ["array", "null"], "items": items}


def _bounds(least: float | None, most: float | None) -> Mapping[str, float]:
    bounds = {"minimum": least, "maximum": most}
    return {key: bound for key, bound in bounds.items() if bound is not None and abs(bound) < 2**_MOST_BITS}


def schema_text(document: type[Fields]) -> str:
    """The schema of a document as JSON, made from its type."""
    schema = {"$schema": _DIALECT, "title": document.__name__.removesuffix("Document"), **msgspec.json.schema(document)}
    return msgspec.json.format(msgspec.json.encode(schema, order="deterministic"), indent=2).decode() + "\n"


if __name__ == "__main__":
    for name, document_type in DOCUMENTS.items():
        schema_file(name).write_text(schema_text(document_type), "utf-8")
    schema_file("policy").write_text(policy_schema_text(), "utf-8")
