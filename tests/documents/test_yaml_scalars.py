"""Plain YAML scalars, as Kubernetes reads them."""

from __future__ import annotations

import math

import pytest

from descheduler.documents.yaml_scalars import Scalar, ScalarError, key_text, resolve_plain, resolve_tagged


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("y", True),
        ("N", False),
        ("Off", False),
        ("oN", "oN"),
        ("null", None),
        ("Null", None),
        ("nULL", "nULL"),
        ("12", 12),
        ("-0x1F", -31),
        ("0777", 511),
        ("08", 8.0),
        ("1_000.5", 1000.5),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e3", 1000.0),
        ("1e400", "1e400"),
        ("9223372036854775808", 2**63),
        ("-9223372036854775809", -9223372036854775809.0),
        ("2001-01-01", "2001-01-01"),
        ("1:30", "1:30"),
        ("1.2.3", "1.2.3"),
        ("+", "+"),
        ("5%", "5%"),
        ("1h", "1h"),
        ("=", "="),
        ("0b101", 5),
        ("0o17", 15),
        ("0O17", 15),
        ("-017", -15),
        ("0", 0),
        ("+5", 5),
        ("-9223372036854775808", -(2**63)),
        ("+9223372036854775807", 2**63 - 1),
        ("+9223372036854775808", 2.0**63),
        ("18446744073709551615", 2**64 - 1),
        ("18446744073709551616", 2.0**64),
        ("0x1_F", 31),
        ("._5", "._5"),
        ("-.inf", -math.inf),
        ("2" * 309, "2" * 309),
        ("0." + "5" * 398, 5 / 9),
        ("0." + "5" * 399, "0." + "5" * 399),
    ],
)
def test_plain_scalars_mean_what_go_yaml_makes_of_them(text: str, value: object) -> None:
    assert resolve_plain(text) == value
    assert type(resolve_plain(text)) is type(value)


@pytest.mark.parametrize(
    ("tag", "text", "value"),
    [
        ("!", "5", "5"),
        ("!mine", "5", "5"),
        ("tag:example.com,2002:int", "5", "5"),
        ("str", "5", "5"),
        ("timestamp", "2001-01-01", "2001-01-01"),
        ("null", "~", None),
        ("bool", "yes", True),
        ("int", "0x10", 16),
        ("float", "5", 5.0),
        ("float", "5.5", 5.5),
        ("binary", "aGk=", "hi"),
    ],
)
def test_tag_says_what_a_scalar_is(tag: str, text: str, value: object) -> None:
    found = resolve_tagged(tag if "!" in tag or ":" in tag else f"tag:yaml.org,2002:{tag}", text)

    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("kind", "text"),
    [("null", "x"), ("bool", "1"), ("int", "1.5"), ("int", "yes"), ("float", "yes"), ("float", "x"), ("int", "")],
)
def test_scalar_that_its_tag_does_not_allow_is_refused(kind: str, text: str) -> None:
    with pytest.raises(ScalarError, match=f"^is tagged !!{kind}, but is not one$"):
        resolve_tagged(f"tag:yaml.org,2002:{kind}", text)


def test_binary_that_is_none_is_refused() -> None:
    with pytest.raises(ScalarError, match=r"^is tagged !!binary, but is not base64$"):
        resolve_tagged("tag:yaml.org,2002:binary", "a")


@pytest.mark.parametrize(
    ("key", "text"),
    [("a", "a"), (True, "true"), (False, "false"), (5, "5"), (10**20, str(10**20)), (1e20, "1e+20"), (None, None)],
)
def test_key_is_the_text_that_json_has_for_it(key: Scalar, text: str | None) -> None:
    assert key_text(key) == text
