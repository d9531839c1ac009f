"""The expressions that select devices: the subset of CEL that selectors of resource claims use, without a library.

A selector is right or refused: `Unsupported` names what is outside the subset. No expression takes long, or much room.
"""

from __future__ import annotations

from descheduler.placement.cel.errors import CelError, EvaluationError, InvalidExpression, Unsupported
from descheduler.placement.cel.frame import CelDevice
from descheduler.placement.cel.selector import Selector, compile_selector
from descheduler.placement.cel.values import DomainMap, Quantity, Version

__all__ = [
    "CelDevice",
    "CelError",
    "DomainMap",
    "EvaluationError",
    "InvalidExpression",
    "Quantity",
    "Selector",
    "Unsupported",
    "Version",
    "compile_selector",
]
