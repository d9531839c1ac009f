"""Volcano: a session over queues and jobs, which runs as its `volcano-scheduler.conf` says, or as it comes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from descheduler.documents.document import Document
from descheduler.documents.problems import DocumentProblem
from descheduler.model.groups.volcano import (
    GROUP_NAME_ANNOTATION,
    POD_GROUP_KIND,
    QUEUE_KIND,
    QUEUE_NAME_ANNOTATION,
    VOLCANO_ANNOTATIONS,
)
from descheduler.model.kube_version import KubeVersion
from descheduler.placement.schedulers.row import SchedulerRow

if TYPE_CHECKING:
    from descheduler.placement.configuration.kube_scheduler.configuration import SchedulerConfiguration
    from descheduler.placement.configuration.kube_scheduler.plugin_args import PluginSettings
    from descheduler.placement.configuration.volcano import VolcanoConfiguration
    from descheduler.placement.framework.scheduler_model import SchedulerModel
    from descheduler.placement.shadow.shadow_cluster import ShadowCluster

VOLCANO = "volcano"
"""The scheduler of Volcano, as pods name it."""


def _knows(document: Document) -> bool:
    from descheduler.placement.configuration.volcano import is_volcano_configuration

    return is_volcano_configuration(document)


def _check(document: Document) -> Sequence[DocumentProblem]:
    from descheduler.placement.configuration.volcano import volcano_configuration
    from descheduler.placement.volcano.plugins.table import VOLCANO_PLUGINS

    return volcano_configuration(document, modelled=VOLCANO_PLUGINS).warnings


def _read(
    document: Document,
    version: KubeVersion,
    plugins: Mapping[str, PluginSettings],
    made_of: Mapping[str, KubeVersion],
) -> SchedulerConfiguration:
    from descheduler.placement.configuration.kube_scheduler.configuration import default_configuration
    from descheduler.placement.configuration.volcano import volcano_configuration
    from descheduler.placement.volcano.plugins.table import VOLCANO_PLUGINS

    read = volcano_configuration(document, modelled=VOLCANO_PLUGINS)
    return replace(default_configuration(version, plugins), others={VOLCANO: read}, warnings=read.warnings)


def _run_as(document: Document | None, release: str) -> VolcanoConfiguration:
    from descheduler.placement.configuration.volcano import default_volcano_configuration, volcano_configuration
    from descheduler.placement.configuration.volcano_arguments import VolcanoVersion
    from descheduler.placement.volcano.plugins.table import VOLCANO_PLUGINS

    version = VolcanoVersion.parse(release)
    if document is None:
        read = default_volcano_configuration(VOLCANO_PLUGINS, version)
    else:
        read = volcano_configuration(document, modelled=VOLCANO_PLUGINS, version=version)
    return replace(read, is_release_named=True)


def _model(cluster: ShadowCluster, configuration: VolcanoConfiguration | None) -> SchedulerModel:
    from descheduler.placement.configuration.volcano import default_volcano_configuration
    from descheduler.placement.volcano.plugins.table import VOLCANO_PLUGINS
    from descheduler.placement.volcano.scheduler import VolcanoScheduler

    return VolcanoScheduler(cluster, configuration or default_volcano_configuration(VOLCANO_PLUGINS))


ROW = SchedulerRow(
    name=VOLCANO,
    document_name="volcano-scheduler.conf",
    knows=_knows,
    check=_check,
    read=_read,
    run_as=_run_as,
    model=_model,
    is_assumed=True,
    reads_kinds=frozenset({QUEUE_KIND, POD_GROUP_KIND}),
    reads_annotations=(GROUP_NAME_ANNOTATION, QUEUE_NAME_ANNOTATION, *VOLCANO_ANNOTATIONS),
)
