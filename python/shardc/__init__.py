"""shardc, a compiler for sharding plans, in Python: the commands of the program, over its JSON formats.

    plan = shardc.plan("model.yaml", "layout.yaml", mode="train")
    plan.report["time"]["step_seconds"]
    plan.specs().shardings(state, mesh)

    program = shardc.from_jax(loss, params, batch)
    shardc.plan(program.model, {"mesh": {"data": 8}, "rules": []}, mode="train")

A model or a layout is a file, or what such a file would hold, as a dict or a Yaml. What is wrong with it is a Problem.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import sys
import tempfile
import warnings

from . import program
from .own_gradients import own_gradients
from .problem import Problem

__all__ = ["Plan", "Problem", "Program", "Yaml", "check", "diff", "explain", "from_jax", "plan"]


class Yaml(str):
    """The text of a model or a layout, where its file may stand."""


@contextlib.contextmanager
def _files(texts):
    """The names of files; what is given as a dict is written for as long as the command runs."""
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for number, text in enumerate(texts):
            if isinstance(text, (dict, Yaml)):
                path = pathlib.Path(folder) / f"{'layout' if number else 'model'}{number or ''}.yaml"
                path.write_text(text if isinstance(text, Yaml) else json.dumps(text))
                names.append(str(path))
            else:
                names.append(os.fspath(text))
        yield names


def _call(command, texts, *options, findings=False, mode):
    """What a command prints as JSON. Exit code 1 is a finding: an answer where the caller asks for it."""
    with _files(texts) as names:
        code, out, said = program.call(command, *names, *options, "--mode", mode, "--format", "json")
        if code == 0 or (code == 1 and findings):
            return json.loads(out)
        _, judged, _ = program.call("check", *names, "--mode", mode, "--format", "json")
        errors = [one for one in json.loads(judged)["diagnostics"] if one["severity"] == "error"] if judged else []
        raise Problem.said(said, code, errors)


@dataclasses.dataclass(frozen=True)
class Plan:
    """A plan: its report (schemas/report.schema.json), and the plan itself (schemas/plan.schema.json)."""

    report: dict
    text: str

    def save(self, path):
        """A plan file, for `shardc run` and `python -m shardc.run`."""
        pathlib.Path(path).write_text(self.text)

    def export(self, target):
        """The text that `shardc export --to TARGET` writes."""
        with tempfile.TemporaryDirectory() as folder:
            self.save(path := pathlib.Path(folder) / "plan.json")
            return program.export(path, target)

    def to_jax(self):
        """A module with what one device does, and jax.shard_map around it: mesh(), start(mesh), step(mesh)."""
        return program.module_of(self.export("jax"), "step")

    def specs(self):
        """A module with the shardings of parameters, states, inputs and outputs, for JAX, Flax, optax and torch."""
        return program.module_of(self.export("specs"), "specs")


def plan(model, layout, *, mode="forward"):
    """What a layout costs, and the plan. A policy that is broken is among the report's diagnostics."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "plan.json"
        report = _call("plan", [model, layout], "--plan", path, findings=True, mode=mode)
        return Plan(report, path.read_text())


@dataclasses.dataclass(frozen=True)
class Program:
    """A program of JAX: the model that it is, and the mesh and the shardings that it has as a layout."""

    model: Yaml
    layout: Yaml


def from_jax(function, *arguments, params=(), kind=None, optimizer=None, learning_rate=None, **named):
    """What JAX traces of a function, jitted or not, for arguments or their shapes (jax.ShapeDtypeStruct), as a model.

    `kind`: "loss", which shardc makes a step of with `optimizer` and `learning_rate`, or "step", as it is; unless said a
    step if it donates arguments. `params`: patterns of the arguments that are parameters, "params" unless said. These
    are the options of `shardc import`; it warns of what a model does not have, as the function's own gradients.
    """
    if not hasattr(function, "lower"):
        import jax

        function = jax.jit(function)
    text = function.lower(*arguments, **named).as_text(debug_info=True)
    given = {"--as": kind, "--optimizer": optimizer, "--learning-rate": learning_rate}
    options = [word for name, value in given.items() if value is not None for word in (name, value)]
    options += [word for pattern in params for word in ("--params", pattern)]
    with tempfile.TemporaryDirectory() as folder:
        file, layout = (pathlib.Path(folder) / f"{_name_of(function)}.{end}" for end in ("mlir", "yaml"))
        file.write_text(text)
        code, model, said = program.call("import", file, "--layout", layout, *options)
        if code:
            raise Problem.said(said, code)
        if said:
            warnings.warn(said, stacklevel=2)
        own = own_gradients(function.trace(*arguments, **named).jaxpr.jaxpr) if _is_jitted(function) else []
        if own and "\ntrain:\n" in model:
            warnings.warn(
                f"gradients are those of the model, which does not have {', '.join(own)}: write stop_gradient or a "
                "module's `gradient` into it, or take the whole step",
                stacklevel=2,
            )
        return Program(Yaml(model), Yaml(layout.read_text()))


def _is_jitted(function):
    return "jax" in sys.modules and hasattr(function, "trace")


def _name_of(function):
    return re.sub(r"\W", "_", getattr(function, "__name__", "")) or "program"


def check(model, *layouts, policy=None, baseline=None, tolerance=None, strict=False, mode="forward"):
    """Whether layouts meet their policy, and cost no more than a baseline: `verdict`, figures of each in `subjects`, and
    `diagnostics` with what does not hold."""
    given = {"--policy": policy, "--baseline": baseline, "--tolerance": tolerance}
    options = [word for name, value in given.items() if value is not None for word in (name, value)]
    return _call("check", [model, *layouts], *options, *["--strict"] * strict, findings=True, mode=mode)


def diff(model, *layouts, mode="forward"):
    """Layouts side by side: figures of each, and the arrays that they split in different ways."""
    return _call("diff", [model, *layouts], mode=mode)


def explain(model, layout, *tensors, mode="forward"):
    """Why tensors are split as they are, why their collectives are there, and what would change it."""
    return _call("explain", [model, layout], *tensors, mode=mode)
