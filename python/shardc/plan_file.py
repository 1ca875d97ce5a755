"""What a runner needs to know of a plan file (schemas/plan.schema.json) that `shardc export` has taken, and so checked."""

import dataclasses
import json
import math


@dataclasses.dataclass(frozen=True)
class Array:
    """An input, parameter, state or output of the plan, as a whole. The program's array has zeros behind it where axes do
    not divide its dims."""

    name: str
    role: str
    dtype: str
    shape: tuple
    padded: tuple

    def real(self, index):
        """What of a box of the padded array is no padding."""
        ranges = [part.indices(size)[:2] for part, size in zip(index, self.padded)]
        return tuple(slice(min(begin, n), min(end, n)) for (begin, end), n in zip(ranges, self.shape))


class PlanFile:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            plan = json.load(file)
        buffers = {
            buffer["id"]: Array(
                buffer["name"],
                buffer["role"],
                buffer["dtype"],
                tuple(buffer.get("unpadded_shape", buffer["global_shape"])),
                tuple(buffer["global_shape"]),
            )
            for buffer in plan["buffers"]
        }
        self.tool, self.model, self.mode = plan["tool"], plan["model"], plan["mode"]
        self.mesh = {axis["name"]: axis["size"] for axis in plan["mesh"]["axes"]}
        self.devices = math.prod(self.mesh.values())
        inputs = [buffers[given["buffer"]] for given in plan["inputs"]]
        self.inputs = {array.name: array for array in inputs}
        self.outputs = {
            output["name"]: dataclasses.replace(buffers[output["buffer"]], name=output["name"])
            for output in plan["outputs"]
        }
        self.updated = {buffers[output["updates"]].name for output in plan["outputs"] if "updates" in output}
        self.is_step = bool(self.updated)
        # What a step says of itself: its loss and metrics.
        self.scalars = [
            name for name, array in self.outputs.items() if name not in self.updated and math.prod(array.shape) == 1
        ]

    def params(self):
        return [name for name, array in self.inputs.items() if array.role in ("param", "variable")]

    def states(self):
        """What else belongs into a checkpoint."""
        return [
            name
            for name, array in self.inputs.items()
            if array.role not in ("param", "variable") and (array.role == "state" or name in self.updated)
        ]
