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
        ("postgres://a:1,b:x", False),
        ("http://:80", True),
        ("http:///path", True),
        ("///path", True),
        ("//host:80a/path", False),
        ("//host/path", True),
        ("/path:1", True),
        ("mailto:a b", True),
        ("a/b:c", True),
        ("http://host\x1f", False),
        ("http://host\x7f", False),
        ("http://host#%zz", False),
        ("http://host#%41", True),
        ("http://us%zzer@host", False),
        ("http://us%41er@host", True),
        ("http://a@b@host", True),
        ("http://h%c3%b6st", True),
        ("http://h%20st", False),
        ("http://h%zzst", False),
        ("http://[fe80::1%25e n0]:80", False),
        ("http://[fe80::1]:x", False),
    ],
)
def test_urls_are_refused_where_go_refuses_them(url: str, is_valid: bool) -> None:
    assert (url_problem(url) is None) == is_valid


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        pytest.param("http://host:-80", "has an invalid port ':-80' after the host", id="a port"),
        pytest.param("http://a:b@host:-80", "has an invalid port after the host", id="a port beside a password"),
        pytest.param("http://[host]", "has 'host' in brackets, which is not an IPv6 address", id="brackets"),
        pytest.param("http://a:b@[host]", "has no IPv6 address in brackets", id="brackets beside a password"),
    ],
)
def test_parts_are_quoted_where_they_are_no_password(url: str, problem: str) -> None:
    assert url_problem(url) == problem
