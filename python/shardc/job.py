"""A plan that runs: its program, its arrays on the devices, and its steps."""

import math
import os
import pathlib
import signal
import sys
import time

import jax
import jax.numpy as jnp
import numpy

from . import program
from .arrays import DTYPES, check_type, crop, open_npy, place, save_npy, type_text
from .checkpoint import Checkpoint
from .checkpoint_save import Saver
from .plan_file import PlanFile
from .problem import Problem
from .processes import gathered, is_first, together


def prepare_jax(options):
    """Before JAX looks for devices."""
    if options.platform:
        jax.config.update("jax_platforms", {"gpu": "cuda"}.get(options.platform, options.platform))
    if options.devices:
        jax.config.update("jax_num_cpu_devices", options.devices)
    if options.coordinator:
        jax.distributed.initialize(options.coordinator, options.processes, options.process)
    elif options.distributed:
        jax.distributed.initialize()


def named_files(option, texts, names):
    """NAME=FILE as a dict."""
    files, there = {}, f"there are {', '.join(names)}"
    for text in texts:
        name, equals, path = text.partition("=")
        if not equals:
            raise Problem("E0701", f"{option} takes NAME=FILE.npy, not '{text}'", there)
        if name not in names:
            raise Problem("E0706", f"the plan has no '{name}' for {option}", there)
        if name in files:
            raise Problem("E0701", f"'{name}' is given twice with {option}", "keep one of them")
        files[name] = path
    return files


class Job:
    """All that a user may have got wrong is found here, before anything is computed. No process waits for another."""

    def __init__(self, options):
        self.options = options
        self.program = program.module_of(program.export(options.plan, "jax"), "step")
        self.plan = PlanFile(options.plan)
        there, needed = len(jax.devices()), self.plan.devices
        if there < needed or (jax.process_count() > 1 and there != needed):
            help = "--platform cpu --devices N has so many on one processor" if jax.process_count() == 1 else ""
            raise Problem("E0701", f"the plan is for {needed} devices, and JAX has {there}", help)
        self.mesh = self.program.mesh()
        specs = {**self.program.STATE, **self.program.INPUTS}
        self.shardings = {name: jax.sharding.NamedSharding(self.mesh, spec) for name, spec in specs.items()}
        self.check_options()
        names = list(self.plan.inputs)
        self.given = {name: self.npy(name, path) for name, path in named_files("--input", options.input, names).items()}
        self.data = {name: self.npy(name, path, 1) for name, path in named_files("--data", options.data, names).items()}
        for name in self.data:
            if name in self.given:
                raise Problem("E0701", f"'{name}' is given twice, with --input and --data", "keep one of them")
            if name in self.plan.updated:
                help = f"give what it begins with: --input {name}=FILE.npy"
                raise Problem("E0602", f"'{name}' is updated by every step, so no data can be given for it", help)
        self.checkpoint = Checkpoint(options.restore) if options.restore else None
        self.first_step = self.select() if self.checkpoint else 0
        if self.checkpoint and options.save and self.checkpoint.lies_in(options.save):
            self.checkpoint.close()  # the lock of who saves keeps it too
        self.saver = Saver(options.save, self.plan, self.mesh) if options.save else None

    def check_options(self):
        options = self.options
        for option in "steps", "log", "save":
            if getattr(options, option) and not self.plan.is_step:
                raise Problem("E0701", f"--{option} is for a plan that trains", "plan with --mode train")
        named_files("--output", [text for text in options.output if "=" in text], list(self.plan.outputs))

    def npy(self, name, path, steps=0):
        """The array in a file, which has a dim of steps before those of the plan's array."""
        array, file = self.plan.inputs[name], open_npy(path)
        if (
            file.shape[steps:] != array.shape
            or 0 in file.shape[:steps]
            or not check_type(path, file.dtype, DTYPES[array.dtype])
        ):
            shape = ", ".join(["steps"] * steps + [str(size) for size in array.shape])
            raise Problem("E0602", f"{path} is {type_text(file)}, but '{name}' takes {array.dtype} ({shape})")
        return file

    def select(self):
        """What the plan takes of the checkpoint; how many steps were made."""
        goes_on = self.plan.is_step and not self.options.restore_only
        names = self.plan.params() + (self.plan.states() if goes_on else [])
        self.checkpoint.select({name: self.plan.inputs[name] for name in names}, self.given, goes_on)
        return self.checkpoint.step if goes_on else 0

    def placed(self, name, read):
        return place(self.plan.inputs[name], self.shardings[name], read)

    def start(self):
        """State and inputs as the first step finds them: given, restored, or drawn as the model says."""
        values = {name: self.placed(name, file.__getitem__) for name, file in self.given.items()}
        if self.checkpoint:
            for name in self.checkpoint.tensors:
                values[name] = self.placed(name, lambda index, name=name: self.checkpoint.read(name, index))
            self.checkpoint.close()
        values |= self.next_data(self.first_step)
        drawn = {name: sharding for name, sharding in self.shardings.items() if name not in values}

        def draw():
            state, inputs = self.program.start(self.mesh)
            return {name: {**state, **inputs}[name] for name in drawn}

        if drawn:
            values |= jax.jit(draw, out_shardings=drawn)()
        state = {name: values.pop(name) for name in self.program.STATE}
        return state, values

    def next_data(self, step):
        return {name: self.placed(name, file[step % len(file)].__getitem__) for name, file in self.data.items()}

    def heading(self):
        axes = " x ".join(f"{name} {size}" for name, size in self.plan.mesh.items() if size > 1)
        devices = f"{self.plan.devices} device" + "s" * (self.plan.devices > 1)
        where = f"{axes} = {devices}" if axes else devices
        return f"{self.plan.model}, {self.plan.mode}, run on {where}, {self.mesh.devices.flat[0].platform}\n"


