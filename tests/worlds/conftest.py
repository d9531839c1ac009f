from __future__ import annotations

from tests.cli.commands import descheduler, restored_logging

__all__ = ["descheduler", "restored_logging"]
