"""What a selector answers for the device of these tests."""

from __future__ import annotations

from descheduler.placement.cel import (
    CelDevice,
    EvaluationError,
    InvalidExpression,
    Quantity,
    Unsupported,
    Version,
    compile_selector,
)

DEVICE = CelDevice.of(
    "gpu.io",
    {
        "model": "A100",
        "index": 7,
        "healthy": True,
        "broken": False,
        "version": Version.parse("1.2.3-rc.1"),
        "other.io/tier": "gold",
    },
    {"memory": Quantity.parse("40Gi"), "share": Quantity.parse("500m")},
    allow_multiple_allocations=True,
)
"""A device of the driver gpu.io."""
ERROR = "error"
"""A runtime error, which ends the attempt."""
INVALID = "invalid"
"""The API server refuses the expression."""
UNSUPPORTED = "unsupported"
"""The expression is outside the subset."""


def answer(expression: str, device: CelDevice = DEVICE) -> bool | str:
    """True or False, or which of the three kinds of failure."""
    try:
        return compile_selector(expression).matches(device)
    except EvaluationError:
        return ERROR
    except InvalidExpression:
        return INVALID
    except Unsupported:
        return UNSUPPORTED


def about(names: str) -> str:
    """`names` with `#x` for the attribute x of gpu.io, and `$x` for its capacity x."""
    return names.replace("#", "device.attributes['gpu.io'].").replace("$", "device.capacity['gpu.io'].")
