"""What can go wrong between this program and a server; a class only where a caller acts on it."""

from __future__ import annotations


class ExchangeError(Exception):
    """Base of every error of calls to servers; its text is one sentence with a way out, without any credential."""


class SettingsError(ExchangeError):
    """No usable connection settings: a file or a token that is missing, malformed or inconsistent, for example."""


class TransportError(ExchangeError):
    """No usable answer: refused, reset, timed out, cut short or damaged. Whether a write took place is unknown."""


class NotConnected(TransportError):  # noqa: N818 - a state callers act on, named after what it says
    """No connection could be made, so nothing was sent: no write took place."""


class AnswerTooLarge(TransportError):  # noqa: N818 - an answer callers act on, named after what it says
    """An answer that was given up for its size. To ask for the same again would only cost the same again."""


class Withheld(NotConnected):
    """The caller changed its mind before anything was sent."""


class AnswerBroken(TransportError):  # noqa: N818 - a state callers act on, named after what it says
    """An answer that was read as it came ended in its middle; drop what was read and start again."""
