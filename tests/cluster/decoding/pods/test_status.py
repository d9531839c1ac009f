"""What a pod's status says beside its spec."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from descheduler.cluster.decoding.pods.status import decode_conditions, is_ready
from descheduler.model.pod import EXTENDED_CLAIM, ContainerStatus, PodCondition
from descheduler.model.requests import ResizedRequests
from tests.builders import Object, container_status, decode_pod, make_pod, pod_object

MIB = 2**20 * 10**9


def condition(kind: str, status: str, **fields: object) -> Object:
    return {"type": kind, "status": status, **fields}


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        pytest.param([condition("Ready", "True")], True, id="it is"),
        pytest.param([condition("Ready", "False")], False, id="it is not"),
        pytest.param([condition("Ready", "False"), condition("Initialized", "True")], False, id="something else is"),
        pytest.param([{"status": "True", "type": "Ready"}], True, id="status before type"),
        pytest.param([{"type": "Ready", "observedGeneration": 3, "status": "True"}], True, id="a generation between"),
        pytest.param([{"type": "Ready", "message": "a } b", "status": "True"}], True, id="a brace between"),
        pytest.param(
            [condition("Ready", "False", message='{"type":"Ready","status":"True"}')],
            False,
            id="only a message says so",
        ),
        pytest.param(
            [condition("Initialized", "True", message='"type":"Ready"'), condition("Ready", "False")],
            False,
            id="a message before says so",
        ),
        pytest.param([condition("Ready", "False"), condition("Ready", "True")], False, id="the first one counts"),
        pytest.param([], False, id="nothing is said"),
        pytest.param(None, False, id="no conditions"),
    ],
)
@pytest.mark.parametrize("indent", [None, 1], ids=["compact", "indented"])
def test_ready_condition_decides(conditions: list[Object] | None, indent: int | None, *, expected: bool) -> None:
    separators = (",", ":") if indent is None else None

    assert is_ready(json.dumps(conditions, indent=indent, separators=separators).encode()) is expected


def test_states_of_containers_are_kept_in_order() -> None:
    pod = make_pod(
        "x",
        containers=[container_status(2), container_status(1, waiting="CrashLoopBackOff")],
        init_containers=[container_status(0, terminated="Completed")],
    )

    assert pod.container_statuses == (ContainerStatus(2), ContainerStatus(1, waiting_reason="CrashLoopBackOff"))
    assert pod.init_container_statuses == (ContainerStatus(0, terminated_reason="Completed", exit_code=0),)


def test_equal_states_are_one_value() -> None:
    pods = [make_pod("x", containers=[container_status(3)]) for _ in range(2)]

    assert pods[0].container_statuses is pods[1].container_statuses


def test_nominated_node_is_kept() -> None:
    pod = pod_object("x")
    pod["status"]["nominatedNodeName"] = "b"

    assert decode_pod(pod).nominated_node_name == "b"


def requests(**quantities: str) -> Object:
    return {"resources": {"requests": quantities}}


def resized(*, spec: Object, status: Object) -> ResizedRequests | None:
    pod = pod_object("x", spec=spec)
    pod["status"] |= status
    return decode_pod(pod).resized


ONE_CORE = {"containers": [{"name": "c", **requests(cpu="1", memory="1Mi")}]}
TWO = {"containers": [{"name": "a", **requests(cpu="1")}, {"name": "b", **requests(cpu="2")}]}
INIT = {"initContainers": [{"name": "i", **requests(cpu="1")}]}
SIDECAR = {"initContainers": [{"name": "i", "restartPolicy": "Always", **requests(cpu="1")}]}
POD_LEVEL = {"resources": {"requests": {"cpu": "3"}}}
INFEASIBLE = {"conditions": [condition("PodResizePending", "True", reason="Infeasible")]}


def held(cpu_milli: int, memory_mib: int = 1) -> ResizedRequests:
    amounts = {"cpu": cpu_milli * 10**6, "memory": memory_mib * MIB}
    return ResizedRequests(amounts, amounts)


@pytest.mark.parametrize(
    ("spec", "status", "expected"),
    [
        pytest.param(ONE_CORE, {}, None, id="no status"),
        pytest.param(
            ONE_CORE,
            {"containerStatuses": [{"name": "c", **requests(cpu="1", memory="1Mi")}]},
            None,
            id="given what it asks for",
        ),
        pytest.param(
            ONE_CORE,
            {
                "containerStatuses": [
                    {
                        "name": "c",
                        **requests(memory="1024Ki", cpu="1000m"),
                        "allocatedResources": {"cpu": "1", "memory": "1Mi"},
                    }
                ]
            },
            None,
            id="the same in other words",
        ),
        pytest.param(
            ONE_CORE,
            {"containerStatuses": [{"name": "c", **requests(cpu="2", memory="1Mi")}]},
            held(2000),
            id="given more, while it shrinks",
        ),
        pytest.param(
            ONE_CORE,
            {
                "containerStatuses": [
                    {"name": "c", **requests(cpu="1", memory="1Mi"), "allocatedResources": {"cpu": "3"}}
                ]
            },
            held(3000),
            id="promised more",
        ),
        pytest.param(
            ONE_CORE,
            {"containerStatuses": [{"name": "c", **requests(cpu="500m", memory="1Mi")}]},
            None,
            id="still given less",
        ),
        pytest.param(
            ONE_CORE,
            {"containerStatuses": [{"name": "c", **requests(cpu="500m", memory="1Mi")}], **INFEASIBLE},
            held(500),
            id="the node has no room for what is asked",
        ),
        pytest.param(
            ONE_CORE,
            {"containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "5"}}], **INFEASIBLE},
            held(1000),
            id="promises count only beside what was given",
        ),
        pytest.param(
            TWO,
            {"containerStatuses": [{"name": "b", **requests(cpu="2")}, {"name": "a", **requests(cpu="1")}]},
            None,
            id="statuses in another order",
        ),
        pytest.param(
            TWO,
            {"containerStatuses": [{"name": "b", **requests(cpu="1")}, {"name": "a", **requests(cpu="2")}]},
            ResizedRequests({"cpu": 4 * 10**9}, {"cpu": 4 * 10**9, "memory": 400 * MIB}),
            id="each container counts by itself",
        ),
        pytest.param(
            ONE_CORE | SIDECAR,
            {"initContainerStatuses": [{"name": "i", **requests(cpu="2")}]},
            ResizedRequests({"cpu": 3 * 10**9, "memory": MIB}, {"cpu": 3 * 10**9, "memory": 201 * MIB}),
            id="a sidecar",
        ),
        pytest.param(
            ONE_CORE | INIT,
            {"initContainerStatuses": [{"name": "i", **requests(cpu="2")}]},
            ResizedRequests({"cpu": 10**9, "memory": MIB}, {"cpu": 10**9, "memory": 200 * MIB}),
            id="an init container that ends",
        ),
        pytest.param(
            ONE_CORE | POD_LEVEL, {"resources": {"requests": {"cpu": "4"}}}, held(4000), id="the pod as a whole"
        ),
        pytest.param(
            ONE_CORE | POD_LEVEL,
            {"resources": {"requests": {"cpu": "2"}}, "allocatedResources": {"cpu": "1"}, **INFEASIBLE},
            held(2000),
            id="the pod as a whole, without room for what it asks",
        ),
        pytest.param(
            ONE_CORE, {"resources": {"requests": {"cpu": "4"}}}, None, id="the sum of a pod that asks per container"
        ),
        pytest.param(
            ONE_CORE | POD_LEVEL,
            {"resources": {"requests": {"memory": "4Gi"}}},
            held(3000),
            id="the pod as a whole, of which something else is reported",
        ),
    ],
)
def test_pod_that_is_being_resized_holds_the_most_of_all_amounts(
    spec: Object, status: Object, expected: ResizedRequests | None
) -> None:
    found = resized(spec=spec, status=status)

    assert (None if found is None else replace(found, summed=None)) == expected


ONLY_PROMISED = {"containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "5", "memory": "1Mi"}}]}


@pytest.mark.parametrize(
    ("spec", "status", "cpu_milli", "memory_mib"),
    [
        pytest.param(
            TWO,
            {
                "containerStatuses": [
                    {"name": "b", **requests(cpu="1"), "allocatedResources": {"cpu": "1"}},
                    {"name": "a", **requests(cpu="2500m"), "allocatedResources": {"cpu": "2500m"}},
                ]
            },
            3500,
            0,
            id="the largest sum, not the sum of the largest",
        ),
        pytest.param(ONE_CORE, ONLY_PROMISED, 5000, 1, id="promises alone"),
        pytest.param(ONE_CORE, ONLY_PROMISED | INFEASIBLE, 5000, 1, id="promises alone, with a node without room"),
        pytest.param(ONE_CORE, INFEASIBLE, 0, 0, id="nothing where the node has no room and nothing was promised"),
        pytest.param(
            ONE_CORE | INIT,
            {"initContainerStatuses": [{"name": "i", **requests(cpu="2")}]},
            2000,
            1,
            id="an init container that ends",
        ),
        pytest.param(
            ONE_CORE | SIDECAR,
            {"initContainerStatuses": [{"name": "i", **requests(cpu="2")}]},
            3000,
            1,
            id="a sidecar",
        ),
        pytest.param(
            ONE_CORE,
            {"allocatedResources": {"cpu": "2", "memory": "3Mi"}, "resources": {"requests": {"cpu": "4"}}},
            4000,
            3,
            id="what is reported of the pod as a whole",
        ),
        pytest.param(
            ONE_CORE,
            {"resources": {"requests": {"cpu": "4"}}, **ONLY_PROMISED},
            5000,
            1,
            id="the containers where less is reported of the pod as a whole",
        ),
        pytest.param(
            ONE_CORE | POD_LEVEL,
            {"resources": {"requests": {"memory": "4Mi"}}},
            3000,
            4,
            id="all of a pod-level status",
        ),
    ],
)
def test_pod_that_is_being_resized_holds_the_largest_of_three_sums_from_1_37_on(
    spec: Object, status: Object, cpu_milli: int, memory_mib: int
) -> None:
    found = resized(spec=spec, status=status)

    assert found is not None
    held_since = (found.summed or found).requests
    assert (held_since.get("cpu", 0), held_since.get("memory", 0)) == (cpu_milli * 10**6, memory_mib * MIB)


@pytest.mark.parametrize(
    ("overhead", "cpu_milli"), [({}, 2000), ({"cpu": "500m"}, 2500), ({"cpu": "500m", "pods": "1"}, 2500)]
)
def test_overhead_of_a_pod_comes_on_top_of_what_its_containers_hold(overhead: Object, cpu_milli: int) -> None:
    statuses = [{"name": "c", **requests(cpu="2", memory="1Mi"), "allocatedResources": {"cpu": "2", "memory": "1Mi"}}]

    found = resized(spec=ONE_CORE | {"overhead": overhead}, status={"containerStatuses": statuses})

    assert found is not None
    since = found.summed or found
    assert (found.requests["cpu"], since.requests["cpu"]) == (cpu_milli * 10**6, cpu_milli * 10**6)
    assert since.requests.get("pods", 0) == (10**9 if "pods" in overhead else 0)


@pytest.mark.parametrize(
    "status",
    [
        pytest.param({"name": "c"}, id="nothing"),
        pytest.param({"name": "c", "allocatedResources": {"cpu": "1000m", "memory": "1Mi"}}, id="what it asks for"),
        pytest.param({"name": "other", **requests(cpu="9")}, id="another container"),
        pytest.param({"name": "c", "resources": None, "allocatedResources": None}, id="nulls"),
    ],
)
def test_pod_whose_status_reports_nothing_else_is_not_resized(status: Object) -> None:
    assert resized(spec=ONE_CORE, status={"containerStatuses": [status]}) is None


MOMENTS = [datetime(2026, 1, 2, 3, 4, second, tzinfo=UTC) for second in (5, 6)]


def test_conditions_keep_their_times_whether_they_change_together_or_not() -> None:
    times = [None, "2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z", "2026-01-02T03:04:06Z", None, "0001-01-01T00:00:00Z"]
    block = json.dumps(
        [{"type": "A", "status": "True", "reason": "r", "lastTransitionTime": at} for at in times] + [{}]
    )

    found = decode_conditions(block.encode())

    early, late = MOMENTS
    assert [each.transitioned_at for each in found] == [None, early, early, late, None, None, None]
    assert found[0] == PodCondition("A", "True", "r", None)
    assert found[-1] == PodCondition("", "", "", None)
    assert decode_conditions(b"null") == ()


@pytest.mark.parametrize(
    ("told", "claims"),
    [
        ({}, {}),
        ({"resourceClaimStatuses": [{"name": "a", "resourceClaimName": "c"}, {}]}, {"a": "c", "": ""}),
        ({"extendedResourceClaimStatus": {}}, {}),
        ({"extendedResourceClaimStatus": {"resourceClaimName": "e"}}, {EXTENDED_CLAIM: "e"}),
    ],
)
def test_claims_that_were_made_for_a_pod_are_known(told: Object, claims: Object) -> None:
    pod = pod_object("x")
    pod["status"] |= told

    assert decode_pod(pod).generated_claims == claims


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({}, ContainerStatus(0, None, None, None)),
        ({"state": {}}, ContainerStatus(0, None, None, None)),
        ({"state": {"waiting": {}}}, ContainerStatus(0, "", None, None)),
        ({"restartCount": 3, "state": {"waiting": {"reason": "w"}}}, ContainerStatus(3, "w", None, None)),
        ({"state": {"terminated": {}}}, ContainerStatus(0, None, "", 0)),
        ({"state": {"terminated": {"reason": "t", "exitCode": 5}}}, ContainerStatus(0, None, "t", 5)),
    ],
)
def test_state_of_a_container_is_what_it_says_now(state: Object, expected: ContainerStatus) -> None:
    assert make_pod("x", containers=[state]).container_statuses == (expected,)


def test_what_is_held_is_told_of_pods_that_are_being_resized_alone() -> None:
    pod = pod_object("x", spec=ONE_CORE)
    pod["status"]["containerStatuses"] = [{"name": "c", **requests(cpu="2", memory="1Mi")}]

    grown, plain = decode_pod(pod), make_pod("y", spec=ONE_CORE)

    assert grown.resized is not None
    assert (grown.resized.requests["cpu"], grown.resized.scoring_requests["cpu"]) == (2 * 10**9, 2 * 10**9)
    assert plain.resized is None
