from __future__ import annotations

from tests.cli.commands import restored_logging

__all__ = ["restored_logging"]
