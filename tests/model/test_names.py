"""Names that objects of Kubernetes may have."""

from __future__ import annotations

import pytest

from descheduler.model.names import is_container_resource, is_subdomain


@pytest.mark.parametrize("text", ["a", "7", "n-1", "node-1.example.com", "a" * 253])
def test_dns_subdomain_is_a_name(text: str) -> None:
    assert is_subdomain(text)


@pytest.mark.parametrize("text", ["", "-a", "a-", "a..b", ".a", "A", "a_b", "a/b", "a\n", "ä", "a" * 254])
def test_what_the_api_server_refuses_is_none(text: str) -> None:
    assert not is_subdomain(text)


@pytest.mark.parametrize(
    "name",
    ["cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "nvidia.com/gpu", "kubernetes.io/batch-cpu", "a.b/C_d.e-F"],
)
def test_resource_that_the_api_server_accepts_is_one(name: str) -> None:
    assert is_container_resource(name)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("gpu", id="no domain"),
        pytest.param("CPU", id="another case"),
        pytest.param("pods", id="of nodes alone"),
        pytest.param("attachable-volumes-aws-ebs", id="of volumes"),
        pytest.param("requests.cpu", id="of quotas"),
        pytest.param("requests.nvidia.com/gpu", id="extended resource of quotas"),
        pytest.param("hugepages-", id="no size"),
        pytest.param("hugepages-2 Mi", id="size with a space"),
        pytest.param("a.b/", id="domain alone"),
        pytest.param("/gpu", id="empty domain"),
        pytest.param("a.b/c/d", id="two slashes"),
        pytest.param("A.b/c", id="domain in capitals"),
        pytest.param(f"a.b/{'c' * 64}", id="too long"),
        pytest.param("", id="empty"),
    ],
)
def test_what_the_api_server_refuses_is_no_resource(name: str) -> None:
    assert not is_container_resource(name)
