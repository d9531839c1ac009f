"""`explain elasticquota`: what a quota may use, what its pods do, and its children."""

from __future__ import annotations

import pytest

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.placement_verification.scheduling_settings import SchedulingSettings
from descheduler.explanation.explaining import settings_for
from descheduler.explanation.finding import UnknownSubjectError
from descheduler.explanation.scheduling.quotas import QuotaFacts, QuotaResource
from descheduler.explanation.subjects.quota import QuotaExplanation, explain_quota, quota_explanation_table
from descheduler.placement.configuration.kube_scheduler.configuration import load_scheduler_configuration
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
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
        notes=(),
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

    assert [(each.max, each.runtime) for each in facts.resources] == [(None, None)] * 2


def test_quota_that_does_not_exist_is_named() -> None:
    with pytest.raises(UnknownSubjectError) as unknown:
        _explained("tean")

    assert str(unknown.value) == "no elastic quota 'tean' in objects; did you mean 'team'?"


def _team_pod(name: str, quota: str, cpu: str, node: str = "a") -> Object:
    return pod_object(name, cpu=cpu, node=node, labels={f"{_DOMAIN}/name": quota})


def _notes(name: str, *objects: Object) -> tuple[str, ...]:
    snapshot = snapshot_from_objects([node_object("a", cpu="12"), node_object("b", cpu="0"), *objects])
    return explain_quota(name, ShadowCluster(snapshot), settings_for(None)).notes


def test_parent_whose_child_is_over_its_max_says_so_of_both() -> None:
    quotas = [_quota("all", "9"), _quota("one", "2", parent="all"), _quota("two", "4", parent="all")]

    assert _notes("all", *quotas, _team_pod("p", "one", "5"), _team_pod("q", "two", "1")) == (
        "all uses 3 CPU more than its runtime quota: it requests 3 CPU, as each child counts up to its max",
        "children of all that use more than their min: one 4 CPU",
        "one uses 3 CPU more than its runtime quota and more than its max of 2: its pods were placed before the max was"
        " lowered, or by a scheduler that does not check quotas",
    )


def test_quota_that_borrowed_what_others_request_now_says_how_it_is_shared_out() -> None:
    quotas = [_quota("one", "12"), _quota("two", "12")]

    assert _notes("one", *quotas, _team_pod("p", "one", "8"), _team_pod("q", "two", "10", node="")) == (
        "one uses 2 CPU more than its runtime quota: it borrowed 7 CPU over its min, which others request now or which"
        " is gone; 12 CPU in all are shared out as one 6, two 6",
    )


def test_children_share_the_runtime_quota_of_their_parent() -> None:
    quotas = [_quota("all", "6"), _quota("one", "6", parent="all"), _quota("two", "6", parent="all")]
    pods = [_team_pod("p", "one", "4"), _team_pod("q", "two", "6", node="")]

    (note,) = _notes("all", *quotas, *pods)

    assert note.startswith("one uses 1 CPU more than its runtime quota: it borrowed 3 CPU over its min")
    assert note.endswith("6 CPU in all are shared out as one 3, two 3")


def test_quota_whose_parent_does_not_exist_says_so_instead_of_looking_for_a_cause_elsewhere() -> None:
    assert _notes("one", _quota("one", "12", parent="gone"), _team_pod("p", "one", "8")) == (
        "one has a runtime quota of 0: its parent gone does not exist",
    )


def test_quotas_below_one_without_a_parent_are_told_by_that_one() -> None:
    quotas = [_quota("all", "12", parent="gone"), _quota("one", "12", parent="all")]
    note = "has a runtime quota of 0: the parent gone of all does not exist"

    assert _notes("all", *quotas, _team_pod("p", "one", "8")) == (
        "all has a runtime quota of 0: its parent gone does not exist",
    )
    assert _notes("one", *quotas) == (f"one {note}",)


def test_quotas_that_are_each_others_parents_say_so() -> None:
    quotas = [_quota("one", "12", parent="two"), _quota("two", "12", parent="one")]

    assert _notes("one", *quotas, _team_pod("p", "two", "8")) == (
        "one has a runtime quota of 0: its parents form a loop (one, two, one)",
    )


@pytest.mark.parametrize(
    ("number", "named"),
    [(5, "q0, q1, q2, q3, q4, q0"), (6, "q0, q1, q2, q3, q4, ..., q0")],
)
def test_first_five_quotas_of_a_loop_are_named(number: int, named: str) -> None:
    quotas = [_quota(f"q{index}", "12", parent=f"q{(index + 1) % number}") for index in range(number)]

    assert _notes("q0", *quotas, _team_pod("p", "q0", "8")) == (
        f"q0 has a runtime quota of 0: its parents form a loop ({named})",
    )


def test_quota_within_its_limits_has_nothing_to_say() -> None:
    assert _notes("one", _quota("one", "12"), _team_pod("p", "one", "8")) == ()


def test_notes_stand_below_the_tables() -> None:
    explanation = _explained("all")
    noted = QuotaExplanation(
        facts=explanation.facts, children=(), notes=("all uses 1 CPU more than its runtime quota",)
    )

    lines = list(quota_explanation_table(noted, TableStyle()))

    assert lines[-2:] == ["all uses 1 CPU more than its runtime quota", ""]


@pytest.mark.parametrize(("uses_runtime", "runtime"), [(True, 2000), (False, 4000)])
def test_runtime_quota_counts_where_the_scheduler_says_so(uses_runtime: bool, runtime: int) -> None:
    """Without it the max is what pods may use. A profile that runs no quotas has no say."""
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {"schedulerName": "plain"},
            {
                "schedulerName": "koord-scheduler",
                "plugins": {"preFilter": {"enabled": [{"name": "ElasticQuota"}]}},
                "pluginConfig": [{"name": "ElasticQuota", "args": {"enableRuntimeQuota": uses_runtime}}],
            },
        ],
    }
    settings = SchedulingSettings(configuration=load_scheduler_configuration(document, plugins=PLUGINS))

    facts = explain_quota("team", ShadowCluster(_snapshot()), settings).facts

    assert [each.runtime for each in facts.resources] == [runtime]
