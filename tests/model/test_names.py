"""Names that objects of Kubernetes may have."""

from __future__ import annotations

import pytest

from descheduler.model.names import is_subdomain


@pytest.mark.parametrize("text", ["a", "7", "n-1", "node-1.example.com", "a" * 253])
def test_dns_subdomain_is_a_name(text: str) -> None:
    assert is_subdomain(text)


@pytest.mark.parametrize("text", ["", "-a", "a-", "a..b", ".a", "A", "a_b", "a/b", "a\n", "ä", "a" * 254])
def test_what_the_api_server_refuses_is_none(text: str) -> None:
    assert not is_subdomain(text)
