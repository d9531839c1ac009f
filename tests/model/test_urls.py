from __future__ import annotations

import base64

import pytest

from descheduler.model.text.urls import (
    is_host_name,
    is_https,
    is_web_url,
    shown_url,
    split_userinfo,
    without_user_part,
)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        pytest.param("https://host:1/p?q=1", "https://host:1/p?q=1", id="nothing to hide"),
        pytest.param("https://user:pass@host/p", "https://***@host/p", id="user and password"),
        pytest.param("https://t0ken@host", "https://***@host", id="a token as user"),
        pytest.param("https://user:pa@ss@host", "https://***@host", id="a password with an at sign"),
        pytest.param("https://user:pa/ss@host", "https://***@host", id="a password with a slash"),
        pytest.param("user:pass@host:3128", "***@host:3128", id="no scheme"),
        pytest.param("//user:pass@host", "//***@host", id="no scheme but slashes"),
        pytest.param("http:/user:pass@host", "***@host", id="a slash too few"),
        pytest.param("http://user:pa\nss@host", "http://***@host", id="a line break"),
    ],
)
def test_user_part_is_hidden_wherever_it_may_end(url: str, shown: str) -> None:
    assert shown_url(url) == shown


@pytest.mark.parametrize(
    ("url", "bare", "login"),
    [
        pytest.param("http://a:b@h:1/p?q#f", "http://h:1/p?q#f", b"a:b", id="both"),
        pytest.param("HTTP://a@h", "http://h", b"a:", id="a user alone"),
        pytest.param("http://a%40:%C3%A4%3A@h", "http://h", b"a@:\xc3\xa4:", id="escapes"),
        pytest.param("http://a:b@c@h", "http://h", b"a:b@c", id="an at sign that was not escaped"),
    ],
)
def test_user_part_becomes_basic_authentication(url: str, bare: str, login: bytes) -> None:
    split = split_userinfo(url)

    assert split.url == bare
    assert base64.b64decode(split.authorization.removeprefix("Basic ")) == login
    assert split.authorization not in repr(split)


def test_url_without_user_part_asks_for_nothing() -> None:
    split = split_userinfo("https://host/a@b")

    assert (split.url, split.authorization) == ("https://host/a@b", "")


@pytest.mark.parametrize(
    "url", ["https://h", "http://h:1", "http://h:65535/p", "http://[::1]:9090", "http://a:b@h", "HTTPS://h"]
)
def test_web_url_is_recognized(url: str) -> None:
    assert is_web_url(url)


@pytest.mark.parametrize(
    "url", ["", "h:1", "ftp://h", "http://", "http://:1", "http://h:0", "http://h:99999", "http://h h", "http://h\n"]
)
def test_what_is_no_web_url_is_recognized(url: str) -> None:
    assert not is_web_url(url)


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        pytest.param("https://user:pa/ss@host/p", "https://host/p", id="a URL"),
        pytest.param("https://t0ken@host", "https://host", id="a URL with a user alone"),
        pytest.param("//user:pass@host", "//host", id="no scheme but slashes"),
        pytest.param("user:pass@host:3128", "host:3128", id="an address"),
        pytest.param("pool/disk@snapshot", "pool/disk@snapshot", id="a handle"),
        pytest.param("user@host", "user@host", id="no password"),
        pytest.param("https://host", "https://host", id="nothing to take out"),
    ],
)
def test_user_part_is_taken_out_of_urls_and_addresses(text: str, bare: str) -> None:
    assert without_user_part(text) == bare


@pytest.mark.parametrize(
    ("name", "can_be"),
    [
        pytest.param("host.example.com", True, id="a name"),
        pytest.param("10.0.0.1", True, id="an address"),
        pytest.param("fe80::1", True, id="an address of IPv6"),
        pytest.param("fe80::1%eth0", True, id="an address of IPv6 with a zone"),
        pytest.param("ho%73t", False, id="an escape"),
        pytest.param("a" * 63, True, id="the longest label"),
        pytest.param("a" * 64, False, id="a longer label"),
        pytest.param("a..b", False, id="an empty label"),
        pytest.param("", False, id="nothing"),
    ],
)
def test_name_of_a_host(name: str, can_be: bool) -> None:
    assert is_host_name(name) is can_be


@pytest.mark.parametrize(
    ("url", "is_private"), [("https://h", True), ("HTTPS://h", True), ("http://h", False), ("https", False)]
)
def test_https_is_read_by_its_receiver_alone(url: str, is_private: bool) -> None:
    assert is_https(url) is is_private
