from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders import node_object, pod_object
from tests.cli.commands import Descheduler

Arguments = Callable[[Path], list[str | Path]]


def _file(name: str, content: bytes) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / name).write_bytes(content)
        return folder / name

    return write


def with_policy(policy: Callable[[Path], Path]) -> Arguments:
    """The command that runs another policy on the good dump."""
    return lambda folder: ["run", "--policy-config-file", policy(folder), "--snapshot", folder / "dump.json"]


def with_dump(dump: Callable[[Path], Path]) -> Arguments:
    """The command that runs the good policy on another dump."""
    return lambda folder: ["run", "--policy-config-file", folder / "policy.yaml", "--snapshot", dump(folder)]


def with_flags(*flags: str) -> Arguments:
    """The command that runs the good policy on the good dump, with further flags."""
    return lambda folder: [
        *("run", "--policy-config-file", folder / "policy.yaml", "--snapshot", folder / "dump.json"),
        *flags,
    ]


def literally(*arguments: str) -> Arguments:
    """The command as it is."""
    return lambda _folder: list(arguments)


BAD_INPUT = [
    pytest.param(with_policy(lambda folder: folder / "none.yaml"), "no such file", id="policy is not there"),
    pytest.param(with_policy(lambda folder: folder), "is a directory", id="policy is a directory"),
    pytest.param(with_policy(_file("p", b"\x7fELF\0\0")), "NUL bytes", id="policy is a program"),
    pytest.param(with_policy(_file("p", gzip.compress(b"a"))), "gzip", id="policy is compressed"),
    pytest.param(with_policy(_file("p", b"\xff\xfe")), "UTF-8", id="policy is not UTF-8"),
    pytest.param(with_policy(_file("p", b"a: [")), "not YAML", id="policy is not YAML"),
    pytest.param(with_policy(_file("p", b"kind: Pod\napiVersion: v1\n")), "v1", id="policy is another kind"),
    pytest.param(with_dump(lambda folder: folder / "none.json"), "no such file", id="dump is not there"),
    pytest.param(with_dump(_file("d", b"")), "is empty", id="dump is empty"),
    pytest.param(with_dump(_file("d", b'{"kind": "List", "items": [')), "d", id="dump is cut short"),
    pytest.param(with_dump(_file("d.gz", gzip.compress(b"{}" * 999)[:-12])), "d.gz", id="archive is cut short"),
    pytest.param(with_dump(_file("d", os.urandom(64) + b"\0")), "d", id="dump is noise"),
    pytest.param(with_dump(_file("d", b'{"kind": "List", "items": 3}')), "d", id="items are no list"),
    pytest.param(with_dump(_file("d", b"[1, 2, 3]")), "not a Kubernetes object but 1", id="a list of numbers"),
    pytest.param(with_flags("--now", "yesterday"), "'yesterday' is not a time", id="now is a word"),
    pytest.param(with_flags("--now", "2026-06-30T12:00:00"), "zone", id="now has no zone"),
    pytest.param(with_flags("--now", "2026-13-30T12:00:00Z"), "not a time", id="now has thirteen months"),
    pytest.param(with_flags("--now", "0001-01-01T00:00:00+23:59"), "not a time", id="now is before the calendar"),
    pytest.param(with_flags("--deadline", "5"), "unit", id="deadline without a unit"),
    pytest.param(with_flags("--deadline", "-5m"), "above zero", id="deadline in the past"),
    pytest.param(with_flags("--request-timeout", "soon"), "'soon' is not a duration", id="timeout is a word"),
    pytest.param(with_flags("-o", "xml"), "'xml' is not one of", id="unknown format"),
    pytest.param(with_flags("-v", "loud"), "'loud' is not a valid integer", id="verbosity is a word"),
    pytest.param(with_flags("--client-connection-qps", "nan"), "nan is not a number", id="rate is not a number"),
    pytest.param(with_flags("--client-connection-burst", "-1"), "-1", id="burst below zero"),
    pytest.param(with_flags("--feature-gates", "Unheard=true"), "'Unheard' is not known", id="unknown feature gate"),
    pytest.param(with_flags("--feature-gates", "AllBeta"), "AllBeta=true", id="feature gate without a switch"),
    pytest.param(with_flags("--dry-run=maybe"), "neither true nor false", id="boolean that is none"),
    pytest.param(with_flags("--dry-rnu"), "did you mean '--dry-run'", id="misspelled flag"),
    pytest.param(with_flags("--evict-\x1b[31mred"), "--evict-\\x1b[31mred", id="flag with control characters"),
    pytest.param(with_flags("surplus"), "surplus", id="argument nobody asked for"),
    pytest.param(with_flags("--snapshot", ""), "file name is empty", id="dump without a name"),
    pytest.param(literally("run", "--config", "", "--snapshot", "d"), "file name is empty", id="policy without a name"),
    pytest.param(
        literally("explain", "pod", "a/b", "--snapshot", ""), "file name is empty", id="nothing to explain from"
    ),
    pytest.param(literally("snapshot", "-o", ""), "file name is empty", id="snapshot to a file without a name"),
    pytest.param(literally("run"), "missing option '--policy-config-file'", id="no policy"),
    pytest.param(literally("--policy-config-file"), "requires an argument", id="flag without its value"),
    pytest.param(literally("validte"), "did you mean 'validate'", id="misspelled command"),
    pytest.param(literally("validate"), "missing argument 'FILE...'", id="nothing to validate"),
    pytest.param(
        literally("schema"),
        "; choose from plan, outcome, difference, answer, explanation, simulation, policy (see",
        id="schema of nothing",
    ),
    pytest.param(literally("validate", "/nowhere/p.yaml"), "no such file", id="validate what is not there"),
    pytest.param(literally("validate", "p", "-ojson", "--print-effective"), "leave out -o", id="two formats at once"),
    pytest.param(literally("snapshot"), "missing option '-o'", id="snapshot without a file"),
    pytest.param(literally("schema", "pod"), "'pod' is not one of", id="schema nobody has"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_INPUT)
def test_bad_input_gets_one_message_and_exit_code_two(
    descheduler: Descheduler, policy: Path, dump: Path, arguments: Arguments, message: str
) -> None:
    ended = descheduler(*arguments(policy.parent))

    assert (ended.code, ended.out) == (2, "")
    *log, error = ended.err.splitlines()
    assert message in error
    assert all(line.startswith("I") for line in log)
    assert ended.err.replace("\n", "").isprintable()


@pytest.mark.long
def test_no_traceback_reaches_a_real_terminal(policy: Path, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "descheduler",
        "run",
        "--config",
        str(policy),
        "--snapshot",
        str(tmp_path / "no"),
    ]

    ended = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.splitlines()[-1] == f"error: {tmp_path}/no: cannot be read: no such file or directory"


@pytest.mark.long
@pytest.mark.parametrize(
    ("redirection", "message"),
    [
        pytest.param(">&-", "error: cannot write to standard output: it is closed", id="closed output"),
        pytest.param(">/dev/full", "error: cannot write to standard output: no space left on device", id="full disk"),
        pytest.param("--help >/dev/full", "error: input or output failed: no space left on device", id="help"),
        pytest.param("--snapshot - <&-", "error: standard input: is closed; pipe a dump into it", id="closed input"),
    ],
)
def test_broken_streams_are_one_message(policy: Path, dump: Path, redirection: str, message: str) -> None:
    run = f"{sys.executable} -m descheduler run --config {policy} --snapshot {dump} {redirection}"

    ended = subprocess.run(["sh", "-c", run], capture_output=True, text=True, check=False)

    assert ended.returncode in (1, 2)
    assert ended.stderr.splitlines()[-1] == message


@pytest.mark.long
def test_documents_are_utf8_whatever_the_locale_says(policy: Path, tmp_path: Path) -> None:
    dump = tmp_path / "dump.json"
    objects = [node_object("a"), node_object("b"), pod_object("ä\u65e5", node="a")]
    dump.write_text("\n".join(map(json.dumps, objects)))
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "descheduler",
        "run",
        "--config",
        policy,
        "--snapshot",
        dump,
        "-o",
        "json",
    ]

    ended = subprocess.run(command, capture_output=True, check=True, env={**os.environ, "PYTHONIOENCODING": "ascii"})

    assert json.loads(ended.stdout.decode())["moves"][0]["pod"]["name"] == "ä\u65e5"


