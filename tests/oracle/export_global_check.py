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


if __name__ == "__main__":
    exported_plans.check("stablehlo --global", export_stablehlo_check.run, tell=ratio)
