"""What XLA's optimized HLO text says a device sends and multiplies in a step: loops count as often as they run."""

import collections
import functools
import math
import re

import exported_plans

COLLECTIVES = re.compile(rf"({'|'.join(exported_plans.KINDS)})(-start)?$")
ELEMENTWISE = set(
    "abs add and atan2 cbrt ceil clamp compare convert cosine divide erf exponential exponential-minus-one floor is-finite"
    " log log-plus-one logistic maximum minimum multiply negate not or popcnt power remainder round-nearest-afz"
    " round-nearest-even rsqrt select shift-left shift-right-arithmetic shift-right-logical sign sine sqrt subtract tan"
    " tanh xor".split()
)
MOVES = {"bitcast", "copy", "reshape", "transpose", "get-tuple-element", "convert"}


def shape_of(type_text):
    return [int(n) for n in re.search(r"\[([\d,]*)\]", type_text)[1].split(",") if n]


def elements(type_text):
    """Of an array, or of all arrays of a tuple."""
    return sum(math.prod(int(n) for n in dims.split(",") if n) for dims in re.findall(r"\w\[([\d,]*)\]", type_text))


class Instruction:
    def __init__(self, line):
        head = re.match(r"\s+(ROOT )?%?([\w.\-]+) = (.*?) ([a-z][\w\-]*)\(", line)
        self.is_root, self.name, self.type, self.opcode = bool(head[1]), head[2], head[3], head[4]
        depth, end = 1, head.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(line[end], 0)
            end += 1
        self.inside = line[head.end() : end - 1]
        self.operands = re.findall(r"%([\w.\-]+)", self.inside)
        self.attributes = line[end:]

    def called(self):
        """Computations that run as often as this does."""
        if self.opcode in ("fusion", "call", "async-start", "custom-call"):
            return re.findall(r"(?:calls|to_apply|called_computations)=\{?%?([\w.\-]+)", self.attributes)
        if self.opcode == "conditional":
            return re.findall(r"%([\w.\-]+)", self.attributes.split("computation")[-1].split("}")[0])
        return []


def is_begun_elsewhere(computation, instruction):
    """XLA:TPU writes a collective beside which something is computed in several fusions, of which the first begins it."""
    return "async_collective_fusion_config" in instruction.attributes and not any(
        "AsyncCollectiveStart" in other.attributes for other in computation.values()
    )


