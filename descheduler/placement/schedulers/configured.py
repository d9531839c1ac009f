"""Configurations of the schedulers of a table: what documents say, and what is known of names that none has.

A scheduler of the table runs as its row says. Of any other it is taken that it is made of kube-scheduler and runs the
first profile of the configuration; what else it runs is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec.structs import replace

from descheduler.documents.document import Document, find
from descheduler.documents.source import read_document
from descheduler.model.kube_version import KubeVersion
from descheduler.placement.configuration.kube_scheduler.configuration import SchedulerConfiguration
from descheduler.placement.configuration.kube_scheduler.plugin_settings import PluginSettings
from descheduler.placement.schedulers.kube_scheduler import ROW as KUBE_SCHEDULER
from descheduler.placement.schedulers.row import SchedulerRow
from descheduler.placement.schedulers.table import SCHEDULERS

__all__ = ["load_configuration", "read_configuration", "with_profiles_for"]


def load_configuration(
    source: Path | str | Mapping[str, object], version: KubeVersion, plugins: Mapping[str, PluginSettings]
) -> SchedulerConfiguration:
    """As `read_configuration`, of a Path to read, YAML or JSON text, or an object as `json.loads` gives it."""
    return read_configuration(read_document(source, None, "scheduler configuration"), version, plugins)


def read_configuration(
    document: Document,
    version: KubeVersion,
    plugins: Mapping[str, PluginSettings],
    schedulers: Mapping[str, SchedulerRow] = SCHEDULERS,
) -> SchedulerConfiguration:
    """What `document` says, as that one of `schedulers` reads it whose kind it has; of another kind, as kube-scheduler.

    Raises PolicyError with every problem found.
    """
    root = document.root
    kind = find(root, ("kind",)).value if isinstance(root.value, Mapping) else None
    rows = (row for row in schedulers.values() if row.read is not None)
    row = next(
        (row for row in rows if (kind and row.document_kind == kind) or (row.knows and row.knows(document))), None
    )
    read = KUBE_SCHEDULER.read if row is None else row.read
    assert read is not None  # noqa: S101 - its row has one
    made_of = {name: row.made_of for name, row in schedulers.items() if row.made_of is not None}
    return read(document, version, plugins, made_of)


def with_profiles_for(
    names: Iterable[str],
    configuration: SchedulerConfiguration,
    plugins: Mapping[str, PluginSettings],
    schedulers: Mapping[str, SchedulerRow] = SCHEDULERS,
) -> SchedulerConfiguration:
    """`configuration` with what is known of each of `names`, those aside that it sets up itself."""
    taken = {*(profile.scheduler_name for profile in configuration.profiles), *configuration.others}
    profiles, others = list(configuration.profiles), dict(configuration.others)
    for name in dict.fromkeys(names):
        row = schedulers.get(name)
        if name in taken:
            continue
        if row is not None and row.model is not None:
            others[name] = None
        elif row is not None and row.profile is not None:
            profiles.append(row.profile(plugins))
        else:
            profiles.append(replace(configuration.profiles[0], scheduler_name=name))
    return replace(configuration, profiles=tuple(profiles), others=others)
