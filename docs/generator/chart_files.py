"""Files of the chart that are made: profiles with their schedulers, alerts, a dashboard, and what plugins read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import yaml

from descheduler.telemetry.metrics.table import LAST_SUCCESS, METRICS, MetricSpec, spec_of
from docs.generator.chart_readers import readers_template

_CONFIG = Path(__file__).parents[2] / "config"
_MADE = "# Made by `python -m docs.generate`; edit {} instead.\n"
_COLUMNS, _WIDTH, _HEIGHT = 24, 8, 7


class Alert(msgspec.Struct, frozen=True):
    """One alert: when it fires, on which metric, and what the operator does then."""

    name: str
    metric: str
    condition: str
    """Expression of PromQL in which `{}` stands for the metric."""
    summary: str

    def expression(self) -> str:
        """The whole condition. Raises KeyError for a metric that is not in the table."""
        return self.condition.format(spec_of(self.metric).name)


ALERTS = (
    Alert(
        "DeschedulerNoSuccess",
        LAST_SUCCESS,
        "time() - {} > 3600",
        "No run of the descheduler was successful for {{ $value | humanizeDuration }}; read the log of its last Job",
    ),
    Alert(
        "DeschedulerRunFailed",
        "descheduler_run_exit_code",
        "{0} == 1 or {0} == 2",
        "The last run of the descheduler failed with exit code {{ $value }}; read the log of its Job",
    ),
    Alert(
        "DeschedulerRunStopped",
        "descheduler_run_exit_code",
        "{0} == 4 or {0} == 130 or {0} == 143",
        "The last run of the descheduler was stopped with exit code {{ $value }}; it can have evicted pods",
    ),
    Alert(
        "DeschedulerOutcomeUnknown",
        "descheduler_eviction_outcomes",
        '{}{{code="outcome-unknown"}} > 0',
        "The API server gave no clear answer to {{ $value }} evictions; check these pods with kubectl get pod",
    ),
    Alert(
        "DeschedulerReservationUnused",
        "descheduler_eviction_outcomes",
        '{}{{code="reservation-unused"}} > 0',
        "Replacement pods did not use their Reservations; enable Reservation under reserve in koord-scheduler",
    ),
    Alert(
        "DeschedulerPluginFailed",
        "descheduler_strategy_failures",
        "max by (strategy) ({}) > 0",
        "The plugin {{ $labels.strategy }} of the descheduler failed in the last run",
    ),
)
"""Alerts to begin with, in the order of docs/how-to/operate.md."""


def chart_files() -> Mapping[str, str]:
    """Path below the chart → content."""
    profiles = {f"profiles/{path.name}": _profile(path) for path in sorted((_CONFIG / "profiles").glob("*.yaml"))}
    schedulers = sorted((_CONFIG / "schedulers").iterdir())
    return {
        **profiles,
        **{f"schedulers/{path.name}": path.read_text("utf-8") for path in schedulers},
        "monitoring/alerts.yaml": alerts_file(),
        "monitoring/dashboard.json": json.dumps(dashboard(), indent=1, ensure_ascii=False) + "\n",
        "templates/_readers.tpl": readers_template(),
    }


def _profile(path: Path) -> str:
    """The profile with the configuration of its scheduler beside it, as they are mounted."""
    return path.read_text("utf-8").replace("schedulerConfigFile: ../schedulers/", "schedulerConfigFile: ")


def alerts_file() -> str:
    """The groups of rules as Prometheus reads them."""
    rules = [
        {
            "alert": alert.name,
            "expr": alert.expression(),
            "labels": {"severity": "warning"},
            "annotations": {"summary": alert.summary},
        }
        for alert in ALERTS
    ]
    groups = {"groups": [{"name": "descheduler", "rules": rules}]}
    return _MADE.format("docs/generator/chart_files.py") + yaml.safe_dump(groups, sort_keys=False, width=1000)


def dashboard() -> Mapping[str, object]:
    """A dashboard of Grafana with a panel for each metric, in the order of the table."""
    return {
        "uid": "descheduler",
        "title": "Descheduler",
        "tags": ["kubernetes", "descheduler"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "timezone": "browser",
        "refresh": "1m",
        "time": {"from": "now-24h", "to": "now"},
        "annotations": {"list": []},
        "links": [],
        "templating": {"list": list(_variables())},
        "panels": [_panel(index, spec) for index, spec in enumerate(METRICS)],
    }


def _variables() -> Iterator[Mapping[str, object]]:
    yield {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus", "hide": 0}
    query = f"label_values({spec_of('descheduler_run_timestamp_seconds').name}, job)"
    yield {
        "name": "job",
        "label": "Job",
        "type": "query",
        "datasource": _datasource(),
        "definition": query,
        "query": {"query": query, "refId": "job"},
        "refresh": 2,
        "includeAll": True,
        "multi": True,
        "allValue": ".*",
        "current": {"text": ["All"], "value": ["$__all"]},
        "hide": 0,
    }


def _datasource() -> Mapping[str, str]:
    return {"type": "prometheus", "uid": "${datasource}"}


def _panel(index: int, spec: MetricSpec) -> Mapping[str, object]:
    per_row = _COLUMNS // _WIDTH
    return {
        "id": index + 1,
        "type": "timeseries",
        "title": _title(spec),
        "description": spec.help,
        "datasource": _datasource(),
        "gridPos": {
            "h": _HEIGHT,
            "w": _WIDTH,
            "x": index % per_row * _WIDTH,
            "y": index // per_row * _HEIGHT,
        },
        "fieldConfig": {"defaults": {"unit": _unit(spec), "min": 0}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
        "targets": [
            {"refId": "A", "datasource": _datasource(), "expr": _query(spec), "legendFormat": _legend(spec)},
        ],
    }


def _title(spec: MetricSpec) -> str:
    words = spec.name.removeprefix("descheduler_").removesuffix("_total").removesuffix("_seconds").split("_")
    if spec.type == "histogram":
        words.append("(95th percentile)")
    if _is_time(spec):
        words = ["time since", *(word for word in words if word != "timestamp")]
    return " ".join(words).capitalize()


def _is_time(spec: MetricSpec) -> bool:
    return spec.name.endswith("timestamp_seconds")


def _unit(spec: MetricSpec) -> str:
    return "s" if spec.name.endswith("_seconds") else "short"


def _query(spec: MetricSpec) -> str:
    """Each value is that of the last run, so that rates have no meaning."""
    selector = '{job=~"$job"}'
    if spec.type == "histogram":
        return f"histogram_quantile(0.95, sum by ({', '.join(('le', *_kept(spec)))}) ({spec.name}_bucket{selector}))"
    if _is_time(spec):
        return f"time() - {spec.name}{selector}"
    return f"sum by ({', '.join(_kept(spec))}) ({spec.name}{selector})"


def _kept(spec: MetricSpec) -> tuple[str, ...]:
    """The labels of a series; those with a value for each node or namespace would be too many."""
    return ("job", *(label for label in spec.labels if label not in ("namespace", "node")))


def _legend(spec: MetricSpec) -> str:
    return " ".join(f"{{{{{label}}}}}" for label in _kept(spec))
