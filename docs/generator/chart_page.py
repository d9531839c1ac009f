"""The README of the chart, from the schema of its values and their defaults."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from docs.generator.markdown import page, table, wrapped

CHART = Path(__file__).parents[2] / "cronjob" / "chart"

_INTRODUCTION = """\
Installs the descheduler as a CronJob. The values are those of the chart of kubernetes-sigs/descheduler, so a value
file for that chart works unchanged. With `kind: Deployment` one process [runs in a
loop](../../docs/how-to/operate.md#run-in-a-loop). That chart's image is ignored. No image is published: see [how to
build and set the image](../README.md#the-image). A key that the chart does not know is ignored and named after the
installation. A key that looks like a misspelt key of the chart is refused."""

_INSTALLATION = """\
helm install descheduler cronjob/chart --namespace kube-system --set image.repository=registry.example/descheduler"""

_AFTERWARDS = """\
Helm shows the limits of each run after an installation or upgrade. `dryRun: true` only shows what would be
evicted, and gives no right to evict."""

_LONG = 60
"""A default with more characters is left to values.yaml."""


def make_page() -> str:
    """The whole page."""
    return page("Chart descheduler", _lines())


def _lines() -> Iterator[str]:
    yield from wrapped(" ".join(_INTRODUCTION.split()))
    yield from ("```sh", _INSTALLATION, "```", "")
    yield from wrapped(" ".join(_AFTERWARDS.split()))
    yield from ("## Values", "")
    schema = json.loads((CHART / "values.schema.json").read_text("utf-8"))
    defaults = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    rows = list(_rows(schema, schema["properties"], defaults))
    yield from table(("Value", "Default", "Meaning"), rows)
    yield from ("## Values without effect", "")
    yield from wrapped(schema["definitions"]["without-effect"]["description"])
    yield from wrapped(", ".join(f"`{name}`" for name in _without_effect(schema)) + ".")


def _rows(
    schema: Mapping[str, Any], properties: Mapping[str, Any], defaults: Mapping[str, Any], prefix: str = ""
) -> Iterator[list[str]]:
    """A row for each value with a description; values inside a value without one have rows of their own."""
    for name, value in properties.items():
        if name in _without_effect(schema) or (not prefix and name not in defaults):
            continue
        if "description" in value:
            yield [f"`{prefix}{name}`", _default(defaults[name]), value["description"]]
        else:
            yield from _rows(schema, value["properties"], defaults[name], f"{name}.")


def _default(value: object) -> str:
    text = json.dumps(value)
    return f"`{text}`" if len(text) <= _LONG else "see `values.yaml`"


def _without_effect(schema: Mapping[str, Any]) -> list[str]:
    return [name for name, value in schema["properties"].items() if value == {"$ref": "#/definitions/without-effect"}]
