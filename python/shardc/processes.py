"""Processes of one run that agree: on numbers, on going on, on who says it."""

import jax
import numpy
from jax.experimental import multihost_utils

from .problem import Problem


def is_first():
    return jax.process_index() == 0


def gathered(numbers):
    """A row of numbers below 2^32 of every process, in all of them."""
    row = numpy.array(numbers, numpy.uint32)
    return row[None] if jax.process_count() == 1 else numpy.asarray(multihost_utils.process_allgather(row))


def together(action):
    """What every process does at this point, and the others' turn when all have done it.

    A problem of one ends them all: none waits for what does not come.
    """
    problem = result = None
    try:
        result = action()
    except (Problem, OSError) as caught:
        problem = caught
    failed = numpy.flatnonzero(gathered([problem is not None])[:, 0])
    if problem is not None:
        raise problem
    if failed.size:
        raise Problem.said(f"process {failed[0]} ended the run", 2)
    return result