class Module:
    def __init__(self, text, widths=None):
        self.computations, self.entry = {}, None
        self.widths = exported_plans.SIZES | {"token": 0} | (widths or {})
        current = None
        for line in text.splitlines():
            if start := re.match(r"(ENTRY )?%?([\w.\-]+)(?: \(.*)? \{$", line):
                current = self.computations.setdefault(start[2], {})
                self.entry = start[2] if start[1] else self.entry
            elif current is not None and re.match(r"\s+(ROOT )?%?[\w.\-]+ = ", line):
                made = Instruction(line)
                current[made.name] = made

    def bytes(self, type_text):
        return sum(
            self.widths[dtype] * math.prod(int(n) for n in dims.split(",") if n)
            for dtype, dims in re.findall(r"(\w+)\[([\d,]*)\]", type_text)
        )

    def walk(self, visit, name=None, times=1, loops=0):
        """Calls visit(computation, instruction, times, loops) for all that runs."""
        computation = self.computations[name or self.entry]
        for instruction in computation.values():
            visit(computation, instruction, times, loops)
            if instruction.opcode == "while":
                body = re.search(r"body=%?([\w.\-]+)", instruction.attributes)[1]
                self.walk(visit, body, times * self.trips(instruction, body), loops + 1)
            for called in instruction.called():
                if called in self.computations:
                    self.walk(visit, called, times, loops)

    def trips(self, loop, body):
        """How often a loop runs. The loops that XLA makes of a product and its gather say it by their condition alone:
        a counter from 0, below a constant, that each trip adds a constant to."""
        if known := re.search(r'known_trip_count":\{"n":"(\d+)"', loop.attributes):
            return int(known[1])
        condition = self.computations[re.search(r"condition=%?([\w.\-]+)", loop.attributes)[1]]
        body = self.computations[body]
        (ends,) = [one for one in condition.values() if one.is_root]
        if ends.opcode != "compare" or "direction=LT" not in ends.attributes:
            raise ValueError(f"how often the loop {loop.name} runs is not known")
        counter, limit = (condition[operand] for operand in ends.operands)
        number = int(re.search(r"index=(\d+)", counter.attributes)[1])
        (result,) = [one for one in body.values() if one.is_root]
        added = body[result.operands[number]]
        (step,) = [body[operand] for operand in added.operands if body[operand].opcode == "constant"]
        return -(-int(limit.inside) // int(step.inside))

    def kept_part(self, computation, value, at_root=lambda: 1):
        """The largest part that a reader takes of a value by slicing; 1 where one takes all. `at_root`: what is taken
        of the computation's result."""
        whole, parts = self.bytes(computation[value].type), [0]
        if computation[value].is_root:
            parts.append(at_root())
        for user in computation.values():
            if value not in user.operands:
                continue
            if user.opcode == "dynamic-slice" and user.operands[0] == value:
                parts.append(self.bytes(user.type) / whole)
            elif user.opcode in MOVES:
                parts.append(self.kept_part(computation, user.name, at_root))
            elif user.opcode == "fusion":
                (called,) = user.called()
                inner = self.computations[called]
                numbers = [n for n, operand in enumerate(user.operands) if operand == value]
                outside = functools.partial(self.kept_part, computation, user.name, at_root)
                for one in inner.values():
                    if one.opcode == "parameter" and int(one.inside) in numbers:
                        parts.append(self.kept_part(inner, one.name, outside))
            else:
                return 1
        return max(parts)

    def scattered_bytes(self, computation, reduction, count):
        """Of each operand that is reduced, its bytes if its readers keep no more than a device's share."""
        for number, operand in enumerate(reduction.operands):
            results = [reduction.name]
            if len(reduction.operands) > 1:
                taken = (one for one in computation.values() if reduction.name in one.operands)
                results = [one.name for one in taken if re.search(r"index=(\d+)", one.attributes)[1] == str(number)]
            if all(self.kept_part(computation, name) <= 1 / count for name in results):
                yield self.bytes(computation[operand].type)

    def sent(self, devices):
        """By kind, bytes that all devices send; and the same where an all-reduce whose readers keep no more than a
        device's share counts as the reduce-scatter that XLA makes of it elsewhere."""
        plain, scattered = collections.Counter(), collections.Counter()

        def visit(computation, instruction, times, loops):
            match = COLLECTIVES.match(instruction.opcode)
            if not match or is_begun_elsewhere(computation, instruction):
                return
            kind = exported_plans.KINDS[match[1]]
            size = sum(self.bytes(computation[operand].type) for operand in instruction.operands)
            line = instruction.attributes
            if kind == "collective_permute":
                pairs = re.search(r"source_target_pairs=\{(.*?)\}\}", line)
                sends = sum(a != b for a, b in re.findall(r"(\d+),(\d+)", pairs[0]))
                plain[kind] += size * sends * times
                scattered[kind] += size * sends * times
                return
            count = len(eval(exported_plans.groups_of(line))[0])  # noqa: S307 a list of numbers
            if count == 1 or size == 0:
                return
            factor = {"all_reduce": 2 * (count - 1) / count, "all_gather": count - 1, "broadcast": 1}
            total = size * factor.get(kind, (count - 1) / count) * devices * times
            plain[kind] += total
            kept = sum(self.scattered_bytes(computation, instruction, count)) if kind == "all_reduce" else 0
            scattered["reduce_scatter"] += total * kept / size / 2
            scattered[kind] += total * (1 - kept / size)

        self.walk(visit)
        rounded = [{kind: round(n) for kind, n in sorted(counter.items()) if n} for counter in (plain, scattered)]
        return rounded

    def repeated_flops(self):
        """What cost_analysis leaves out of loops, of which it counts a body once: products, reductions, and what goes
        element by element, functions among it, each one FLOP."""
        found = 0

        def visit(computation, instruction, times, loops):
            nonlocal found
            if not loops:
                return
            made = elements(instruction.type)
            if instruction.opcode == "dot":
                dims = re.search(r"lhs_contracting_dims=\{([\d,]*)\}", instruction.attributes)[1]
                shape = shape_of(computation[instruction.operands[0]].type)
                flops = 2 * made * math.prod(shape[int(d)] for d in dims.split(","))
            elif instruction.opcode == "reduce":
                count = len(instruction.operands) // 2
                read = elements(computation[instruction.operands[0]].type)
                flops = (read - made // count) * count
            elif instruction.opcode in ELEMENTWISE:
                flops = made
            elif instruction.opcode == "reduce-window":
                window = re.search(r"window=\{size=([\dx]+)", instruction.attributes)[1]
                flops = made * (math.prod(int(n) for n in window.split("x")) - 1)
            elif instruction.opcode == "convolution":  # what XLA:TPU makes of products
                kernel = shape_of(computation[instruction.operands[1]].type)
                features = re.search(r"dim_labels=\w+_(\w+)->", instruction.attributes)[1].index("o")
                flops = 2 * made * math.prod(kernel) // kernel[features]
            elif instruction.opcode in ("select-and-scatter", "sort"):
                raise ValueError(f"what {instruction.name} computes in a loop is not counted")
            else:
                return
            found += flops * (times - 1)

        self.walk(visit)
        return found
