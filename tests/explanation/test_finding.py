from __future__ import annotations

import pytest

from descheduler.explanation.finding import (
    UnknownSubjectError,
    find_group,
    find_key,
    find_node,
    find_plugin,
    find_pod,
)
from descheduler.model.groups.workloads import Workload
from descheduler.model.pod import Pod
from tests.builders import make_node, make_pod, make_snapshot, owner

SNAPSHOT = make_snapshot(
    [make_node("worker-1"), make_node("worker-2")],
    [
        make_pod("cart-7f9", namespace="shop"),
        make_pod("cart-7f9", namespace="test"),
        make_pod("till", namespace="shop"),
    ],
    source="dump.json",
)


def test_pods_and_nodes_are_found_by_name() -> None:
    assert find_pod(SNAPSHOT, "shop/till").name == "till"
    assert find_node(SNAPSHOT, "worker-2").name == "worker-2"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param(
            "shop/cart-7f8",
            "no pod 'shop/cart-7f8' in dump.json; did you mean 'shop/cart-7f9'?",
            id="a misspelt pod is found near by",
        ),
        pytest.param(
            "stop/till", "no pod 'stop/till' in dump.json; there is 'shop/till'", id="a pod of another namespace"
        ),
        pytest.param(
            "cart-7f9",
            "'cart-7f9' is in several namespaces; write 'shop/cart-7f9' or 'test/cart-7f9'",
            id="a name in two namespaces",
        ),
        pytest.param(
            "svc/web",
            "no pod 'svc/web' in dump.json; "
            "namespace 'svc' has no pods (write NAMESPACE/NAME, or TYPE/NAME for another type)",
            id="a type that cannot be explained",
        ),
        pytest.param("thing", "no pod 'thing' in any namespace of dump.json", id="a name without namespace"),
        pytest.param("shop/\x1b[31m", "no pod 'shop/\\x1b[31m' in dump.json", id="a name that does not print"),
    ],
)
def test_a_pod_that_is_not_there_is_named_with_the_way_out(name: str, message: str) -> None:
    with pytest.raises(UnknownSubjectError) as raised:
        find_pod(SNAPSHOT, name)

    assert str(raised.value) == message


def test_a_node_that_is_not_there_is_named_with_the_nearest() -> None:
    with pytest.raises(UnknownSubjectError, match=r"no node 'worker1' in dump.json; did you mean 'worker-1'\?"):
        find_node(SNAPSHOT, "worker1")


def test_plugins_are_found_in_any_case_of_letters() -> None:
    assert find_plugin(["PodLifeTime", "NodePorts"], "podlifetime") == "PodLifeTime"


def test_a_plugin_that_is_near_nothing_is_answered_with_all_there_are() -> None:
    with pytest.raises(UnknownSubjectError, match="no plugin 'x'; known are PodLifeTime, NodePorts"):
        find_plugin(["PodLifeTime", "NodePorts"], "x")


def test_pod_that_no_other_namespace_has_is_found_by_its_name_alone() -> None:
    assert find_pod(SNAPSHOT, "till").key == "shop/till"


def test_namespace_without_a_pod_near_by_is_searched_for_in_all() -> None:
    with pytest.raises(UnknownSubjectError, match="did you mean 'shop/cart-7f9'"):
        find_pod(SNAPSHOT, "shpo/cart-7f8")


def test_first_namespaces_of_a_name_are_listed() -> None:
    pods = [make_pod("web", namespace=f"n{number}") for number in range(7)]

    for number, end in ((5, "'n4/web'"), (6, "'n4/web' or 1 other"), (7, "'n4/web' or 2 others")):
        with pytest.raises(UnknownSubjectError) as raised:
            find_pod(make_snapshot([], pods[:number]), "web")
        assert str(raised.value).endswith(f"or {end}")


@pytest.mark.parametrize(
    ("name", "key"),
    [
        pytest.param("shop/web", "shop/web", id="with its namespace"),
        pytest.param("db", "shop/db", id="the only one of its name"),
        pytest.param("alone", "alone", id="in no namespace"),
    ],
)
def test_key_is_found_by_its_name(name: str, key: str) -> None:
    assert find_key("thing", SNAPSHOT, name, ["shop/web", "test/web", "shop/db", "alone"]) == key


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("web", "'web' is in several namespaces; write 'shop/web' or 'test/web'", id="in two"),
        pytest.param("other/db", "no thing 'other/db' in dump.json; there is 'shop/db'", id="elsewhere"),
        pytest.param(
            "other/web", "no thing 'other/web' in dump.json; there is 'shop/web' or 'test/web'", id="elsewhere twice"
        ),
        pytest.param("shop/wbe", "no thing 'shop/wbe' in dump.json; did you mean 'shop/web'?", id="misspelt"),
    ],
)
def test_key_that_is_not_known_is_named_with_the_way_out(name: str, message: str) -> None:
    with pytest.raises(UnknownSubjectError) as raised:
        find_key("thing", SNAPSHOT, name, ["shop/web", "test/web", "shop/db"])

    assert str(raised.value) == message


def test_snapshot_without_a_name_is_called_so() -> None:
    with pytest.raises(UnknownSubjectError, match="no node 'x' in the snapshot"):
        find_node(make_snapshot(), "x")


def group(kind: str, name: str, *pods: Pod, **known: Workload) -> list[str]:
    """The names of the pods of a workload, where these other workloads are known."""
    workloads = {each.uid: each for each in known.values()}
    return [pod.name for pod in find_group(make_snapshot([], pods, workloads=workloads), kind, name).pods]


def replica_set(name: str, *owners: str) -> Workload:
    made = make_pod("any", owners=[owner(each) for each in owners])
    return Workload("ReplicaSet", "default", name, f"replicaset-{name}", 1, owners=made.owners)


def test_pods_of_a_workload_are_those_that_have_not_finished() -> None:
    pods = [
        make_pod("web-1", owners=["ReplicaSet/web"]),
        make_pod("web-2", owners=["ReplicaSet/web"], phase="Succeeded"),
        make_pod("db-1", owners=["StatefulSet/web"]),
        make_pod("bare", owners=[]),
    ]

    assert group("ReplicaSet", "default/web", *pods) == ["web-1"]
    assert group("StatefulSet", "web", *pods) == ["db-1"]
    assert group("Namespace", "default", *pods) == ["bare", "db-1", "web-1"]


def test_pods_of_a_deployment_are_those_of_its_replica_sets() -> None:
    pods = [make_pod(f"{name}-1", owners=[f"ReplicaSet/{name}"]) for name in ("web-a", "web-b", "own")]

    found = group(
        "Deployment",
        "default/web",
        *pods,
        a=replica_set("web-a", "Deployment/web"),
        own=replica_set("own"),
    )

    assert found == ["web-a-1", "web-b-1"]  # of web-b nothing is known but its name


def test_replica_set_that_was_read_and_has_no_deployment_belongs_to_none() -> None:
    pod = make_pod("web-1", owners=["ReplicaSet/web-a"])

    with pytest.raises(UnknownSubjectError, match="no pods of Deployment 'default/web'"):
        group("Deployment", "default/web", pod, a=replica_set("web-a", "Rollout/web"))


def test_pods_of_a_cron_job_are_those_of_its_jobs() -> None:
    pods = [make_pod("backup-1-x", owners=["Job/backup-1"]), make_pod("web", owners=["ReplicaSet/backup-1"])]

    assert group("CronJob", "backup", *pods) == ["backup-1-x"]
