"""`descheduler plan --for`: what makes room for pods, with a policy or without one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.builders import Object, node_object, pod_object
from tests.cli.commands import Descheduler
from tests.placement.plugins.device_share.worlds import CORE, RATIO, device_object, gpu, gpu_pod
from tests.placement.plugins.dynamic_resources.worlds import NO_DEVICE_OBJECTS, device, device_class, slice_of, template
from tests.planner.gpus.test_claimed_devices import SPREAD, TEMPLATES

_PACKING = Path(__file__).resolve().parents[2] / "config" / "schedulers" / "most-allocated.yaml"

_BATCH = "kubernetes.io/batch-cpu"


def fixed(node: str, cpu: str) -> Object:
    """A bare pod, which is not evicted."""
    return pod_object(f"{node}-fixed", cpu=cpu, node=node, owners=[])


def pending(name: str) -> Object:
    return pod_object(name, cpu="4", node="", phase="Pending")


NODES = [node_object(name, cpu="10") for name in "abc"]
RUNNING = [pod_object("a0", cpu="2", node="a"), fixed("a", "6"), fixed("b", "7"), fixed("c", "7")]
"""2 cores of a and 3 of each of b and c are free."""


@pytest.fixture
def plan(descheduler: Descheduler, tmp_path: Path) -> Any:
    """The document of a plan for the nearly full cluster and further pods."""

    def run(room: str | Path, *pods: Object, policy: Object | None = None) -> Object:
        dump = tmp_path / "dump.json"
        dump.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [*NODES, *RUNNING, *pods]}))
        flags: list[str | Path] = []
        if policy is not None:
            (tmp_path / "policy.json").write_text(json.dumps(policy))
            flags = ["--policy-config-file", tmp_path / "policy.json"]
        ended = descheduler("plan", "--for", room, "--snapshot", dump, "-o", "json", *flags)
        assert ended.code == 0, ended.err
        found: Object = json.loads(ended.out)
        return found

    return run


def sentence(document: Object) -> str:
    (objective,) = document["goal"]["objectives"]
    return str(objective["sentence"])


def evicted(document: Object) -> list[str]:
    return [move["pod"]["name"] for move in document["moves"]]


def policy(plugin: str, **limits: int) -> Object:
    verification = {"name": "PlacementVerification", "args": {"schedulerConfigFile": str(_PACKING)}}
    profile = {
        "name": "p",
        "pluginConfig": [{"name": "DefaultEvictor"}, {"name": plugin}, verification],
        "plugins": {
            "deschedule": {"enabled": [plugin]},
            "preevictionfilter": {"enabled": ["PlacementVerification"]},
        },
    }
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile], **limits}


def test_room_is_made_for_pending_pods_without_a_policy(plan: Any) -> None:
    document = plan("pending", pending("p"))

    assert evicted(document) == ["a0"]
    assert sentence(document) == "1 pod pending → 0 (default/p onto a) with 1 eviction (at least 1 is needed)"


def test_room_is_made_for_the_pods_of_a_file_and_not_for_others(plan: Any, tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(
        "kind: Job\nmetadata: {name: train, namespace: ml}\nspec: {template: {spec: {containers: [{name: c,"
        " resources: {requests: {cpu: 4}}}]}}}\n"
    )

    document = plan(file)

    assert [move["reason"] for move in document["moves"]] == ["makes room for pending pod ml/train-wanted-0"]


def test_limits_of_a_manifest_are_requests_where_it_states_none(plan: Any, tmp_path: Path) -> None:
    """As the API server has it when it creates the pod."""
    file = tmp_path / "pod.json"
    limited = pod_object("train", node="")
    limited["spec"]["containers"] = [{"name": "main", "resources": {"limits": {"cpu": "4"}}}]
    file.write_text(json.dumps(limited))

    document = plan(file)

    assert evicted(document) == ["a0"]


def test_room_is_made_for_what_a_pod_requests(plan: Any) -> None:
    assert evicted(plan("cpu=4,memory=1Gi")) == ["a0"]
    assert sentence(plan("cpu=3")) == "1 pod pending: 1 can be scheduled without evictions (default/wanted onto b)"
    assert sentence(plan("cpu=30")).startswith("1 pod pending → 1 with 0 evictions")


@pytest.mark.parametrize("text", ["cpu=3, memory=1Gi", " cpu = 3,memory =1Gi ", "cpu=3,memory=1Gi,"])
def test_spaces_and_a_trailing_comma_mean_nothing(plan: Any, text: str) -> None:
    assert sentence(plan(text)) == "1 pod pending: 1 can be scheduled without evictions (default/wanted onto b)"
    assert sentence(plan(text.replace("1Gi", "9999Gi"))).startswith("1 pod pending → 1 with 0 evictions")


GPUS = [device_class("gpu.example.com"), slice_of("b", device("x"), device("y")), *NO_DEVICE_OBJECTS]


@pytest.mark.parametrize("name", ["gpu.example.com", "deviceclass/gpu.example.com"])
def test_a_pod_can_want_devices_of_a_class(plan: Any, name: str) -> None:
    assert sentence(plan(f"{name}=2", *GPUS)) == (
        "1 pod pending: 1 can be scheduled without evictions (default/wanted onto b)"
    )
    assert sentence(plan(f"{name}=3", *GPUS)).startswith("1 pod pending → 1 with 0 evictions")


def test_a_class_that_does_not_exist_is_named(plan: Any) -> None:
    assert sentence(plan("deviceclass/nowhere=2", *GPUS)).endswith(
        "1 pod is not scheduled onto any node: DeviceClass nowhere does not exist"
    )


def test_claims_and_templates_of_the_file_are_those_of_its_pods(plan: Any, tmp_path: Path) -> None:
    spec = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "two"}]}
    wanted = template("two", {"name": "r", "exactly": {"deviceClassName": "gpu.example.com", "count": 2}})
    file = tmp_path / "pod.json"
    file.write_text(json.dumps({"kind": "List", "items": [wanted, pod_object("train", node="", spec=spec)]}))

    assert sentence(plan(file, *GPUS)) == "1 pod pending: 1 can be scheduled without evictions (default/train onto b)"


@pytest.mark.long
@pytest.mark.parametrize("wanted", [None, "two", "all", "fewer"])
def test_pods_leave_devices_for_the_claims_of_a_pod(plan: Any, tmp_path: Path, wanted: str | None) -> None:
    """Of a class, or of a file: two devices, all of a node, or one where two are not free."""
    room: str | Path = "deviceclass/gpu=2"
    if wanted is not None:
        room = tmp_path / "pod.json"
        spec = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": wanted}]}
        room.write_text(json.dumps(pod_object("train", node="", spec=spec)))

    document = plan(room, device_class(), *TEMPLATES, *SPREAD, *NO_DEVICE_OBJECTS)

    num_evicted = 0 if wanted == "fewer" else 1
    assert (len(evicted(document)), document["goal"]["objectives"][0]["levels"][0]["after"]) == (num_evicted, 0)


def test_no_room_is_made_for_a_resource_that_no_node_has(plan: Any) -> None:
    document = plan("hugepages-2Mi=2Mi")

    assert document["goal"]["status"] == "infeasible"
    assert sentence(document) == (
        "1 pod pending → 1 with 0 evictions; no room: pod default/wanted requests 2Mi hugepages-2Mi,"
        " no node has hugepages-2Mi"
    )


def test_no_room_is_made_for_a_pod_that_is_larger_than_the_largest_node(plan: Any) -> None:
    document = plan("cpu=600")

    assert (document["goal"]["status"], document["goal"]["work"]) == ("infeasible", 0)
    assert sentence(document) == (
        "1 pod pending → 1 with 0 evictions; no room: pod default/wanted requests 600 CPU, the largest node has 10"
    )


@pytest.mark.parametrize("resource", ["nvidia.com/gpu", "example.com/foo"])
def test_extended_resource_that_no_node_lists_is_unknown(plan: Any, resource: str) -> None:
    """A DeviceClass may serve it."""
    assert sentence(plan(f"{resource}=8")) == (
        f"1 pod pending: 1 unknown (no node lists {resource}; a DeviceClass with extendedResourceName: {resource} may"
        " serve it (DynamicResources))"
    )


_HALF_GPU = {CORE: "50", RATIO: "50"}


def gpu_nodes(*names: str) -> list[Object]:
    """Nodes with two GPUs each, of both of which a pod of koord-scheduler has a half."""
    allocatable = {CORE: "200", RATIO: "200"}
    nodes = [node_object(name, cpu="10", allocatable=allocatable) for name in names]
    devices = [device_object(name, gpu(0), gpu(1)) for name in names]
    pods = [
        gpu_pod(
            f"{name}-{minor}",
            _HALF_GPU,
            node=name,
            scheduler="koord-scheduler",
            has={"gpu": [{"minor": minor, "resources": _HALF_GPU}]},
        )
        for name in names
        for minor in (0, 1)
    ]
    return [*nodes, *devices, *pods]


@pytest.mark.long
def test_a_pod_that_requests_gpus_of_koordinator_is_one_of_koord_scheduler(plan: Any) -> None:
    """No GPU is idle: one of the pods that share them leaves for the half of another GPU."""
    document = plan(f"{CORE}=100,{RATIO}=100", *gpu_nodes("x", "y"))

    assert len(evicted(document)) == 1
    assert sentence(document).startswith("1 pod pending → 0 (default/wanted onto ")


def test_a_pod_that_requests_batch_resources_is_one_of_koord_scheduler(plan: Any) -> None:
    def batch(name: str, amount: str, node: str, **facts: Any) -> Object:
        return pod_object(name, node=node, requests={_BATCH: amount}, scheduler="koord-scheduler", **facts)

    nodes = [node_object(name, cpu="10", allocatable={_BATCH: "10000"}) for name in "xyz"]
    stay = [batch(f"{name}-fixed", "7000", name, owners=[]) for name in "yz"]
    pods = [batch("x0", "2000", "x"), batch("x-fixed", "6000", "x", owners=[]), *stay]

    assert evicted(plan(f"{_BATCH}=4000", *nodes, *pods)) == ["x0"]
    assert sentence(plan(f"{_BATCH}=50000", *nodes)) == (
        "1 pod pending → 1 with 0 evictions; no room: pod default/wanted requests 50000 kubernetes.io/batch-cpu,"
        " the largest node has 10000"
    )


def test_a_manifest_that_requests_what_is_not_a_resource_is_refused(descheduler: Descheduler, tmp_path: Path) -> None:
    file = tmp_path / "pod.json"
    file.write_text(json.dumps(pod_object("train", node="", requests={"gpu": "8"})))

    ended = descheduler("plan", "--for", file)

    assert ended.code == 2
    assert f"{file}: pod default/train: 'gpu' is not a resource; use cpu, " in ended.err


def test_a_pod_of_requests_is_one_of_the_scheduler_that_the_policy_names(plan: Any, tmp_path: Path) -> None:
    scheduler = tmp_path / "scheduler.yaml"
    scheduler.write_text(_PACKING.read_text().replace("default-scheduler", "packing"))
    document = policy("RemoveFailedPods")
    document["profiles"][0]["pluginConfig"][2]["args"]["schedulerConfigFile"] = str(scheduler)

    assert (
        sentence(plan("cpu=3", policy=document))
        == "1 pod pending: 1 can be scheduled without evictions (default/wanted onto b)"
    )


def test_protections_and_limits_of_a_policy_hold_and_its_plugins_do_not_run(plan: Any) -> None:
    """RemoveFailedPods would evict the failed pod."""
    failed = pod_object("failed", node="b", phase="Failed")

    assert evicted(plan("pending", pending("p"), failed, policy=policy("RemoveFailedPods"))) == ["a0"]
    assert evicted(plan("pending", pending("p"), policy=policy("RemoveFailedPods", maxNoOfPodsToEvictTotal=0))) == []


@pytest.mark.parametrize(
    ("flags", "fault"),
    [
        pytest.param(["--for", "cpu=x"], "write it like nvidia.com/gpu=8,cpu=4", id="no quantity"),
        pytest.param(["--for", "cpu=-1"], "'cpu=-1': -1 is not above 0", id="less than nothing"),
        pytest.param(["--for", "cpu=1,cpu=2"], "named twice", id="twice"),
        pytest.param(["--for", "gpu=8"], "'gpu' is not a resource; use cpu, memory, ", id="no domain"),
        pytest.param(["--for", "gpu=8"], "or deviceclass/gpu for devices of a DeviceClass (see", id="perhaps a class"),
        pytest.param(
            ["--for", "cpu=4,Memory=1Gi"], "'Memory' is not a resource; did you mean 'memory'? (see", id="case"
        ),
        pytest.param(["--for", "gpu.example.com=33"], "33 is not a number of devices from 1 to 32", id="devices"),
        pytest.param(["--for", "deviceclass/gpu=1.5"], "1.5 is not a number of devices", id="half a device"),
        pytest.param(["--for", "=4"], "'=4': the resource has no name", id="no name"),
        pytest.param(["--for", "cpu=1,,memory"], "'memory': '' is not a quantity", id="no amount"),
        pytest.param(["--for", "nowhere.yaml"], "no such file", id="no file"),
        pytest.param(
            ["--for", "pendin"],
            "'pendin': no such file; name a manifest file to read, 'pending' for the pods that are pending, or what one"
            " pod requests, such as nvidia.com/gpu=8 (see",
            id="another word than pending",
        ),
        pytest.param(["--for", "pending", "--out", "x"], "cannot be used together", id="with --out"),
        pytest.param(["--out", "x"], "missing option '--policy-config-file'", id="no policy"),
        pytest.param(["--config", "x"], "missing option '--out'", id="no plan file"),
    ],
)
def test_flags_that_make_no_sense_are_refused(descheduler: Descheduler, flags: list[str], fault: str) -> None:
    ended = descheduler("plan", *flags)

    assert ended.code == 2
    assert fault in ended.err
