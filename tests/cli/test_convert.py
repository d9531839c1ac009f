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
    forms = "DeschedulerPolicy or DeschedulerConfiguration or volcano-scheduler.conf"
    assert done.err == f"{file}: is not a {forms}, which can be converted\n"


def test_comments_are_kept(descheduler: Descheduler, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY.replace("profiles:", "# all of it\nprofiles:"))

    assert "\n# all of it\nprofiles:\n" in descheduler("convert", file).out


def test_document_of_koord_descheduler_is_checked(descheduler: Descheduler, tmp_path: Path) -> None:
    file = tmp_path / "koord.yaml"
    file.write_text("apiVersion: descheduler/v1alpha2\nkind: DeschedulerConfiguration\nprofiles: []\n")

    done = descheduler("convert", file)

    assert done.code == 0
    assert load_policy(done.out, REGISTRY).kind == "DeschedulerConfiguration"
    assert done.err.startswith(f"note: {file}:2:7: kind: runs as it is; ")
