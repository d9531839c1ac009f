"""What runs as `ElasticQuota`."""

from __future__ import annotations

from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin
from descheduler.placement.plugins.elastic_quota.args import ARGS
from descheduler.placement.plugins.elastic_quota.elastic_quota import ElasticQuotaPlugin
from descheduler.placement.plugins.elastic_quota.quota_usage import ELASTIC_QUOTA_KIND

__all__ = ["ROW"]

ROW = SchedulingPlugin(
    plugin=ElasticQuotaPlugin,
    points=frozenset({"pre_filter", "post_filter", "reserve"}),
    args=ARGS,
    is_optional=True,
    preempts=True,
    reads_kinds=frozenset({ELASTIC_QUOTA_KIND}),
    about=About(
        check=(
            "The pods of an elastic quota must not request more than the quota may use now (koord-scheduler); pods "
            "that must not be preempted must not request more than its min."
        ),
        reasons=(
            "Insufficient quotas, quotaName: <quota>, runtime: <limit>, used: <amounts>, pod's request: <amounts>, "
            "exceedDimensions: [<resources>]",
            "Insufficient non-preemptible quotas, quotaName: <quota>, min: <limit>, nonPreemptibleUsed: <amounts>, "
            "pod's request: <amounts>, exceedDimensions: [<resources>]",
        ),
    ),
)
