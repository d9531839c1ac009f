from __future__ import annotations

from pathlib import Path

import pytest

from descheduler.documents.problems import PolicyError
from descheduler.policy.plugin import Needs, SchedulerFile, scheduler_file_reader

CONFIGURATION = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def test_path_starts_from_the_folder_of_the_policy(tmp_path: Path) -> None:
    (tmp_path / "scheduler.yaml").write_text(CONFIGURATION)
    read = scheduler_file_reader({}, tmp_path)

    assert read("scheduler.yaml").path == "scheduler.yaml"
    assert read("scheduler.yaml").digest == read(str(tmp_path / "scheduler.yaml")).digest


def test_path_starts_from_the_working_directory_without_a_policy_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scheduler.yaml").write_text(CONFIGURATION)
    monkeypatch.chdir(tmp_path)

    assert scheduler_file_reader({})("scheduler.yaml").document.root.value is not None


def test_file_is_read_once(tmp_path: Path) -> None:
    files: dict[str, SchedulerFile] = {}
    read = scheduler_file_reader(files, tmp_path)
    (tmp_path / "scheduler.yaml").write_text(CONFIGURATION)

    first = read("scheduler.yaml")
    (tmp_path / "scheduler.yaml").write_text("[]")

    assert read("scheduler.yaml") is first
    assert files == {"scheduler.yaml": first}


@pytest.mark.parametrize("is_absolute", [False, True])
def test_file_that_is_missing_is_named_as_the_policy_spells_it(tmp_path: Path, is_absolute: bool) -> None:
    place = tmp_path / "none.yaml"
    path = str(place) if is_absolute else "none.yaml"

    with pytest.raises(PolicyError) as caught:
        scheduler_file_reader({}, tmp_path)(path)

    name = path if is_absolute else f"none.yaml (relative to the policy file: {place})"
    assert str(caught.value).startswith(f"{name}: no such file")


def test_lines_of_a_list_of_nodes_are_names(tmp_path: Path) -> None:
    (tmp_path / "nodes").write_text("b\n\na\n")

    read = scheduler_file_reader({}, tmp_path)("nodes", lists_nodes=True)

    assert [line.value for line in read.document.root.value] == ["b", "a"]  # type: ignore[union-attr] # a list


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        pytest.param(
            Needs(frozenset({"a"}), frozenset({"b"}), annotations=frozenset({"x"})),
            Needs(frozenset({"c"}), frozenset({"d"}), annotations=frozenset({"y"})),
            Needs(frozenset({"a", "c"}), frozenset({"b", "d"}), annotations=frozenset({"x", "y"})),
            id="names of each",
        ),
        pytest.param(Needs(pod_conditions=True), Needs(), Needs(pod_conditions=True), id="conditions of pods"),
        pytest.param(Needs(pod_templates=True), Needs(), Needs(pod_templates=True), id="templates of pods"),
        pytest.param(Needs(), Needs(), Needs(), id="nothing"),
    ],
)
def test_what_either_plugin_needs_is_read(one: Needs, other: Needs, both: Needs) -> None:
    assert one | other == other | one == both
