"""The program `shardc`: where it is, and what it says and writes."""

import os
import pathlib
import shutil
import subprocess
import sysconfig
import types

from .problem import Problem


def find():
    """$SHARDC, or what was installed with this module, or what the shell would find."""
    if named := os.environ.get("SHARDC"):
        return named
    beside = pathlib.Path(sysconfig.get_path("scripts")) / "shardc"
    found = str(beside) if beside.exists() else shutil.which("shardc")
    if not found:
        raise Problem("E0702", "the program shardc is not there", "install it, or say where it is: SHARDC=PATH")
    return found


def call(*arguments):
    """Exit code, stdout and stderr of a command."""
    try:
        done = subprocess.run([find(), *map(str, arguments)], capture_output=True, text=True)
    except OSError as problem:
        raise Problem("E0702", f"cannot run {find()}: {problem.strerror}", "SHARDC=PATH says where it is") from None
    return done.returncode, done.stdout, done.stderr


def export(plan, target):
    """A plan file for another engine, as text."""
    code, text, said = call("export", plan, "--to", target)
    if code:
        raise Problem.said(said, code)
    return text


def module_of(text, name):
    """Python source as a module."""
    module = types.ModuleType(name)
    exec(compile(text, f"<{name} of a plan>", "exec"), module.__dict__)
    return module
