"""`explain elasticquota`: what a quota may use, what its pods do, and its children."""

from __future__ import annotations

import pytest

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.snapshot import Snapshot
from descheduler.explanation.scheduling.quotas import explain_quota
from descheduler.explanation.settings import settings_for
from descheduler.explanation.subjects import UnknownSubjectError
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.report.explanation.quota import QuotaExplanation, QuotaFacts, QuotaResource
from descheduler.report.explanation.quota_table import quota_explanation_table
from descheduler.report.tables.table_style import TableStyle
from tests.builders import Object, node_object, pod_object

_DOMAIN = "quota.scheduling.koordinator.sh"


def _quota(name: str, cpu: str, **labels: str) -> Object:
    stated = {f"{_DOMAIN}/{key}": value for key, value in labels.items()}
    return {
        "apiVersion": "scheduling.sigs.k8s.io/v1alpha1",
        "kind": "ElasticQuota",
        "metadata": {"name": name, "namespace": "default", "labels": stated},
        "spec": {"min": {"cpu": "1"}, "max": {"cpu": cpu}},
    }


def _snapshot() -> Snapshot:
    pod = pod_object("p", cpu="2", labels={f"{_DOMAIN}/name": "team"})
    return snapshot_from_objects([node_object("a"), _quota("all", "6"), _quota("team", "4", parent="all"), pod])


def _explained(name: str) -> QuotaExplanation:
    return explain_quota(name, ShadowCluster(_snapshot()), settings_for(None))


def _cpu(most: int) -> QuotaResource:
    return QuotaResource(resource="cpu", min=1000, max=most, runtime=2000, used=2000, requested=2000, pod=0)


def test_quota_is_shown_with_its_children() -> None:
    assert _explained("all") == QuotaExplanation(
        facts=QuotaFacts(name="all", parent="", tree="", resources=(_cpu(6000),)),
        children=(QuotaFacts(name="team", parent="all", tree="", resources=(_cpu(4000),)),),
    )


def test_table_of_a_quota() -> None:
    lines = "\n".join(quota_explanation_table(_explained("all"), TableStyle()))

    assert lines == (
        "Elastic quota all\n"
        "RESOURCE   MIN   MAX   RUNTIME   USED   REQUESTED\n"
        "cpu        1     6     2         2      2\n"
        "\n"
        "CHILD   RESOURCE   MIN   MAX   RUNTIME   USED   REQUESTED\n"
        "team    cpu        1     4     2         2      2\n"
    )


def test_default_quota_has_no_limit() -> None:
    facts = _explained("koordinator-default-quota").facts

    assert [each.runtime for each in facts.resources] == [None, None]


def test_quota_that_does_not_exist_is_named() -> None:
    with pytest.raises(UnknownSubjectError) as unknown:
        _explained("tean")

    assert str(unknown.value) == "no elastic quota 'tean' in objects; did you mean 'team'?"
