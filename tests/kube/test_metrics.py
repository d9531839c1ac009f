from __future__ import annotations

from typing import Any

import pytest

from descheduler.kube.client import KubeClient
from descheduler.kube.errors import KindAbsent, KubeError
from descheduler.kube.metrics import Usage, read_node_usage, read_pod_usage
from tests.integration.fake_api import FakeApi

NODES = "/apis/metrics.k8s.io/v1beta1/nodes"
PODS = "/apis/metrics.k8s.io/v1beta1/pods"


def make_node(name: str, **usage: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "timestamp": "2026-01-01T00:00:00Z", "window": "10s", "usage": usage}


def make_pod(name: str, *containers: dict[str, str]) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "namespace": "shop"},
        "containers": [{"name": f"c{number}", "usage": usage} for number, usage in enumerate(containers)],
    }


def test_nodes_are_read_with_one_list_and_rounded_up(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.add(NODES, make_node("n1", cpu="1500000001n", memory="2Ki"), make_node("n2", cpu="2"))

    usage = read_node_usage(client)

    assert usage == {"n1": Usage(1501, 2048), "n2": Usage(2000, None)}
    assert len(fake_api.requests) == 1


def test_pod_usage_is_the_sum_of_its_containers(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.add(PODS, make_pod("cart", {"cpu": "100m", "memory": "1Mi"}, {"cpu": "500u", "memory": "1"}))

    usage = read_pod_usage(client)

    assert usage == {("shop", "cart"): Usage(101, 1048577)}


@pytest.mark.parametrize("containers", [pytest.param([], id="an empty list"), pytest.param(None, id="null")])
def test_pod_without_containers_has_no_usage(
    fake_api: FakeApi, client: KubeClient, containers: list[object] | None
) -> None:
    fake_api.add(PODS, make_pod("cart") | {"containers": containers}, make_pod("till", {"cpu": "1", "memory": "1"}))

    usage = read_pod_usage(client)

    assert usage == {("shop", "till"): Usage(1000, 1)}


def test_cluster_without_a_metrics_server_says_so(client: KubeClient) -> None:
    with pytest.raises(KindAbsent, match=r"does not serve nodes\.metrics\.k8s\.io"):
        read_node_usage(client)


def test_figure_that_is_no_quantity_names_the_node(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.add(NODES, make_node("n1", cpu="lots"))

    with pytest.raises(KubeError, match="metrics of node n1: cpu: 'lots' is not a quantity"):
        read_node_usage(client)


def test_list_of_another_shape_is_refused(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.add(NODES, {"metadata": {"name": 1}})

    with pytest.raises(KubeError, match="metrics server's list does not decode"):
        read_node_usage(client)
