from __future__ import annotations

import pytest

from descheduler.explanation.finding import UnknownSubjectError, find_node, find_plugin, find_pod
from tests.builders import make_node, make_pod, make_snapshot

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
