"""The schedulers that are modelled: one table, a row for each of them. Importing it imports none of their code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from descheduler.documents.document import Document
from descheduler.model.kube_version import KubeVersion
from descheduler.placement.schedulers import koord_scheduler, volcano
from descheduler.placement.schedulers.row import SchedulerRow

if TYPE_CHECKING:
    from descheduler.placement.configuration.kube_scheduler.configuration import SchedulerConfiguration
    from descheduler.placement.configuration.kube_scheduler.plugin_args import PluginSettings


def _read(
    document: Document,
    version: KubeVersion,
    plugins: Mapping[str, PluginSettings],
    made_of: Mapping[str, KubeVersion],
) -> SchedulerConfiguration:
    from descheduler.placement.configuration.kube_scheduler.configuration import scheduler_configuration

    return scheduler_configuration(document, version=version, plugins=plugins, made_of=made_of)


KUBE_SCHEDULER = SchedulerRow(name="default-scheduler", document_kind="KubeSchedulerConfiguration", read=_read)
"""kube-scheduler, by the name of its only profile as it comes. A document may name its profiles otherwise."""

SCHEDULERS: Mapping[str, SchedulerRow] = {row.name: row for row in (KUBE_SCHEDULER, koord_scheduler.ROW, volcano.ROW)}
"""By the name that pods give. A document sets up further ones that are made of kube-scheduler."""

ASSUMED = tuple(name for name, row in SCHEDULERS.items() if row.is_assumed and row.model is None)
"""Those made of kube-scheduler whose pods are checked although nothing names them, unless a policy names others."""

ALWAYS_ASSUMED = tuple(name for name, row in SCHEDULERS.items() if row.is_assumed and row.model is not None)
"""The schedulers of another kind whose pods are checked whatever a policy names."""
