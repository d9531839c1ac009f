"""Labels of what is created to hold room."""

from __future__ import annotations

__all__ = ["JOB_LABEL"]

JOB_LABEL = "descheduler/job"
"""The UID of the job that an object holds room for."""
