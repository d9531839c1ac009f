"""Configurations of the schedulers of a table: what documents say, and what is known of names that none has.

A scheduler of the table runs as its row says. Of any other it is taken that it is made of kube-scheduler and runs the
first profile of the configuration; what else it runs is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec.structs import replace

from descheduler.documents.document import Document, find
from descheduler.documents.problems import shown
from descheduler.documents.source import read_document
from descheduler.model.kube_version import KubeVersion
from descheduler.placement.configuration.kube_scheduler.configuration import (
    SchedulerConfiguration,
    default_configuration,
)
from descheduler.placement.configuration.kube_scheduler.plugin_args import PluginSettings
from descheduler.placement.schedulers.row import SchedulerRow
from descheduler.placement.schedulers.table import KUBE_SCHEDULER, SCHEDULERS

_NO_RELEASES: Mapping[str, str] = {}


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
    releases: Mapping[str, str] = _NO_RELEASES,
) -> SchedulerConfiguration:
    """The configuration in `document`, read by the scheduler of its kind, and by kube-scheduler for any other kind.

    `releases` are of schedulers, by name. Raises PolicyError with every problem found.
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
    if row is None or row.run_as is None or row.name not in releases:
        return with_releases(read(document, version, plugins, made_of), releases, schedulers)
    others = {row.name: row.run_as(document, releases[row.name])}
    left = {name: release for name, release in releases.items() if name != row.name}
    return with_releases(replace(default_configuration(version, plugins), others=others), left, schedulers)


def with_releases(
    configuration: SchedulerConfiguration,
    releases: Mapping[str, str],
    schedulers: Mapping[str, SchedulerRow] = SCHEDULERS,
) -> SchedulerConfiguration:
    """`configuration` with the releases of schedulers that it does not set up; see `release_problem`."""
    found = ((name, schedulers[name].run_as, release) for name, release in releases.items())
    others = {name: run_as(None, release) for name, run_as, release in found if run_as is not None}
    return replace(configuration, others={**configuration.others, **others}) if others else configuration


def release_problem(name: str, release: str) -> str:
    """What is wrong with a release of a scheduler; an empty string for nothing."""
    versioned = [each.name for each in SCHEDULERS.values() if each.run_as is not None]
    row = SCHEDULERS.get(name)
    if row is None or row.run_as is None:
        return f"{shown(name)} is not a scheduler that has releases of its own: {', '.join(versioned)}"
    try:
        row.run_as(None, release)
    except ValueError as error:
        return str(error)
    return ""


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
