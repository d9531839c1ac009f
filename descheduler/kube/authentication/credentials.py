"""What proves who asks: the value of the Authorization field, and how it is renewed while a run goes on."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from descheduler.transport.errors import SettingsError
from descheduler.transport.header_values import bearer

_FILE_SECONDS = 60.0
"""How long a token from a file is used before the file is read again; as client-go, `transport/token_source.go`."""

_LEAST_SECONDS = 10.0
"""How long a token stays in use at least, however short-lived it is or whether or not it could be renewed."""


class Credentials(Protocol):
    """Where the Authorization field comes from. Not made for several threads at once."""

    def authorization(self) -> str:
        """The value of the field as of now, "" for none. Raises SettingsError."""

    def refuse(self, authorization: str) -> None:
        """Takes note that the server did not accept this value, so that another one is looked for."""


@dataclass(frozen=True, slots=True)
class FixedCredentials:
    """Always the same value."""

    value: str = field(default="", repr=False)

    def authorization(self) -> str:
        return self.value

    def refuse(self, authorization: str) -> None:
        """Changes nothing: there is no other value."""


NO_CREDENTIALS = FixedCredentials()
"""The field is not sent."""


@dataclass(frozen=True, slots=True)
class Issued:
    """A value of the Authorization field, and for how many seconds it is used before the next one is asked for."""

    value: str = field(repr=False)
    seconds: float


class RenewedCredentials:
    """A value that `issue` gives and renews: when its time is over, and after the server has refused it.

    A value that cannot be renewed stays in use, as in client-go: the server may still accept it. `clock` counts
    seconds that never go back.
    """

    def __init__(self, issue: Callable[[], Issued], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._issue = issue
        self._clock = clock
        self._value = ""
        self._renew_at = float("-inf")

    def authorization(self) -> str:
        """The value as of now. Raises SettingsError when none was ever had."""
        if self._clock() >= self._renew_at:
            self._renew()
        return self._value

    def refuse(self, authorization: str) -> None:
        """The next call asks for a new value, unless that has happened since."""
        if authorization == self._value:
            self._renew_at = float("-inf")

    def _renew(self) -> None:
        try:
            issued = self._issue()
        except SettingsError:
            if not self._value:
                raise
            self._renew_at = self._clock() + _LEAST_SECONDS
        else:
            self._value, self._renew_at = issued.value, self._clock() + max(issued.seconds, _LEAST_SECONDS)


def read_token(file: Path, owner: str) -> str:
    """What `file` holds, a token. Raises SettingsError, which names the `owner` of the token."""
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        cause = str(getattr(error, "strerror", None) or "it is not text").lower()
        raise SettingsError(f"{owner} cannot be read from {file}: {cause}") from None


def read_token_file(file: Path, owner: str) -> Issued:
    """The bearer token in `file`, for a minute. Raises SettingsError, which names the `owner` of the token."""
    value = bearer(read_token(file, owner), owner)
    if not value:
        raise SettingsError(f"{owner} cannot be read from {file}: the file is empty")
    return Issued(value, _FILE_SECONDS)
