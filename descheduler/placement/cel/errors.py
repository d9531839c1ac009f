"""What can be wrong with a selector: outside the subset, refused by the API server, or an error on one device."""

from __future__ import annotations


class CelError(Exception):
    """Why an expression has no answer; the message is one clause, lower case, without a trailing stop."""


class Unsupported(CelError):  # noqa: N818 - it is no fault of the expression
    """The expression uses something outside the subset, or needs more steps than allowed: its value is unknown."""


class InvalidExpression(CelError):  # noqa: N818 - the API server's own words
    """The API server refuses the expression: it does not parse, or its types do not fit together."""


class EvaluationError(CelError):
    """The expression has no value for this device, such as where an attribute is missing (a CEL runtime error)."""
