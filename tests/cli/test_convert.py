"""`descheduler convert`: a policy on standard output, what is lost on standard error."""

from __future__ import annotations

from pathlib import Path

from descheduler.cycle.plugins import REGISTRY
from descheduler.policy.load import load_policy
from tests.cli.commands import Descheduler

POLICY = """\
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
gracePeriodSeconds: 5
profiles:
- name: p
  pluginConfig: [{name: RemovePodsViolatingNodeTaints}]
  plugins: {deschedule: {enabled: [RemovePodsViolatingNodeTaints]}}
"""


def test_policy_is_printed_and_what_is_lost_is_listed(descheduler: Descheduler, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY)

    done = descheduler("convert", file)

    assert done.code == 0
    assert load_policy(done.out, REGISTRY).kind == "DeschedulerConfiguration"
    lost = "gracePeriodSeconds: is not converted; the pods' own grace periods hold"
    assert f"note: {file}:3:21: {lost}" in done.err


def test_file_of_another_kind_is_refused(descheduler: Descheduler, tmp_path: Path) -> None:
    file = tmp_path / "pod.yaml"
    file.write_text("kind: Pod\napiVersion: v1\n")

    done = descheduler("convert", file)

    assert (done.code, done.out) == (2, "")
    assert done.err == f"{file}: is not a DeschedulerPolicy or volcano-scheduler.conf, which can be converted\n"
