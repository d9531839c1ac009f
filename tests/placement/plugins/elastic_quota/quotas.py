"""ElasticQuotas, the pods in them, and shadow clusters that have both."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from descheduler.cluster.decoding.koordinator.pod_groups import decode_elastic_quota
from descheduler.cluster.snapshot import Snapshot
from descheduler.model.koordinator.elastic_quota import QUOTA_DOMAIN, ElasticQuota
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import (
    SchedulerConfiguration,
    load_scheduler_configuration,
)
from descheduler.placement.plugins.elastic_quota.quota_usage import ELASTIC_QUOTA_KIND
from descheduler.placement.plugins.table import PLUGINS
from tests.builders import make_pod, make_snapshot

Amounts = Mapping[str, str]


def make_quota(
    name: str, *, most: Amounts, least: Amounts | None = None, weight: Amounts | str | None = None, **labels: str
) -> ElasticQuota:
    """The quota `name`; `weight` may be the text of the annotation. Labels are without their domain, `_` for `-`."""
    annotations = {} if weight is None else {"shared-weight": weight if isinstance(weight, str) else json.dumps(weight)}
    return decode(name, labels, annotations, {"min": least or {}, "max": most})


def decode(
    name: str, labels: Amounts, annotations: Amounts, spec: Mapping[str, Any], namespace: str = "koordinator-system"
) -> ElasticQuota:
    metadata = {
        "name": name,
        "namespace": namespace,
        "labels": {f"{QUOTA_DOMAIN}/{key.replace('_', '-')}": value for key, value in labels.items()},
        "annotations": {f"{QUOTA_DOMAIN}/{key}": value for key, value in annotations.items()},
    }
    return decode_elastic_quota(json.dumps({"metadata": metadata, "spec": spec}).encode())


def quota_pod(name: str, quota: str | None, *, is_fixed: bool = False, **facts: Any) -> Pod:
    """A pod of koord-scheduler that names its quota; `is_fixed` is true of one that nobody may preempt."""
    labels = {} if quota is None else {f"{QUOTA_DOMAIN}/name": quota}
    labels |= {f"{QUOTA_DOMAIN}/preemptible": "false"} if is_fixed else {}
    return make_pod(name, labels=labels, **{"scheduler": "koord-scheduler", **facts})


def with_quotas(
    quotas: Iterable[ElasticQuota], nodes: Iterable[Node], pods: Iterable[Pod] = (), **more: Any
) -> Snapshot:
    """A snapshot with quotas in it."""
    return make_snapshot(nodes, pods, objects={ELASTIC_QUOTA_KIND: tuple(quotas)}, **more)


def koordinated(**args: Any) -> SchedulerConfiguration:
    """koord-scheduler with NodeResourcesFit and ElasticQuota, whose arguments these are."""
    enabled = [{"name": "NodeResourcesFit"}, {"name": "ElasticQuota"}]
    plugins = {
        "multiPoint": {"disabled": [{"name": "*"}], "enabled": enabled},
        "queueSort": {"enabled": [{"name": "PrioritySort"}]},
        "bind": {"enabled": [{"name": "DefaultBinder"}]},
    }
    profile = {
        "schedulerName": "koord-scheduler",
        "plugins": plugins,
        "pluginConfig": [{"name": "ElasticQuota", "args": args}],
    }
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [profile],
    }
    return load_scheduler_configuration(document, plugins=PLUGINS)
