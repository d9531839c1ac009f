"""How long a plan can be carried out."""

from __future__ import annotations

from datetime import timedelta

MAX_AGE = timedelta(minutes=15)
"""Since its snapshot was read; `--max-age` of `apply` sets another."""
