"""One object that cannot be decoded, or that says odd things, ends no run: the run ends as it does without the object.

`BROKEN_OBJECTS=5000` has as many objects of each kind damaged.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterable
from functools import cache

import pytest
from msgspec.structs import replace

from descheduler.cluster.builder import SnapshotBuilder
from descheduler.cluster.decoding.decode import Decoding, PodDecoder
from descheduler.cluster.kind import AnyKind, name_of
from descheduler.cluster.kinds import KINDS
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import SnapshotError
from descheduler.cycle.options import RunResult
from descheduler.kube.client import KubeClient
from tests.builders import Object, node_object, pod_object
from tests.integration.fake_api import FakeApi, api_version
from tests.integration.faults import Answer
from tests.integration.live_runs import FAST, TAINTED, codes, listed_paths, run, serve
from tests.policy.builders import koordinator, upstream
from tests.series import Part, parts
from tests.worlds.mutations import mutations
from tests.worlds.samples import SAMPLES

NUMBER = int(os.environ.get("BROKEN_OBJECTS", "500"))
NUM_PARTS = 5
READ = [kind for kind in KINDS.values() if not kind.is_measured]
MEASURED = [kind for kind in KINDS.values() if kind.is_measured]
OTHERS = [kind for kind in READ if not kind.is_essential]
NODE_USAGE = KINDS["NodeMetrics.metrics.k8s.io"]
DESCHEDULE = (
    "RemovePodsViolatingNodeTaints",
    "RemovePodsViolatingNodeReservation",
    "RemovePodsViolatingDeviceTaints",
    "RevokePodsOverElasticQuota",
    "RemovePodsViolatingInterPodAntiAffinity",
)
BALANCE = ("LowNodeLoad", "RemoveDuplicates", "RemovePodsViolatingTopologySpreadConstraint")
POLICY = koordinator(
    "profiles:\n"
    "- name: p\n"
    "  pluginConfig:\n"
    "  - {name: PlacementVerification, args: {onUnknown: allow, onConditional: allow}}\n"
    "  - {name: LowNodeLoad, args: {lowThresholds: {cpu: 20}, highThresholds: {cpu: 90}}}\n"
    "  plugins:\n"
    f"    deschedule: {{enabled: [{', '.join(f'{{name: {name}}}' for name in DESCHEDULE)}]}}\n"
    f"    balance: {{disabled: [{{name: '*'}}], enabled: [{', '.join(f'{{name: {name}}}' for name in BALANCE)}]}}\n"
)
BY_USAGE = upstream(
    "metricsProviders: [{source: KubernetesMetrics}]\n"
    "profiles:\n"
    "- name: p\n"
    "  pluginConfig:\n"
    "  - name: RemovePodsViolatingNodeTaints\n"
    "  - name: LowNodeUtilization\n"
    "    args: {thresholds: {cpu: 1}, targetThresholds: {cpu: 99}, metricsUtilization: {source: KubernetesMetrics}}\n"
    "  plugins: {deschedule: {enabled: [RemovePodsViolatingNodeTaints]}, balance: {enabled: [LowNodeUtilization]}}\n"
)


def sample_of(kind: AnyKind) -> Object:
    """A sound object of `kind`: kinds of one name differ in their groups alone."""
    return {**SAMPLES[kind.name], "apiVersion": kind.api_version}


@cache
def damaged(kind: AnyKind, part: Part) -> tuple[list[bytes], list[bytes]]:
    """Objects of `kind` that cannot be decoded, and some that can be and say odd things."""
    assert kind.decoder is not None
    decode = kind.decoder(Decoding(PodDecoder(are_stored=True), keep_templates=True, trims_reservations=True))
    broken, odd = list[bytes](), dict[tuple[str, str], bytes]()
    for item in part.of([*mutations(sample_of(kind), NUMBER, seed=zlib.crc32(kind.key.encode()))]):
        try:
            name = name_of(decode(item))
        except (ValueError, RecursionError):
            name = ("", "")
        if name[1]:
            odd[name] = item
        else:
            broken.append(item)
    return broken, [*odd.values()]


def usage_of(node: str) -> Object:
    """What metrics-server says of a node."""
    return {"metadata": {"name": node}, "usage": {"cpu": "100m", "memory": "1Mi"}}


def cluster(fake_api: FakeApi) -> None:
    """Every kind is served; a pod has to leave its node, and its replacement can land."""
    workload = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web", "namespace": "default", "uid": "replicaset-web"},
        "spec": {"replicas": 3},
    }
    pod = pod_object("web", node="tainted", owners=["ReplicaSet/web"], scheduler="koord-scheduler")
    serve(fake_api, TAINTED, node_object("free", cpu="64"), pod, workload)
    for node in ("tainted", "free"):
        fake_api.add(NODE_USAGE.path, usage_of(node))
    for kind in (*READ, *MEASURED):
        fake_api.objects.setdefault(kind.path, [])
    fake_api.speaks_protobuf = False


def add_raw(fake_api: FakeApi, kind: AnyKind, items: Iterable[bytes]) -> None:
    """Has the list of `kind` hold further objects, which may be no JSON that Python writes."""
    there = [json.dumps(item).encode() for item in fake_api.objects[kind.path]]
    head = f'{{"kind":"{kind.name}List","apiVersion":"{api_version(kind.path)}","metadata":{{"resourceVersion":"7"}},'
    body = head.encode() + b'"items":[' + b",".join([*there, *items]) + b"]}"
    fake_api.fail_always("GET", kind.path, Answer(200, body))


def end_of(fake_api: FakeApi, client: KubeClient, policy: str = POLICY, *, skip_broken: bool = False) -> RunResult:
    """A run all of whose plugins have done their work."""
    result = run(client, policy, options=replace(FAST, skip_broken=skip_broken))
    assert result.decisions.failures == ()
    return result


def told_of(kind: AnyKind, sentences: Iterable[str]) -> list[str]:
    """Those of `sentences` that are about objects of `kind`."""
    return [sentence for sentence in sentences if re.match(rf"{kind.name} .* is invalid: ", sentence)]


@pytest.mark.parametrize("kind", [*READ, *MEASURED], ids=lambda kind: kind.key)
def test_sample_of_each_kind_is_sound(kind: AnyKind) -> None:
    builder = SnapshotBuilder("", SnapshotRequest(frozenset({kind.key}), keep_templates=True))

    builder.add(kind, json.dumps(sample_of(kind)).encode())

    assert len(builder.objects[kind.key]) == 1


def test_run_reads_every_kind(fake_api: FakeApi, client: KubeClient) -> None:
    cluster(fake_api)

    result = end_of(fake_api, client)

    assert listed_paths(fake_api) == {kind.path for kind in READ}
    assert set(codes(result)) == {"web"}


@pytest.mark.long
@pytest.mark.parametrize("part", parts(NUM_PARTS))
@pytest.mark.parametrize(
    ("kinds", "policy", "skip_broken"),
    [
        pytest.param(OTHERS, POLICY, False, id="of kinds that decisions can do without"),
        pytest.param(READ, POLICY, True, id="of all kinds, on request"),
        pytest.param(MEASURED, BY_USAGE, False, id="of measured usage"),
    ],
)
def test_run_ends_as_without_objects_that_cannot_be_decoded(
    kinds: list[AnyKind], policy: str, skip_broken: bool, part: Part, fake_api: FakeApi, client: KubeClient
) -> None:
    cluster(fake_api)
    for kind in kinds:
        add_raw(fake_api, kind, damaged(kind, part)[0])

    result = end_of(fake_api, client, policy, skip_broken=skip_broken)

    assert set(codes(result)) == {"web"}
    skipped = result.decisions.snapshot.skipped
    told = {kind.name: len(told_of(kind, skipped)) for kind in kinds}
    added = Counter[str]()
    for kind in kinds:
        added[kind.name] += len(damaged(kind, part)[0])
    assert told == added
    assert min(told.values()) > NUMBER / NUM_PARTS / 20


@pytest.mark.parametrize("kind", [kind for kind in READ if kind.is_essential], ids=lambda kind: kind.key)
def test_broken_object_that_decisions_need_ends_the_run_and_is_named(
    kind: AnyKind, fake_api: FakeApi, client: KubeClient
) -> None:
    cluster(fake_api)
    add_raw(fake_api, kind, damaged(kind, Part(0, NUM_PARTS))[0][:1])

    with pytest.raises(SnapshotError, match=f"{kind.name} .* is invalid: .*--skip-broken-objects"):
        end_of(fake_api, client)


@pytest.mark.long
@pytest.mark.parametrize("part", parts(NUM_PARTS))
@pytest.mark.parametrize(
    ("kinds", "policy"),
    [
        pytest.param(OTHERS, POLICY, id="of kinds that decisions can do without"),
        pytest.param(READ, POLICY, id="of all kinds"),
        pytest.param(MEASURED, BY_USAGE, id="of measured usage"),
    ],
)
def test_run_ends_well_with_objects_that_say_odd_things(
    kinds: list[AnyKind], policy: str, part: Part, fake_api: FakeApi, client: KubeClient
) -> None:
    cluster(fake_api)
    for kind in kinds:
        add_raw(fake_api, kind, damaged(kind, part)[1])

    result = end_of(fake_api, client, policy)

    assert result.decisions.snapshot.skipped == ()


def test_object_that_is_in_a_list_twice_counts_once(fake_api: FakeApi, client: KubeClient) -> None:
    cluster(fake_api)
    for kind in OTHERS:
        fake_api.add(kind.path, sample_of(kind), sample_of(kind))

    result = end_of(fake_api, client)

    assert set(codes(result)) == {"web"}
    skipped = result.decisions.snapshot.skipped
    assert len(skipped) == len(OTHERS)
    assert all(sentence.endswith("odd is in the list twice") for sentence in skipped)
