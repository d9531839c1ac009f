"""What kustomize makes of the base and the overlays."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.migration_controller.room_provider import PLACEHOLDER_CLASS
from descheduler.policy.load import load_policy
from tests.cronjob.manifests import BASE, COMPONENTS, CRONJOB, OVERLAYS, Manifest, base_documents, named, only, pod_spec
from tests.cronjob.rbac import (
    CORDONS,
    EVICT,
    JOBS,
    LIST_ALL,
    PLACEHOLDERS,
    SURGES,
    Grant,
    granted,
    holding_grants,
    job_map_grants,
    lease_grants,
    memory_grants,
)
from tests.cronjob.rendering import Kustomize
from tests.cronjob.workloads import deadline_problems, flags, pod_security_problems

pytestmark = pytest.mark.render

PLAIN = list(base_documents())
FOLDERS = [BASE, *sorted(file.parent for file in OVERLAYS.rglob("kustomization.yaml"))]


def place(folder: Path) -> str:
    """Names a folder in a test's id."""
    return str(folder.relative_to(CRONJOB))


def workload_of(manifests: list[Manifest]) -> Manifest:
    """The CronJob or Job."""
    (found,) = (manifest for manifest in manifests if manifest["kind"] in {"CronJob", "Job"})
    return found


def cluster_grants(manifests: list[Manifest]) -> object:
    """What the ClusterRoles allow together."""
    return granted(manifests, "ClusterRole")


def identities(manifests: list[Manifest]) -> set[tuple[str, str, str]]:
    """What tells the objects of a cluster apart."""
    return {(m["kind"], m["metadata"].get("namespace", ""), m["metadata"]["name"]) for m in manifests}


@pytest.mark.parametrize("folder", FOLDERS, ids=place)
def test_pod_meets_the_restricted_profile_and_its_times_nest(kustomize: Kustomize, folder: Path) -> None:
    workload = workload_of(kustomize.build(folder))

    assert pod_security_problems(workload) == []
    assert deadline_problems(workload) == []


@pytest.mark.parametrize("folder", FOLDERS, ids=place)
def test_all_names_refer_to_objects_that_are_rendered(kustomize: Kustomize, folder: Path) -> None:
    manifests = kustomize.build(folder)
    there = identities(manifests)

    spec = pod_spec(workload_of(manifests))
    wanted = {("ServiceAccount", "kube-system", spec["serviceAccountName"])}
    wanted |= {("ConfigMap", "kube-system", volume["configMap"]["name"]) for volume in spec["volumes"]}
    for kind, namespace in (("ClusterRole", ""), ("Role", "kube-system")):
        for binding in named(manifests, f"{kind}Binding").values():
            wanted.add((kind, namespace, binding["roleRef"]["name"]))
            wanted |= {(subject["kind"], subject["namespace"], subject["name"]) for subject in binding["subjects"]}

    assert wanted <= there


@pytest.mark.parametrize("folder", FOLDERS, ids=place)
def test_mounted_policy_loads(kustomize: Kustomize, folder: Path) -> None:
    data = only(kustomize.build(folder), "ConfigMap")["data"]

    assert list(data) == ["policy.yaml"]
    load_policy(data["policy.yaml"], REGISTRY)


def test_base_changes_nothing_but_labels_namespace_and_the_policy(kustomize: Kustomize) -> None:
    rendered = kustomize.build(BASE)

    assert identities(rendered) == {
        *((kind, "" if kind.startswith("Cluster") else "kube-system", name) for kind, _, name in identities(PLAIN)),
        ("ConfigMap", "kube-system", "descheduler-policy"),
    }
    assert cluster_grants(rendered) == LIST_ALL | EVICT | JOBS
    assert pod_spec(only(rendered, "CronJob")) == pod_spec(only(PLAIN, "CronJob"))


def test_dry_run_differs_in_its_flag_and_has_no_right_to_evict(kustomize: Kustomize) -> None:
    base, dry = kustomize.build(BASE), kustomize.build(OVERLAYS / "dry-run")

    assert flags(only(dry, "CronJob")) == flags(only(base, "CronJob")) | {"dry_run": True}
    assert cluster_grants(dry) == LIST_ALL
    assert identities(base) - identities(dry) == {
        ("ClusterRole", "", "descheduler-evict"),
        ("ClusterRoleBinding", "", "descheduler-evict"),
        ("ClusterRole", "", "descheduler-jobs"),
        ("ClusterRoleBinding", "", "descheduler-jobs"),
        ("Role", "kube-system", "descheduler-lease"),
        ("RoleBinding", "kube-system", "descheduler-lease"),
    }
    assert identities(dry) <= identities(base)


def test_job_takes_the_place_of_the_cronjob(kustomize: Kustomize) -> None:
    base, job = kustomize.build(BASE), kustomize.build(OVERLAYS / "job")

    assert identities(base) ^ identities(job) == {
        ("CronJob", "kube-system", "descheduler"),
        ("Job", "kube-system", "descheduler"),
    }
    template = only(base, "CronJob")["spec"]["jobTemplate"]["spec"]
    assert only(job, "Job")["spec"] == template | {"ttlSecondsAfterFinished": 3600}


def test_gpu_profile_stands_next_to_the_base(kustomize: Kustomize) -> None:
    base, gpu = kustomize.build(BASE), kustomize.build(OVERLAYS / "gpu")

    assert not identities(base) & identities(gpu)
    own = "descheduler-gpu"
    assert granted(gpu, "Role") == lease_grants(own) | memory_grants(own)
    assert flags(only(gpu, "CronJob"))["lease_name"] == "descheduler-gpu"
    assert cluster_grants(gpu) == cluster_grants(base)
    assert only(gpu, "ConfigMap")["data"]["policy.yaml"] == (OVERLAYS / "gpu" / "policy.yaml").read_text()