def test_file_name_that_would_steer_the_terminal_is_escaped(descheduler: Descheduler, policy: Path) -> None:
    ended = descheduler("run", "--config", policy, "--snapshot", "\x1b[31m.json")

    assert ended.err.splitlines()[-1] == "error: \\x1b[31m.json: cannot be read: no such file or directory"


def test_snapshot_into_a_folder_is_refused_before_the_cluster_is_read(descheduler: Descheduler, tmp_path: Path) -> None:
    ended = descheduler("snapshot", "-o", tmp_path, "--kubeconfig", tmp_path / "none")

    assert (ended.code, ended.err) == (1, f"error: {tmp_path}: cannot be written: is a directory\n")


def test_every_problem_of_a_policy_is_named(descheduler: Descheduler, dump: Path, tmp_path: Path) -> None:
    policy = tmp_path / "two.yaml"
    policy.write_text(
        "apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy\nmaxNoOfPodsToEvictTotal: many\nprofiles: 3\n"
    )

    ended = descheduler("run", "--config", policy, "--snapshot", dump)

    assert ended.code == 2
    assert [line.partition(": ")[0] for line in ended.err.splitlines()] == [f"{policy}:3:26", f"{policy}:4:11"]


@pytest.mark.parametrize("command", [("snapshot", "-o", "-"), ("explain", "node", "a")])
def test_advice_names_only_flags_that_the_command_has(
    descheduler: Descheduler, command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))

    ended = descheduler(*command)

    advised = {word for word in ended.err.split() if word.startswith("--")}
    shown = set(descheduler(command[0], "--help").out.replace(",", " ").split())
    assert (ended.code, advised) == (1, {"--kubeconfig"})
    assert advised <= shown
