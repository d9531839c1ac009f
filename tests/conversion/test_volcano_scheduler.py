"""A volcano-scheduler.conf with the plugin rescheduling becomes a profile, and what is lost is listed."""

from __future__ import annotations

from pathlib import Path

import pytest

from descheduler.conversion.conversion import Conversion
from descheduler.conversion.table import convert_file
from descheduler.cycle.plugins import REGISTRY
from descheduler.documents.problems import PolicyError
from descheduler.policy.load import load_policy
from tests.builders import Object

HEAD = """\
actions: "enqueue, allocate, backfill, shuffle"
metrics: {type: prometheus, address: "http://prometheus:9090", interval: 30s}
tiers:
- plugins:
  - name: gang
"""
LOW_NODE_UTILIZATION = "{name: lowNodeUtilization, params: {thresholds: {cpu: 20}, targetThresholds: {cpu: 50}}}"


def rescheduling(arguments: str) -> str:
    return f"{HEAD}- plugins:\n  - name: rescheduling\n    arguments: {{{arguments}}}\n"


def convert(folder: Path, text: str) -> Conversion:
    file = folder / "volcano-scheduler.conf"
    file.write_text(text)
    conversion = convert_file(file)
    load_policy(conversion.document, REGISTRY)  # it is one that runs
    return conversion


def args_of(conversion: Conversion) -> Object:
    policy = load_policy(conversion.document, REGISTRY)
    assert policy.profiles[0].balance == ("Rescheduling",)
    profiles = conversion.document["profiles"]
    assert isinstance(profiles, list)
    args: Object = profiles[0]["pluginConfig"][0]["args"]
    return args


def notes_of(conversion: Conversion) -> list[str]:
    return [f"{note.line}: {note.field.split('.')[-1]} {note.message}" for note in conversion.notes]


def test_thresholds_period_and_prometheus_are_kept(tmp_path: Path) -> None:
    conversion = convert(tmp_path, rescheduling(f"metricsPeriod: 10m, strategies: [{LOW_NODE_UTILIZATION}]"))

    assert args_of(conversion) == {
        "metricsPeriod": "10m",
        "strategies": [
            {"name": "lowNodeUtilization", "params": {"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 50}}}
        ],
        "metrics": {"type": "prometheus", "address": "http://prometheus:9090"},
    }
    assert conversion.notes == ()


def test_conversion_reads_its_config_map(tmp_path: Path) -> None:
    inner = rescheduling(f"metricsPeriod: 10m, strategies: [{LOW_NODE_UTILIZATION}]").replace("\n", "\n    ")
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: v}}\ndata:\n  volcano-scheduler.conf: |\n    {inner}"

    assert args_of(convert(tmp_path, text))["metricsPeriod"] == "10m"


def test_what_is_lost_is_listed_with_its_line(tmp_path: Path) -> None:
    params = "{thresholds: {cpu: 20, pods: 20}, nodeFit: true}"
    strategies = f"[{{name: offlineOnly}}, {{name: lowNodeUtilization, params: {params}}}]"

    conversion = convert(tmp_path, rescheduling(f"interval: 5m, strategies: {strategies}"))

    assert notes_of(conversion) == [
        "8: metricsPeriod is 5m: Volcano keeps averages over 10m alone, and evicts nothing",
        "8: interval is not converted; set the schedule of the CronJob in its place",
        "8: name 'offlineOnly' is not converted; Volcano has lowNodeUtilization alone",
        "8: pods is not converted; Volcano measures cpu and memory alone",
        "8: nodeFit is not converted; Volcano reads it and does not use it",
    ]


def test_other_plugins_of_the_action_and_a_missing_action_are_listed(tmp_path: Path) -> None:
    text = rescheduling(f"metricsPeriod: 10m, strategies: [{LOW_NODE_UTILIZATION}]").replace("name: gang", "name: tdm")

    assert notes_of(convert(tmp_path, text)) == [
        "5: name tdm selects pods for the action shuffle too; this is not converted"
    ]
    assert notes_of(convert(tmp_path, text.replace(", shuffle", "").replace("prometheus,", "elasticsearch,"))) == [
        "1: actions does not name shuffle, so that Volcano evicts nothing by rescheduling; the profile does",
        "2: type 'elasticsearch' is not read; the metrics server is asked",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(HEAD, "plugin rescheduling is not enabled", id="no such plugin"),
        pytest.param(
            rescheduling("strategies: [{name: offlineOnly}]"), "does not name lowNodeUtilization", id="other strategies"
        ),
        pytest.param(rescheduling("strategies: []"), "does not name lowNodeUtilization", id="no strategy"),
        pytest.param("kind: Deployment\napiVersion: apps/v1\n", "is not a DeschedulerPolicy or", id="something else"),
        pytest.param("a: [", "1:", id="no YAML"),
    ],
)
def test_what_cannot_be_converted_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        convert(tmp_path, text)


def test_plugin_without_arguments_has_the_defaults_of_volcano(tmp_path: Path) -> None:
    conversion = convert(tmp_path, f"{HEAD}- plugins:\n  - name: rescheduling\n")

    assert args_of(conversion) == {
        "metricsPeriod": "5m",
        "metrics": {"type": "prometheus", "address": "http://prometheus:9090"},
    }
    assert [note.partition(" ")[2].partition(":")[0] for note in notes_of(conversion)] == ["metricsPeriod is 5m"]