def test_placeholder_adds_the_priority_class_and_rights_over_pods_and_jobs(kustomize: Kustomize) -> None:
    base, overlay = kustomize.build(BASE), kustomize.build(OVERLAYS / "placeholder")

    assert identities(overlay) - identities(base) == {
        ("PriorityClass", "", "descheduler-placeholder"),
        ("ClusterRole", "", "descheduler-placeholder"),
        ("ClusterRoleBinding", "", "descheduler-placeholder"),
        ("Role", "kube-system", "descheduler-jobs"),
        ("RoleBinding", "kube-system", "descheduler-jobs"),
    }
    assert identities(base) <= identities(overlay)
    assert cluster_grants(overlay) == LIST_ALL | EVICT | JOBS | PLACEHOLDERS
    own = lease_grants("descheduler") | memory_grants("descheduler") | job_map_grants()
    assert granted(overlay, "Role") == own


def test_class_of_placeholders_is_the_one_they_name_and_the_lowest(kustomize: Kustomize) -> None:
    found = only(kustomize.build(OVERLAYS / "placeholder"), "PriorityClass")

    assert found["metadata"]["name"] == PLACEHOLDER_CLASS
    assert (found["value"], found["preemptionPolicy"], found["globalDefault"]) == (-1_000_000_000, "Never", False)


@pytest.mark.parametrize(("component", "grants"), [("surge", SURGES), ("cordon", CORDONS)])
@pytest.mark.parametrize("folder", [BASE, OVERLAYS / "placeholder"], ids=place)
def test_a_component_adds_its_rights_to_any_folder(
    kustomize: Kustomize, folder: Path, component: str, grants: set[Grant], tmp_path: Path
) -> None:
    (tmp_path / "cronjob").symlink_to(CRONJOB)
    overlay = tmp_path / "mine"
    overlay.mkdir()
    (overlay / "kustomization.yaml").write_text(
        f"namespace: elsewhere\nresources: [../cronjob/{place(folder)}]\n"
        f"components: [../cronjob/{place(COMPONENTS / component)}]\n"
    )

    without, manifests = kustomize.build(folder), kustomize.build(overlay)

    assert cluster_grants(manifests) == granted(without, "ClusterRole") | grants
    binding = named(manifests, "ClusterRoleBinding")[f"descheduler-{component}"]
    assert binding["subjects"][0]["namespace"] == "elsewhere"


@pytest.mark.parametrize("folder", [BASE, OVERLAYS / "placeholder"], ids=place)
def test_a_loop_takes_the_place_of_the_cronjob(kustomize: Kustomize, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "cronjob").symlink_to(CRONJOB)
    overlay = tmp_path / "mine"
    overlay.mkdir()
    (overlay / "kustomization.yaml").write_text(
        f"namespace: elsewhere\nresources: [../cronjob/{place(folder)}]\ncomponents: [../cronjob/components/loop]\n"
    )

    without, manifests = kustomize.build(folder), kustomize.build(overlay)

    assert not named(manifests, "CronJob")
    (run,) = pod_spec(only(without, "CronJob"))["containers"]
    deployment = only(manifests, "Deployment")
    assert deployment["metadata"]["namespace"] == "elsewhere"
    (container,) = pod_spec(deployment)["containers"]
    command, *args = container["args"]
    assert command == "loop"
    assert set(run["args"]) - {"run"} < set(args)
    assert container["securityContext"] == run["securityContext"]
    assert container["resources"] == run["resources"]
    assert cluster_grants(manifests) == cluster_grants(without)
    own = granted(without, "Role")
    assert granted(manifests, "Role") == own | holding_grants("descheduler-loop")


def test_another_namespace_is_a_matter_of_one_line(kustomize: Kustomize, tmp_path: Path) -> None:
    """As a user would write it: an overlay of the base elsewhere, with an image of a private registry."""
    (tmp_path / "cronjob").symlink_to(CRONJOB)
    overlay = tmp_path / "mine"
    overlay.mkdir()
    (overlay / "kustomization.yaml").write_text(
        "resources: [../cronjob/base]\n"
        "namespace: elsewhere\n"
        "images: [{name: descheduler, newName: registry.example/descheduler, newTag: v9}]\n"
    )

    manifests = kustomize.build(overlay)

    assert {namespace for _, namespace, _ in identities(manifests)} == {"", "elsewhere"}
    bindings = [*named(manifests, "ClusterRoleBinding").values(), *named(manifests, "RoleBinding").values()]
    assert [binding["subjects"][0]["namespace"] for binding in bindings] == ["elsewhere"] * 5
    cronjob = only(manifests, "CronJob")
    assert pod_spec(cronjob)["containers"][0]["image"] == "registry.example/descheduler:v9"
    assert flags(cronjob)["deadline"] == timedelta(minutes=5)


def test_shards_have_a_pod_and_names_of_their_own_each(kustomize: Kustomize) -> None:
    base, shards = kustomize.build(BASE), kustomize.build(OVERLAYS / "shards")
    job = only(shards, "CronJob")["spec"]["jobTemplate"]["spec"]

    assert identities(shards) == identities(base)
    assert cluster_grants(shards) == cluster_grants(base)
    assert flags(only(shards, "CronJob"))["count"] == job["completions"] == job["parallelism"] == 4
    assert job["completionMode"] == "Indexed"
    for role in named(shards, "Role").values():
        for rule in role["rules"]:
            names = rule.get("resourceNames", [f"descheduler-shard-{index}" for index in range(4)])
            assert [f"-shard-{index}" in name for index, name in enumerate(names)] == [True] * 4
