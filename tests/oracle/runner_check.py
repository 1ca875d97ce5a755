#!/usr/bin/env python3
"""Runs plans with the runner of python/ on eight devices forced on the CPU, beside `shardc run` of the same plan.

    tests/oracle/runner_check.py build/dev/shardc [WORD...]     only cases whose names hold a word

Per example the largest difference, as export_jax_check.py says it; then what a training run does: losses, checkpoints
from and for `shardc run`, data, several processes, a signal, errors. Exits 1 if something differs; without JAX it says
so and exits 77 (skipped). Not part of ctest.
"""

import contextlib
import io
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile

import exported_plans
import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ROOT / "python"
TINY = ROOT / "examples" / "tiny_gpt"
os.environ["SHARDC"] = exported_plans.SHARDC
sys.path.insert(0, str(PYTHON))
import shardc.run  # noqa: E402


def run(_, where, steps):
    """An example, in this process."""
    out = where / "ran"
    arguments = [where / "plan.json", "--output", out] + (["--steps", steps] if steps > 1 else [])
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = shardc.run.main([str(argument) for argument in arguments])
    if code:
        raise RuntimeError(f"exit code {code}: {said.getvalue()}")
    return {path.stem: numpy.load(path) for path in out.glob("*.npy")}, None


def runner(*arguments, devices=8):
    """The command line of the runner, in a process of its own."""
    return [sys.executable, "-m", "shardc.run", *map(str, arguments), "--platform", "cpu", "--devices", str(devices)]


def environment():
    kept = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    return kept | {"PYTHONPATH": str(PYTHON)}


def call(command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=environment())
    return done.returncode, done.stdout, done.stderr


def losses(text):
    return [float(loss) for loss in re.findall(r"^step \d+  loss (\S+)", text, re.M)]


def close(a, b):
    return len(a) == len(b) and numpy.allclose(a, b, rtol=2e-6, atol=0)


def training(where):
    """Yields what is checked, whether it holds, and what was seen."""
    plans = {name: where / f"{name}.json" for name in ("data_model", "fsdp_model")}
    for name, path in plans.items():
        exported_plans.shardc(TINY, "plan", "model.yaml", f"{name}.yaml", "--mode", "train", "-o", path)
    plan, other = plans["fsdp_model"], plans["data_model"]
    code, said, _ = call([exported_plans.SHARDC, "run", plan, "--steps", 5])
    expected = losses(said)

    ran = call(runner(plan, "--steps", 5, "--log", where / "log.jsonl"))
    yield "five steps", ran[0] == 0 and len(expected) == 5 and close(losses(ran[1]), expected), losses(ran[1])
    logged = [json.loads(line)["loss"] for line in (where / "log.jsonl").read_text().splitlines()]
    yield "its log", close(logged, expected), ""

    call(runner(plan, "--steps", 3, "--save", where / "ours"))
    code, said, error = call(
        [exported_plans.SHARDC, "run", other, "--steps", 5, "--restore", where / "ours", "--save", where / "ours"]
    )
    yield "saved by the runner, restored by shardc on another mesh", close(losses(said), expected[3:]), error
    yield "and replaced by shardc", [p.name for p in (where / "ours").glob("step-*")] == ["step-5"], ""
    call([exported_plans.SHARDC, "run", plan, "--steps", 3, "--save", where / "theirs"])
    shardc_files = {path.name: path.stat().st_size for path in (where / "theirs" / "step-3").glob("*.safetensors")}
    call(runner(plan, "--steps", 3, "--save", where / "again"))
    files = {path.name: path.stat().st_size for path in (where / "again" / "step-3").glob("*.safetensors")}
    yield "the files are those of shardc", files == shardc_files and len(files) == 16, ""
    ran = call(runner(other, "--steps", 5, "--restore", where / "theirs", "--save", where / "theirs"))
    yield "saved by shardc, restored by the runner on another mesh", close(losses(ran[1]), expected[3:]), ran[2]
    yield "and replaced by the runner", [p.name for p in (where / "theirs").glob("step-*")] == ["step-5"], ""
    ran = call(runner(other, "--steps", 5, "--restore", where / "theirs"))
    yield "nothing left to do", ran[0] == 0 and "nothing left" in ran[1], ran

    data = numpy.random.default_rng(0).integers(0, 128, (3, 8, 32), dtype=numpy.int32)
    numpy.save(where / "data.npy", data)
    given = ["--steps", 4, "--data", f"tokens={where / 'data.npy'}"]
    _, said, _ = call([exported_plans.SHARDC, "run", plan, *given])
    ran = call(runner(plan, *given))
    yield "data", close(losses(ran[1]), losses(said)) and losses(said) != expected[:4], ran[2]

    yield from several_processes(where, plan, expected)

    process = subprocess.Popen(
        runner(plan, "--steps", 100000, "--save", where / "killed"),
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    seen = ""
    while "step 2" not in seen:
        seen = process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    rest = process.communicate(timeout=60)[0]
    made = int(re.search(r"stopped after (\d+) of", rest)[1])
    saved = (where / "killed" / "latest").read_text().strip()
    yield "a signal ends it after its step", process.returncode == 143 and saved == f"step-{made}", rest


def processes(*commands):
    """Exit code, stdout and stderr of processes that run at the same time."""
    started = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
        for command in commands
    ]
    said = [process.communicate(timeout=300) for process in started]
    return [(process.returncode, *texts) for process, texts in zip(started, said)]


