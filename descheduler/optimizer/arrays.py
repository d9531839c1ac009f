"""The array types of the optimizer."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

PENDING = -1
"""The node of a pod that has none, in an assignment."""
