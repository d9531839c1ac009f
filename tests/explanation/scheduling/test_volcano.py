"""The tables of Volcano's jobs."""

from __future__ import annotations

from descheduler.explanation.scheduling.volcano import RoleFacts, VolcanoJobFacts, job_table
from descheduler.report.tables.table_style import TableStyle


def test_each_task_has_what_is_left_of_it_after_an_eviction() -> None:
    tasks = RoleFacts("worker", 3, 2), RoleFacts("master", 0, 1)
    job = VolcanoJobFacts("batch/a", "default", "Running", 0, 3, 3, 2, "", 1, True, None, tasks, "")

    rows = [line.split() for line in job_table([job], TableStyle())]

    assert ["batch/a", "worker", "2", "3", "2"] in rows
    assert ["batch/a", "master", "1", "0", "0"] in rows
