#!/usr/bin/env python3
"""Random JAX programs (random_programs.py) as JAX runs them, and as shardc does on 2 x 4 emulated devices once it has imported them.

    tests/oracle/import_random_check.py build/dev/shardc [COUNT [SEED]]    programs SEED, SEED + 1, ...

What JAX itself does not trace, or has no numbers for, is left out. Where results differ, JAX says whether the program decides it: a comparison or a sort turns out otherwise
by as little as rounding. Exits 1 if any other differs by more than 2e-5 of its largest element, or is not imported; without JAX it says so and exits 77
(skipped). Not part of ctest.
"""

import collections
import sys

import imported  # before jax
import numpy as np
import random_programs

ALLOWED = 2e-5


def outcome_of(seed):
    try:
        kind, function, arguments = random_programs.program(seed)
        traced = imported.trace(function, arguments)
    except (TypeError, ValueError):  # a step that does not fit, a loop that JAX does not differentiate
        return "not traced", ""
    if not all(np.isfinite(result).all() for result in traced.results):
        return "no numbers", ""
    outcome = imported.compare(traced, is_gradient=kind == "gradient", first_dim=seed % 2 == 1)
    if outcome.problem:
        return "FAILED", f"{kind}: {outcome.problem}"
    if outcome.difference <= ALLOWED:
        return "equal", ""
    if outcome.difference <= imported.decided_by_rounding(function, arguments, kind == "gradient"):
        return "decided by rounding", ""
    return "FAILED", f"{kind}: differs by {outcome.difference:.1e}"


def main():
    count, first = (int(sys.argv[i]) if len(sys.argv) > i else otherwise for i, otherwise in ((2, 100), (3, 0)))
    outcomes = collections.Counter()
    for seed in range(first, first + count):
        outcome, problem = outcome_of(seed)
        outcomes[outcome] += 1
        if problem:
            print(f"program {seed}, {problem}", flush=True)
    print(", ".join(f"{number} {outcome}" for outcome, number in sorted(outcomes.items())))
    return 1 if outcomes["FAILED"] else 0


if __name__ == "__main__":
    sys.exit(main())
