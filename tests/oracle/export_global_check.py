#!/usr/bin/env python3
"""Lets XLA partition what `shardc export --to stablehlo --global` writes, on eight devices forced on the CPU, beside the
plan: the numbers must be those of `shardc run`, and the collectives are XLA's own.

    tests/oracle/export_global_check.py build/dev/shardc [WORD...]     only cases whose names hold a word

Per case, as export_stablehlo_check.py: the difference, and what a device sends in a step, XLA's bytes by the plan's. Not
part of ctest.
"""

import exported_plans
import export_stablehlo_check


def ratio(plan, compiled):
    ours = exported_plans.wire_bytes(exported_plans.planned_collectives(plan))
    theirs = exported_plans.wire_bytes(compiled)
    kinds = sorted({kind for kind, _ in compiled})
    return f"planned {ours:.0f} B, XLA {theirs:.0f} B ({', '.join(kinds)})" + (f", {theirs / ours:.2f}" if ours else "")


# XLA:CPU 0.10.2 partitions a running minimum along a split dim, and the gradient of a depthwise convolution's kernel, to
# other numbers; the same modules for one device are right.
WRONG_IN_XLA = {
    "tests/oracle/kernels model.yaml layout.yaml forward",
    "tests/oracle/kernels model.yaml reordered.yaml forward",
    "tests/oracle/kernels/windows model.yaml layout.yaml forward",
}

if __name__ == "__main__":
    exported_plans.check("stablehlo --global", export_stablehlo_check.run, tell=ratio, wrong_in_xla=WRONG_IN_XLA)
