"""Gangs of Volcano in live runs: what is read of them, and what happens where that is not possible."""

from __future__ import annotations

import pytest

from descheduler.cluster.kinds import KINDS
from descheduler.kube.client import KubeClient
from descheduler.model.verdict import Reason
from descheduler.plan.outcome import OutcomeCode
from tests.builders import Object, node_object, pod_object
from tests.integration.fake_api import FakeApi
from tests.integration.faults import failure
from tests.integration.live_runs import TAINTED, codes, run, serve
from tests.policy.builders import upstream

GROUPS = KINDS["PodGroup.scheduling.volcano.sh"].path
POLICY = upstream(
    "profiles:\n"
    "- name: p\n"
    "  pluginConfig:\n"
    "  - {name: DefaultEvictor}\n"
    "  - {name: RemovePodsViolatingNodeTaints}\n"
    "  - {name: PlacementVerification, args: {onUnknown: allow}}\n"
    "  plugins:\n"
    "    deschedule: {enabled: [RemovePodsViolatingNodeTaints]}\n"
    "    preevictionfilter: {enabled: [PlacementVerification]}\n"
)
GROUP: Object = {
    "apiVersion": "scheduling.volcano.sh/v1beta1",
    "kind": "PodGroup",
    "metadata": {"name": "train", "namespace": "default"},
    "spec": {"minMember": 2},
}


def gang_on(fake_api: FakeApi, *objects: Object) -> None:
    """A cluster with a tainted node and a gang of two pods, one of them there."""
    annotations = {"scheduling.k8s.io/group-name": "train"}
    pods = [
        pod_object(name, node=node, annotations=annotations, scheduler="volcano")
        for name, node in (("m0", "tainted"), ("m1", "free"))
    ]
    serve(fake_api, TAINTED, node_object("free"), *pods, *objects)


def test_gang_at_its_minimum_is_kept(fake_api: FakeApi, client: KubeClient) -> None:
    gang_on(fake_api, GROUP)

    result = run(client, POLICY)

    (refusal,) = result.decisions.refusals
    assert (refusal.verdict.reason, refusal.verdict.subject) == (Reason.GANG_MINIMUM, "default/train")
    assert codes(result) == {}


@pytest.mark.parametrize("is_forbidden", [False, True], ids=["kind that the cluster lacks", "right that is missing"])
def test_run_goes_on_without(fake_api: FakeApi, client: KubeClient, *, is_forbidden: bool) -> None:
    gang_on(fake_api)
    if is_forbidden:
        fake_api.fail_always("GET", GROUPS, failure(403, "Forbidden", "podgroups is forbidden"))

    result = run(client, POLICY)

    assert codes(result) == {"m0": OutcomeCode.DONE}
    assert (
        "1 evicted pod names a PodGroup (scheduling.volcano.sh), and no such objects were read: how many pods the gang"
        " needs is unknown"
    ) in result.decisions.notes
