"""The version of the program: one number for the package, the image and the chart."""

from __future__ import annotations

VERSION = "0.1.0"