def several_processes(where, plan, expected):
    """Two of four devices each, which see each other over the loopback."""

    def place(number):
        return ["--coordinator", f"localhost:{port}", "--processes", 2, "--process", number]

    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    folder, out = where / "two", where / "out"
    said = processes(
        *(
            runner(plan, "--steps", 5, "--save", folder, "--output", out, *place(number), devices=4)
            for number in range(2)
        )
    )
    fine = all(code == 0 for code, _, _ in said)
    yield "two processes, of which one speaks", fine and close(losses(said[0][1]), expected) and not losses(
        said[1][1]
    ), said
    code, _, error = call([exported_plans.SHARDC, "run", plan, "--steps", 6, "--restore", folder])
    yield "shardc restores what two processes saved", code == 0, error
    whole = numpy.load(out / "wte.npy")
    yield "what two processes wrote is whole", whole.shape == (128, 64) and numpy.count_nonzero(whole) == whole.size, ""
    given = ["--input", f"wte={out / 'wte.npy'}"]
    (ours,) = processes(runner(plan, "--steps", 2, *given))
    (theirs,) = processes([exported_plans.SHARDC, "run", plan, "--steps", "2", *given])
    same = close(losses(ours[1]), losses(theirs[1])) and losses(ours[1]) != expected[:2]
    yield "a parameter from a file", same, (ours, theirs)
    said = processes(
        runner(plan, *place(0), devices=4), runner(plan, "--input", f"wte={where / 'none.npy'}", *place(1), devices=4)
    )
    fine = said[0][0] == said[1][0] == 2 and "process 1 ended the run" in said[0][2] and "E0606" in said[1][2]
    yield "a problem of one process ends both", fine, said


def errors(where):
    plan = where / "plan.json"
    exported_plans.shardc(TINY, "plan", "model.yaml", "data_model.yaml", "--mode", "train", "-o", plan)
    numpy.save(where / "small.npy", numpy.zeros((8, 31), numpy.int32))
    numpy.save(where / "floats.npy", numpy.zeros((8, 32), numpy.float32))
    call([exported_plans.SHARDC, "run", plan, "--save", where / "ck"])
    cut = next((where / "ck" / "step-1").glob("model-00001*"))
    cases = {
        "E0701 .* 8 devices, and JAX has 4": runner(plan, devices=4),
        "E0704": runner(where / "small.npy"),
        "E0702": runner(where / "none.json"),
        r"E0602 .*small.npy is i32 \(8, 31\)": runner(plan, "--input", f"tokens={where / 'small.npy'}"),
        r"E0602 .*floats.npy is f32": runner(plan, "--input", f"tokens={where / 'floats.npy'}"),
        "E0706": runner(plan, "--input", f"token={where / 'small.npy'}"),
        "E0611": runner(plan, "--restore", where / "nothing"),
        "E0614": runner(plan, "--save", where / "small.npy"),
        "E0612 .*checksum": runner(plan, "--steps", 2, "--restore", where / "ck"),
    }
    damaged = bytearray(cut.read_bytes())
    damaged[-1] ^= 1
    cut.write_bytes(damaged)
    for wanted, command in cases.items():
        code, _, said = call(command)
        yield wanted, code == 2 and re.search(wanted.replace(" ", r"\]?:? ?"), said) is not None, said


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as where:
        for check in training, errors:
            for name, fine, detail in check(pathlib.Path(where)):
                print(f"{'ok' if fine else 'FAILED':10} {name} {detail if not fine else ''}", flush=True)
                failed += not fine
    return failed


if __name__ == "__main__":
    failed = 0 if exported_plans.WORDS or exported_plans.MODELS else main()
    exported_plans.check("jax", run, failed)
