"""What is read for a policy, whoever reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

import pytest
from msgspec.structs import replace

from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.request import Landings, dumped_annotations, snapshot_request
from descheduler.model.groups.gangs import OTHER_POD_GROUPS
from descheduler.model.groups.volcano import JOB_KIND
from descheduler.placement.replacements.controllers.table import CONTROLLERS
from descheduler.policy.load import load_policy
from descheduler.policy.plugin import Needs
from tests.policy.builders import koordinator, upstream

ALWAYS = {"Node", "Pod", "PodDisruptionBudget.policy"}

TAINTS = upstream(
    """\
    profiles:
    - name: p
      pluginConfig:
      - {name: DefaultEvictor}
      - {name: RemovePodsViolatingNodeTaints}
      plugins: {deschedule: {enabled: [RemovePodsViolatingNodeTaints]}}
    """
)
BY_CLASS = TAINTS.replace("{name: DefaultEvictor}", "{name: DefaultEvictor, args: {priorityThreshold: {name: high}}}")
BY_STATE = upstream(
    """\
    profiles:
    - name: p
      pluginConfig:
      - {name: DefaultEvictor}
      - {name: PodLifeTime, args: {conditions: [{type: Ready}]}}
      plugins: {deschedule: {enabled: [PodLifeTime]}}
    """
)
VERIFIED = koordinator(
    """\
    profiles:
    - name: p
      pluginConfig:
      - {name: RemovePodsViolatingNodeTaints}
      plugins: {deschedule: {enabled: [{name: RemovePodsViolatingNodeTaints}]}}
    """
)


def asked(policy: str, landings: Landings = Landings.UNSEEN) -> SnapshotRequest:
    return snapshot_request(load_policy(policy, REGISTRY), landings)


@pytest.mark.parametrize(
    ("policy", "more"),
    [
        pytest.param(TAINTS, set(), id="nodes, pods and budgets"),
        pytest.param(BY_CLASS, {"PriorityClass.scheduling.k8s.io"}, id="classes that a threshold names"),
    ],
)
def test_run_needs_what_its_plugins_read(policy: str, more: set[str]) -> None:
    request = asked(policy)

    assert request.needed == ALWAYS | more
    assert request.wanted == set()
    assert not request.keep_conditions
    assert not request.keep_templates


def test_bulky_parts_are_kept_for_plugins_that_read_them() -> None:
    assert asked(BY_STATE).keep_conditions
    assert asked(VERIFIED).keep_templates


def test_verified_placement_needs_owners_and_their_templates() -> None:
    request = asked(VERIFIED)

    assert {"ReplicaSet.apps", "StorageClass.storage.k8s.io", "ResourceQuota"} < request.needed


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(lambda: asked(VERIFIED), id="PlacementVerification"),
        pytest.param(lambda: snapshot_request(None, Landings.EXPLAINED), id="explain"),
    ],
)
def test_each_kind_that_owns_pods_is_read_wherever_pods_are_replaced(request_: Callable[[], SnapshotRequest]) -> None:
    """A live run that reads fewer kinds of owners than a dump holds would decide differently on the same cluster."""
    owners = next(each.metadata["kinds"] for each in fields(Snapshot) if each.name == "workloads")

    request = request_()

    assert {*owners, "ControllerRevision.apps", "Namespace"} <= request.needed | request.wanted
    assert set(CONTROLLERS) <= set(owners)


def test_pod_groups_of_other_schedulers_are_read_as_far_as_the_run_may() -> None:
    """A cluster without them, or a run without the right, goes on."""
    request = asked(VERIFIED)

    assert {*OTHER_POD_GROUPS} <= request.wanted
    assert not {*OTHER_POD_GROUPS} & request.needed


@pytest.mark.parametrize("landings", [Landings.EXPLAINED, Landings.ASSESSED])
def test_jobs_of_volcano_are_read_as_far_as_the_run_may(landings: Landings) -> None:
    """Where they are not read, what becomes of their pods is unknown, and the run goes on."""
    for request in (asked(VERIFIED), snapshot_request(None, landings)):
        assert JOB_KIND in request.wanted - request.needed


def test_jobs_are_read_for_every_report_since_evictions_can_fail_them() -> None:
    assert "Job.batch" in asked(TAINTS, Landings.ASSESSED).wanted


def test_node_reservations_are_taken_off_for_koordinators_document_alone() -> None:
    """kube-scheduler, for whose clusters the other document is written, does not know the annotation."""
    assert asked(VERIFIED).trims_reservations
    assert not asked(TAINTS).trims_reservations


def test_landings_are_assessed_with_what_little_reading_gives() -> None:
    request = asked(TAINTS, Landings.ASSESSED)

    assert request.needed == ALWAYS
    assert "PersistentVolumeClaim" in request.wanted
    assert "ReplicaSet.apps" not in request.wanted
    assert request.keep_templates


def test_explanation_wants_all_that_decides_about_landings_even_without_a_policy() -> None:
    request = snapshot_request(None, Landings.EXPLAINED)

    assert request.needed == {"Node", "Pod"}
    assert {"PersistentVolumeClaim", "ReplicaSet.apps"} < request.wanted
    assert request.keep_templates


def test_annotations_that_a_plugin_reads_are_decoded_and_dumped() -> None:
    keys = frozenset({"example.com/cooldown"})
    row = replace(REGISTRY["RemovePodsViolatingNodeTaints"], needs=lambda _: Needs(annotations=keys))
    registry = {**REGISTRY, "RemovePodsViolatingNodeTaints": row}

    request = snapshot_request(load_policy(TAINTS, registry), Landings.UNSEEN, registry=registry)

    assert request.annotations == keys
    assert dumped_annotations(registry) >= keys
