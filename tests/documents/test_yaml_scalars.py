"""Plain YAML scalars, as Kubernetes reads them."""

from __future__ import annotations

import pytest

from descheduler.documents.yaml_scalars import resolve_plain


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
    ],
)
def test_plain_scalars_mean_what_go_yaml_makes_of_them(text: str, value: object) -> None:
    assert resolve_plain(text) == value
    assert type(resolve_plain(text)) is type(value)
