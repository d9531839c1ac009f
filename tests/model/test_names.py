"""Names that objects of Kubernetes may have."""

from __future__ import annotations

import pytest

from descheduler.model.names import is_container_resource, is_extended_resource, is_name_part, is_subdomain


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


@pytest.mark.parametrize(
    ("text", "is_one"),
    [("a", True), ("A_b.c-9", True), ("a" * 63, True), ("a" * 64, False), ("", False), ("-a", False), ("a-", False)],
)
def test_part_of_a_name_has_at_most_63_characters(text: str, is_one: bool) -> None:
    assert is_name_part(text) is is_one


@pytest.mark.parametrize(
    ("name", "is_extended"),
    [
        pytest.param("example.com/gpu", True, id="of another domain"),
        pytest.param("gpu", False, id="no domain"),
        pytest.param("kubernetes.io/batch-cpu", False, id="of Kubernetes"),
        pytest.param("x.kubernetes.io/batch-cpu", False, id="of a domain of Kubernetes"),
        pytest.param("requests.example.com/gpu", False, id="of quotas"),
        pytest.param("requests.cpu", False, id="of quotas without a domain"),
    ],
)
def test_extended_resource_is_of_somebody_else(name: str, is_extended: bool) -> None:
    assert is_extended_resource(name) is is_extended
