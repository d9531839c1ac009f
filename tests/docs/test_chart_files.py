"""The alerts and the dashboard of the chart hold every metric, and what Prometheus and Grafana need."""

from __future__ import annotations

import re
from typing import Any

import jsonschema
import msgspec
import pytest
import yaml

from descheduler.telemetry.metrics.table import METRICS
from docs.generate import REFERENCE
from docs.generator.chart_files import ALERTS, alerts_file, dashboard

NAMES = {spec.name for spec in METRICS}

_DATASOURCE = {"type": "object", "required": ["type", "uid"], "additionalProperties": {"type": "string"}}
_PANEL = {
    "type": "object",
    "required": ["id", "type", "title", "gridPos", "datasource", "targets", "fieldConfig", "options"],
    "properties": {
        "id": {"type": "integer", "minimum": 1},
        "type": {"const": "timeseries"},
        "title": {"type": "string", "minLength": 3},
        "description": {"type": "string"},
        "datasource": _DATASOURCE,
        "gridPos": {
            "type": "object",
            "required": ["h", "w", "x", "y"],
            "properties": {
                "h": {"type": "integer", "minimum": 1},
                "w": {"type": "integer", "minimum": 1, "maximum": 24},
                "x": {"type": "integer", "minimum": 0, "maximum": 23},
                "y": {"type": "integer", "minimum": 0},
            },
            "additionalProperties": False,
        },
        "fieldConfig": {
            "type": "object",
            "required": ["defaults", "overrides"],
            "properties": {"defaults": {"type": "object"}, "overrides": {"type": "array"}},
            "additionalProperties": False,
        },
        "options": {"type": "object"},
        "targets": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "object", "required": ["refId", "expr", "legendFormat", "datasource"]},
        },
    },
    "additionalProperties": False,
}
DASHBOARD = {
    "type": "object",
    "required": ["uid", "title", "schemaVersion", "time", "templating", "panels", "annotations", "editable"],
    "properties": {
        "uid": {"type": "string", "maxLength": 40},
        "title": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "schemaVersion": {"type": "integer", "minimum": 36},
        "version": {"type": "integer"},
        "editable": {"type": "boolean"},
        "timezone": {"enum": ["browser", "utc", ""]},
        "refresh": {"type": "string", "pattern": "^[0-9]+[smhd]$"},
        "time": {"type": "object", "required": ["from", "to"]},
        "annotations": {"type": "object", "required": ["list"]},
        "links": {"type": "array"},
        "templating": {
            "type": "object",
            "required": ["list"],
            "properties": {
                "list": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["name", "type", "query"],
                        "properties": {"type": {"enum": ["datasource", "query"]}, "hide": {"enum": [0, 1, 2]}},
                    },
                }
            },
        },
        "panels": {"type": "array", "items": _PANEL},
    },
    "additionalProperties": False,
}
"""The fields of dashboards of Grafana 10 and later that are used, as its documentation of the JSON model has them."""


def panels() -> list[dict[str, Any]]:
    """The panels of the dashboard."""
    found: list[dict[str, Any]] = msgspec.to_builtins(dashboard())["panels"]
    return found


def metrics_in(expression: str) -> set[str]:
    """The metrics that an expression names."""
    return {name.removesuffix("_bucket") for name in re.findall(r"descheduler_\w+", expression)}


def test_dashboard_has_the_fields_that_grafana_reads() -> None:
    jsonschema.Draft7Validator(DASHBOARD).validate(msgspec.to_builtins(dashboard()))


def test_dashboard_has_a_panel_for_every_metric_and_no_other() -> None:
    shown = [metrics_in(panel["targets"][0]["expr"]) for panel in panels()]

    assert shown == [{spec.name} for spec in METRICS]


def test_panels_have_places_and_ids_of_their_own() -> None:
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels()}

    assert len(places) == len({panel["id"] for panel in panels()}) == len(METRICS)


def test_panels_show_labels_that_their_metric_has() -> None:
    for panel, spec in zip(panels(), METRICS, strict=True):
        shown = set(re.findall(r"\{\{(\w+)\}\}", panel["targets"][0]["legendFormat"]))
        assert shown <= {"job", *spec.labels}
        assert panel["description"] == spec.help


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert.name)
def test_alert_asks_for_a_metric_and_labels_that_there_are(alert: Any) -> None:
    (spec,) = [spec for spec in METRICS if spec.name == alert.metric]

    labels = set(re.findall(r"[{,](\w+)=", alert.expression())) | set(re.findall(r"\$labels\.(\w+)", alert.summary))
    assert metrics_in(alert.expression()) == {alert.metric}
    assert labels <= set(spec.labels)


def test_alerts_are_those_of_the_how_to() -> None:
    shown = (REFERENCE.parent / "how-to" / "operate.md").read_text("utf-8")

    (group,) = yaml.safe_load(alerts_file())["groups"]
    assert [rule["alert"] for rule in group["rules"]] == [alert.name for alert in ALERTS]
    assert [rule["expr"] for rule in group["rules"] if rule["expr"] not in shown] == []
