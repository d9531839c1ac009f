"""The plugin rescheduling of a `volcano-scheduler.conf`, made into a profile that runs Rescheduling."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.conversion.conversion import Conversion, ConversionNotes, configuration_of
from descheduler.documents.document import Document, TreeNode, find, items_of, member_node, to_plain
from descheduler.documents.problems import DocumentProblem, PolicyError, shown
from descheduler.placement.configuration.volcano import is_volcano_configuration
from descheduler.strategies.node_utilization.sampled_usage import PROMETHEUS
from descheduler.strategies.rescheduling import LOW_NODE_UTILIZATION

_NAME = "rescheduling"
_SHUFFLE = "shuffle"
_OTHERS_OF_SHUFFLE = ("pdb", "tdm")
"""Plugins that select pods for the action shuffle as well."""

is_volcano_scheduler = is_volcano_configuration


def convert_volcano_scheduler(document: Document) -> Conversion:
    """The profile, and what of the plugin and of the action shuffle it does not do. Raises PolicyError without it."""
    plugins = list(_plugins(document.root))
    path = next((path for path, name in plugins if name == _NAME), None)
    if path is None:
        raise PolicyError([_problem(document, f"plugin {_NAME} is not enabled; there is nothing to convert")])
    notes = ConversionNotes(document)
    _note_others(notes, plugins)
    args = _args(notes, (*path, "arguments"))
    metrics = _metrics(notes)
    profile: dict[str, object] = {
        "name": "volcano-rescheduling",
        "pluginConfig": [{"name": "Rescheduling", "args": {**args, **({"metrics": metrics} if metrics else {})}}],
        "plugins": {"balance": {"enabled": [{"name": "Rescheduling"}]}},
    }
    return notes.of(configuration_of([profile]))


def _plugins(root: TreeNode) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The place and the name of each plugin of the tiers."""
    for tier, members in enumerate(items_of(find(root, ("tiers",)))):
        for place, plugin in enumerate(items_of(member_node(members, "plugins"))):
            yield ("tiers", tier, "plugins", place), str(member_node(plugin, "name").value or "")


def _note_others(notes: ConversionNotes, plugins: list[tuple[tuple[str | int, ...], str]]) -> None:
    actions = [name.strip() for name in str(member_node(notes.document.root, "actions").value or "").split(",")]
    if _SHUFFLE not in actions:
        notes.add(
            ("actions",), f"does not name {_SHUFFLE}, so that Volcano evicts nothing by {_NAME}; the profile does"
        )
    for path, name in plugins:
        if name in _OTHERS_OF_SHUFFLE and _SHUFFLE in actions:
            notes.add((*path, "name"), f"{name} selects pods for the action {_SHUFFLE} too; this is not converted")


def _args(notes: ConversionNotes, path: tuple[str | int, ...]) -> dict[str, object]:
    """The arguments that Rescheduling has as well."""
    given = to_plain(find(notes.document.root, path))
    given = given if isinstance(given, dict) and "name" not in given else {}
    for key in given.keys() - {"metricsPeriod", "strategies"}:
        is_interval = key == "interval"
        why = "set the schedule of the CronJob in its place" if is_interval else "Volcano does not read it either"
        notes.add((*path, key), f"is not converted; {why}")
    period = str(given.get("metricsPeriod", "5m"))
    if period != "10m":
        notes.add((*path, "metricsPeriod"), f"is {period}: Volcano keeps averages over 10m alone, and evicts nothing")
    strategies = given.get("strategies")
    if not isinstance(strategies, list):
        return {"metricsPeriod": period}
    kept = [_strategy(notes, strategy, (*path, "strategies", index)) for index, strategy in enumerate(strategies)]
    found = [strategy for strategy in kept if strategy]
    if not found:
        message = f"strategies does not name {LOW_NODE_UTILIZATION}; there is nothing to convert"
        raise PolicyError([_problem(notes.document, message)])
    return {"metricsPeriod": period, "strategies": found}


def _problem(document: Document, message: str) -> DocumentProblem:
    return DocumentProblem(document.path, None, None, "tiers", message)


def _strategy(notes: ConversionNotes, given: object, path: tuple[str | int, ...]) -> dict[str, object] | None:
    strategy = given if isinstance(given, dict) else {}
    name = strategy.get("name")
    if name != LOW_NODE_UTILIZATION:
        notes.add((*path, "name"), f"{shown(str(name))} is not converted; Volcano has {LOW_NODE_UTILIZATION} alone")
        return None
    params = strategy.get("params") or strategy.get("parameters")
    kept: dict[str, object] = {}
    for key, value in params.items() if isinstance(params, dict) else ():
        if key not in ("thresholds", "targetThresholds"):
            notes.add((*path, "params", key), "is not converted; Volcano reads it and does not use it")
            continue
        percents = value if isinstance(value, dict) else {}
        kept[key] = {resource: percents[resource] for resource in percents if resource in ("cpu", "memory")}
        for resource in percents.keys() - {"cpu", "memory"}:
            notes.add((*path, "params", key, resource), "is not converted; Volcano measures cpu and memory alone")
    return {"name": LOW_NODE_UTILIZATION, "params": kept}


def _metrics(notes: ConversionNotes) -> dict[str, object] | None:
    """Where Volcano measures, as far as this program can read it."""
    stated = to_plain(member_node(notes.document.root, "metrics"))
    if not isinstance(stated, dict):
        notes.add(("metrics",), "is missing; usage is read from the metrics server")
        return None
    kind = str(stated.get("type"))
    if kind != PROMETHEUS:
        notes.add(("metrics", "type"), f"{shown(kind)} is not read; the metrics server is asked")
        return None
    return {key: value for key, value in stated.items() if key in ("type", "address") and value}
