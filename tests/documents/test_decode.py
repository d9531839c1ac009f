"""Numbers are held against the bounds of their types."""

from __future__ import annotations

from typing import Annotated

import msgspec
import pytest

from descheduler.documents.decode import Decoder, Strictness
from descheduler.documents.json_document import parse_json
from descheduler.documents.yaml_document import parse_yaml


class Numbers(msgspec.Struct):
    signed: int = 0
    unsigned: Annotated[int, msgspec.Meta(ge=0)] = 0


@pytest.mark.parametrize(
    ("field", "number", "fault"),
    [
        ("signed", 2**63 - 1, ""),
        ("signed", 2**63, "signed: 9223372036854775808 is above 9223372036854775807"),
        ("unsigned", 2**64 - 1, ""),
        ("unsigned", 2**64, "unsigned: 18446744073709551616 is above 18446744073709551615"),
        ("unsigned", -1, "unsigned: -1 is below 0"),
    ],
)
def test_whole_numbers_have_64_bits(field: str, number: int, fault: str) -> None:
    document = parse_json(f'{{"{field}": {number}}}', "x")
    decoder = Decoder(document)

    decoder.struct(document.root, Numbers, (), Strictness("error", "error"))

    assert [f"{each.field}: {each.message}" for each in decoder.problems] == ([fault] if fault else [])


@pytest.mark.parametrize(
    ("field", "faults"),
    [("signed", []), ("unsigned", ["unsigned: expected a whole number, found number -0.0"])],
)
def test_minus_zero_in_yaml_is_a_signed_number_alone(field: str, faults: list[str]) -> None:
    document = parse_yaml(f"{field}: -0.0\n", "x")
    decoder = Decoder(document)

    decoder.struct(document.root, Numbers, (), Strictness("error", "error"))

    assert [f"{each.field}: {each.message}" for each in decoder.problems] == faults
