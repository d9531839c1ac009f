"""Values of header fields."""

from __future__ import annotations

import pytest

from descheduler.transport.errors import SettingsError
from descheduler.transport.header_values import bearer, user_header


@pytest.mark.parametrize(("name", "value"), [("ops", "ops"), ("Zoë ~", "ZoÃ« ~"), (" ", " "), ("", "")])
def test_name_of_a_user_goes_as_utf8(name: str, value: str) -> None:
    assert user_header(name, "as") == value


@pytest.mark.parametrize("character", ["\n", "\x00", "\x1f", "\x7f", "\ud800"])
def test_character_that_no_header_can_carry_is_refused(character: str) -> None:
    with pytest.raises(SettingsError, match=r"^as holds a line break or a character that HTTP headers cannot carry$"):
        user_header(f"a{character}b", "as")


def test_blanks_around_a_token_are_no_part_of_it() -> None:
    assert bearer(" t0ken \n", "the token") == "Bearer t0ken"
    assert bearer(" \n", "the token") == ""
