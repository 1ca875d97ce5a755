"""Runs a plan with JAX on the devices that there are: N steps, with the losses and the files of `shardc run`.

python -m shardc.run plan.json --steps 5 --platform cpu --devices 8
"""

import argparse
import sys
import traceback

from .problem import Problem, text_of


def parse(argv):
    parser = argparse.ArgumentParser(
        prog="shardc-run",
        description="run a plan with JAX on the devices that there are; options are those of `shardc run`",
        epilog="Exit codes: 0 clean, 2 bad input, 3 an internal error, 130 or 143 after Ctrl-C or kill.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("plan", metavar="PLAN", help="a plan file, as `shardc plan -o` writes it")
    add("--steps", type=int, metavar="N", help="train up to step N; without it one step")
    add("--input", action="append", default=[], metavar="NAME=FILE", help="an input or parameter from a .npy file")
    add("--data", action="append", default=[], metavar="NAME=FILE", help="for each step one element of the first dim")
    add("--output", action="append", default=[], metavar="DIR|NAME=FILE", help="write results as .npy files")
    add("--log", metavar="FILE", help="append a line of JSON for each step")
    add("--save", metavar="DIR", help="write parameters and optimizer states at the end, also after a signal")
    add("--save-every", type=int, metavar="K", help="and after every K steps")
    add("--restore", metavar="DIR", help="go on from a checkpoint, saved on any mesh, or a file of safetensors")
    add("--restore-only", choices=["params"], help="begin at step 0, with new optimizer states")
    add("--platform", metavar="NAME", help="cpu, gpu or tpu; without it what JAX finds")
    add("--devices", type=int, metavar="N", help="with --platform cpu: so many in this process")
    add("--coordinator", metavar="HOST:PORT", help="of several processes: where process 0 listens")
    add("--processes", type=int, metavar="N", help="how many they are")
    add("--process", type=int, metavar="I", help="which of them this is, from 0")
    add("--distributed", action="store_true", help="several processes that JAX finds by itself: TPU, Slurm, Open MPI")
    options = parser.parse_args(argv)
    for option in "steps", "save_every", "devices":
        if getattr(options, option) is not None and getattr(options, option) < 1:
            parser.error(f"--{option.replace('_', '-')} takes a whole number from 1")
    for option, needed in ("save_every", "save"), ("restore_only", "restore"):
        if getattr(options, option) and not getattr(options, needed):
            parser.error(f"--{option.replace('_', '-')} says more about --{needed}, which is not there")
    if options.coordinator and None in (options.processes, options.process):
        parser.error("--coordinator needs --processes N and --process I beside it")
    return options


def main(argv=None):
    options = parse(argv)
    try:
        try:
            from . import job
        except ImportError as problem:
            raise Problem("E0702", f"Python has no JAX: {problem}", "pip install 'shardc[jax]'") from None
        return job.run(options)
    except Problem as problem:
        sys.stderr.write(f"{problem}\n")
        return problem.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 141
    except OSError as problem:
        sys.stderr.write(text_of("error", "E0703", f"cannot write {problem.filename}: {problem.strerror}"))
        return 2
    except Exception:  # nobody's input: a bug here, or a device that is out of memory
        traceback.print_exc()
        return 3


if __name__ == "__main__":
    sys.exit(main())
