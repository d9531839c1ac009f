"""kube-scheduler, by the name of its only profile as it comes. A document may name its profiles otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from descheduler.documents.document import Document
from descheduler.model.kube_version import KubeVersion
from descheduler.placement.schedulers.row import SchedulerRow

if TYPE_CHECKING:
    from descheduler.placement.configuration.kube_scheduler.configuration import SchedulerConfiguration
    from descheduler.placement.configuration.kube_scheduler.plugin_args import PluginSettings

__all__ = ["ROW"]


def _read(
    document: Document,
    version: KubeVersion,
    plugins: Mapping[str, PluginSettings],
    made_of: Mapping[str, KubeVersion],
) -> SchedulerConfiguration:
    from descheduler.placement.configuration.kube_scheduler.configuration import scheduler_configuration

    return scheduler_configuration(document, version=version, plugins=plugins, made_of=made_of)


ROW = SchedulerRow(name="default-scheduler", document_kind="KubeSchedulerConfiguration", read=_read)
