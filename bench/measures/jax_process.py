"""JAX in a process of its own, which stays warm and answers lines of JSON: bench/twins/worker.py."""

import json
import os
import pathlib
import select
import subprocess
import tempfile
import time

from measures.rows import Failed

WORKER = pathlib.Path(__file__).resolve().parents[1] / "twins" / "worker.py"


class Jax:
    """An interpreter that may have JAX. Its processes see `devices` devices, forced on the CPU."""

    def __init__(self, python):
        self.python = python
        self.worker = None
        self.devices = 0
        self.errors = None
        self.version = ""
        try:
            done = subprocess.run(
                [python, "-c", "import jax; print(jax.__version__)"],
                capture_output=True,
                text=True,
                timeout=60,
                stdin=subprocess.DEVNULL,
            )
            self.version = done.stdout.strip() if done.returncode == 0 else ""
        except (OSError, subprocess.TimeoutExpired):
            pass

    def start(self, devices, deadline):
        """A fresh process; what an earlier one held is gone."""
        if not self.version:
            raise Failed("JAX is not installed")
        self.stop()
        self.devices = devices
        environment = dict(
            os.environ, JAX_PLATFORMS="cpu", XLA_FLAGS=f"--xla_force_host_platform_device_count={devices}"
        )
        self.errors = tempfile.TemporaryFile()
        self.worker = subprocess.Popen(
            [self.python, "-B", str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env=environment,
        )
        self.ask(deadline, do="hello")

    def ask(self, deadline, **question):
        """The answer to one question; a process that does not answer in time is ended."""
        self.worker.stdin.write((json.dumps(question) + "\n").encode())
        self.worker.stdin.flush()
        answer = b""
        while not answer.endswith(b"\n"):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.worker.stdout], [], [], left)[0]:
                self.stop(kill=True)
                raise Failed("JAX took longer than the row may")
            piece = os.read(self.worker.stdout.fileno(), 65536)
            if not piece:
                self.errors.seek(0)
                said = self.errors.read().decode(errors="replace").strip().splitlines()
                self.stop(kill=True)
                raise Failed(f"JAX's process ended: {said[-1][:200] if said else ''}")
            answer += piece
        found = json.loads(answer)
        if "failed" in found:
            raise Failed(f"JAX: {found['failed']}")
        return found

    def stop(self, kill=False):
        if self.worker is None:
            return
        if kill:
            self.worker.kill()
        self.worker.stdin.close()
        try:
            self.worker.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.worker.kill()
            self.worker.wait()
        self.worker.stdout.close()
        self.errors.close()
        self.worker = None