class Stop:
    """Ctrl-C, kill and a hangup end a run after its step; a second one ends it at once."""

    signals = signal.SIGINT, signal.SIGTERM, signal.SIGHUP

    def __init__(self):
        self.number = 0
        for each in self.signals:
            signal.signal(each, self.note)

    def note(self, number, _):
        self.number = number
        for each in self.signals:
            signal.signal(each, signal.SIG_DFL)

    def agreed(self):
        """Where one process was asked to end, all do."""
        return int(gathered([self.number]).max())


def scalar_text(value):
    """As many digits as its type has, as `shardc run` prints it."""
    if value.dtype.kind in "biu":
        return str(int(value))
    return str(value if value.dtype == numpy.float64 else numpy.float32(value))


def summary(array, value):
    def numbers_of(x):
        x = crop(x, array.shape).astype(jnp.float32)
        return jnp.stack([x.mean(), x.min(), x.max()])

    numbers = jax.jit(numbers_of)(value).addressable_data(0)
    mean, least, most = (f"{number:.4g}" for number in numpy.asarray(numbers))
    return f"{array.name}  {array.dtype} {array.shape}  mean {mean}  least {least}  most {most}"


def json_text(value):
    number = float(value)
    if math.isfinite(number):
        return scalar_text(value)
    return '"nan"' if math.isnan(number) else '"inf"' if number > 0 else '"-inf"'


def print_once(text, file=None):
    if is_first():
        print(text, file=file, flush=True)


def log_line(path, step, scalars, seconds):
    if is_first():
        numbers = "".join(f', "{name}": {json_text(value)}' for name, value in scalars.items())
        with open(path, "a") as file:
            file.write(f'{{"step": {step}{numbers}, "seconds": {seconds:.9g}}}\n')


def train(job, state, inputs, last, stop):
    """Steps up to the last; the state and what the last step gave."""
    options, step, outputs = job.options, job.program.step(job.mesh), {}
    for number in range(job.first_step, last):
        begin = time.monotonic()
        if number > job.first_step:
            inputs |= job.next_data(number)
        state, outputs = step(state, inputs)
        scalars = {name: numpy.asarray(outputs[name].addressable_data(0)).flat[0] for name in job.plan.scalars}
        texts = [f"  {name} {scalar_text(value)}" for name, value in scalars.items()]
        print_once(f"step {number}" + "".join(texts))
        if options.log:
            together(lambda: log_line(options.log, number, scalars, time.monotonic() - begin))
        ends = number + 1 == last or stop.agreed()
        if job.saver and (ends or (options.save_every and (number + 1) % options.save_every == 0)):
            folder = job.saver.save({**state, **inputs}, number + 1)
            print_once(f"saved step {number + 1} to {folder}", sys.stderr)
        if ends:
            break
    if number + 1 < last:
        print_once(f"\nstopped after {number + 1} of {last} steps")
    return state, outputs


def save_outputs(options, values, arrays):
    for text in options.output:
        name, equals, path = text.partition("=")
        files = {name: path} if equals else {name: pathlib.Path(text) / f"{name}.npy" for name in values}
        if not equals:
            together(lambda: is_first() and os.makedirs(text, exist_ok=True))
        for name, path in files.items():
            save_npy(path, values[name], arrays[name])
            print_once(f"wrote {path}", sys.stderr)


def run(options):
    prepare_jax(options)
    job = together(lambda: Job(options))
    first, last = job.first_step, options.steps or job.first_step + 1
    if last < first:
        help = f"steps are counted from the first run's beginning: --steps {first + last} makes {last} more"
        raise Problem("E0701", f"--steps {last} ends before the checkpoint, which has made {first}", help)
    if last == first:
        print_once(f"nothing left to do: {job.checkpoint.name} has made all {first} steps")
        return 0
    print_once(job.heading())
    stop = Stop()
    state, inputs = job.start()
    if job.plan.is_step:
        state, outputs = train(job, state, inputs, last, stop)
    else:
        state, outputs = job.program.step(job.mesh)(state, inputs)
        for name, value in outputs.items():
            print_once(summary(job.plan.outputs[name], value))
    save_outputs(options, {**state, **outputs}, {**job.plan.inputs, **job.plan.outputs})
    return 128 + stop.number if stop.number else 0
