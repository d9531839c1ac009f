"""Which URLs a policy may name."""

from __future__ import annotations

import pytest

from descheduler.policy.upstream.metrics_providers import url_problem


@pytest.mark.parametrize(
    ("url", "is_valid"),
    [
        ("http://prometheus:9090", True),
        ("prometheus:9090", True),
        ("prometheus", True),
        ("https://user:pass@host/path?q=%zz", True),
        ("http://[::1]:80", True),
        ("http://host:", True),
        ("http://a%20b", False),
        ("http://host:-80", False),
        ("http://host:80a", False),
        ("http://[::1", False),
        ("http://a b", False),
        ("http://host/%zz", False),
        ("10.0.0.1:9090", False),
        ("://host", False),
        ("http://us er@host", False),
        ("http://host\n", False),
        ("http://host#\n", True),
        ("http://[fe80::1%25en0]:80", True),
        ("http://[::ffff:10.0.0.1]", True),
        ("http://[10.0.0.1]", False),
        ("http://[]", False),
        ("http://a[::1]", False),
        ("http://a:1,b:2", False),
        ("postgres://a:1,b:2", True),
    ],
)
def test_urls_are_refused_where_go_refuses_them(url: str, is_valid: bool) -> None:
    assert (url_problem(url) is None) == is_valid
