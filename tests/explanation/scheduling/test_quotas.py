"""The elastic quota that a pod is charged to, in what its scheduler makes of the pod."""

from __future__ import annotations

from typing import Any

from descheduler.explanation.explaining import settings_for
from descheduler.explanation.scheduling.quotas import QuotaFacts, QuotaResource, quota_table
from descheduler.explanation.scheduling.waiting import Scheduling
from descheduler.report.tables.table_style import TableStyle
from tests.builders import Object, node_object, pod_object
from tests.explanation.questions import cluster_of

_DOMAIN = "quota.scheduling.koordinator.sh"


def quota(name: str, parent: str = "", **spec: Any) -> Object:
    return {
        "apiVersion": "scheduling.sigs.k8s.io/v1alpha1",
        "kind": "ElasticQuota",
        "metadata": {"name": name, "namespace": "default", "labels": {f"{_DOMAIN}/parent": parent} if parent else {}},
        "spec": {"min": {"cpu": "1"}, "max": {"cpu": "4"}, **spec},
    }


def pod(name: str, of: str, *, scheduler: str = "koord-scheduler", **facts: Any) -> Object:
    return pod_object(name, labels={f"{_DOMAIN}/name": of} if of else {}, scheduler=scheduler, **facts)


def facts_of(waiting: Object, *objects: Object) -> QuotaFacts | None:
    """The quota of the pending pod, in a cluster of 8 CPU."""
    snapshot = cluster_of(node_object("a", cpu="8"), waiting, *objects)
    (found,) = (each for each in snapshot.pods if each.name == waiting["metadata"]["name"])
    return Scheduling.of(snapshot, settings_for(None)).analyse(found).quota


def pending(of: str = "team", **facts: Any) -> Object:
    return pod("new", of, node="", phase="Pending", cpu="2", **facts)


def test_quota_of_a_pod_has_what_it_requests_beside_what_others_use() -> None:
    found = facts_of(pending(), quota("team"), pod("old", "team", cpu="1"))

    assert found == QuotaFacts(
        name="team",
        parent="",
        tree="",
        resources=(
            QuotaResource(resource="cpu", min=1000, max=4000, runtime=3000, used=1000, requested=3000, pod=2000),
        ),
    )


def test_parent_is_told_but_the_root() -> None:
    found = facts_of(pending(), quota("all"), quota("team", parent="all"))
    of_root = facts_of(pending(), quota("team", parent="koordinator-root-quota"))

    assert found is not None
    assert of_root is not None
    assert (found.parent, of_root.parent) == ("all", "")


def test_resource_without_a_max_is_not_limited() -> None:
    found = facts_of(pending(), quota("team", min={"cpu": "1", "memory": "1Gi"}))

    assert found is not None
    assert [(each.resource, each.max) for each in found.resources] == [("cpu", 4000), ("memory", None)]


def test_pod_of_a_scheduler_without_quotas_has_none() -> None:
    assert facts_of(pending(scheduler="default-scheduler"), quota("team")) is None


def test_pod_of_the_default_quota_has_none() -> None:
    found = facts_of(pending(""), quota("team"))

    assert found is None or found.name == "koordinator-default-quota"


def test_max_of_koord_scheduler_for_none_is_none() -> None:
    unlimited = str((2**63 - 1) // 5)

    def most(cpu: str) -> int | None:
        found = facts_of(pending(), quota("team", max={"cpu": cpu}))
        assert found is not None
        return found.resources[0].max

    assert most("4") == 4000
    assert most(unlimited) is None


def test_table_tells_amounts_and_what_is_not_limited() -> None:
    found = facts_of(pending(), quota("team", min={"cpu": "1", "memory": "1Gi"}))
    assert found is not None

    lines = [" ".join(line.split()) for line in quota_table(found, TableStyle())]

    assert lines[1] == "RESOURCE MIN MAX RUNTIME USED REQUESTED POD"
    assert lines[2].startswith("cpu 1 4 ")
    assert lines[3].startswith("memory 1Gi unlimited ")
