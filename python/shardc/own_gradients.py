"""What a function of JAX says of its own gradients, and StableHLO does not: stop_gradient, rules of custom_vjp."""

import dataclasses
import pathlib

# Of JAX, between the line that calls and the primitive.
_PLUMBING = {
    "api_util",
    "core",
    "custom_derivatives",
    "linear_util",
    "partial_eval",
    "source_info_util",
    "traceback_util",
    "tree_util",
    "util",
}
# What a maximum goes through before it is taken from what it is of.
_PASSES_MAXIMUM = {"broadcast_in_dim", "convert_element_type", "expand_dims", "max", "reshape", "select_n", "squeeze"}


def own_gradients(jaxpr):
    """Each as "stop_gradient (model.py:12)", in the order of the program, once.

    What JAX does in functions of its own is left out, and so is x - stop_gradient(max(x)), which is taken for the shift
    of a softmax: its gradient stays the same.
    """
    found = {}
    makers = {}
    for equation in jaxpr.eqns:
        makers.update((id(made), equation) for made in equation.outvars)
        primitive = equation.primitive.name
        if primitive == "stop_gradient":
            place = None if _is_shift(jaxpr, equation, makers) else _caller(equation)
            found.update({f"stop_gradient ({place})": None} if place else {})
        elif primitive.startswith(("custom_vjp_call", "custom_jvp_call")):
            found.update(dict.fromkeys(_rule(equation)))
        else:
            for inner in _inner(equation):
                found.update(dict.fromkeys(own_gradients(inner)))
    return list(found)


def _rule(equation):
    """The function that has a rule, as "ste (model.py:3)", unless it is JAX's."""
    for inner in _inner(equation):
        for first in inner.eqns[:1]:
            within = None
            for frame in _frames(first):
                if frame.file.stem == "custom_derivatives":
                    break
                within = within if _is_plumbing(frame) else frame
            if within is not None and not _is_of_jax(within.file):
                return [f"{within.function} ({within.file.name}:{within.line})"]
    return []


def _is_shift(jaxpr, stop, makers):
    """Whether all that is done with what is stopped is to take a maximum from what it is the maximum of."""
    equation = stop
    while equation.primitive.name != "reduce_max":
        equation = makers.get(id(equation.invars[-1]))
        if equation is None or equation.primitive.name not in _PASSES_MAXIMUM | {"reduce_max"}:
            return False
    of, stopped = equation.invars[0], {id(made) for made in stop.outvars}
    for reader in jaxpr.eqns:
        if all(id(read) not in stopped for read in reader.invars):
            continue
        if reader.primitive.name in _PASSES_MAXIMUM:
            stopped.update(id(made) for made in reader.outvars)
        elif reader.primitive.name != "sub" or reader.invars[0] is not of:
            return False
    return all(id(made) not in stopped for made in jaxpr.outvars)


def _inner(equation):
    for value in equation.params.values():
        for one in value if isinstance(value, (tuple, list)) else [value]:
            one = getattr(one, "jaxpr", one)
            if hasattr(one, "eqns"):
                yield one


@dataclasses.dataclass(frozen=True)
class _Frame:
    file: pathlib.Path
    function: str
    line: int


def _frames(equation):
    """The innermost first."""
    traceback = equation.source_info.traceback
    for frame in traceback.frames if traceback is not None else []:
        yield _Frame(pathlib.Path(frame.file_name), frame.function_name.split(".")[-1], frame.line_num)


def _is_of_jax(file):
    import jax

    return pathlib.Path(jax.__file__).parent in file.parents


def _is_plumbing(frame):
    is_stop = frame.function in ("_stop_gradient", "stop_gradient")
    return _is_of_jax(frame.file) and (is_stop or frame.file.stem in _PLUMBING)


def _caller(equation):
    """Who calls, as "model.py:12"; None if it is JAX."""
    for frame in _frames(equation):
        if not _is_of_jax(frame.file):
            return f"{frame.file.name}:{frame.line}"
        if not _is_plumbing(frame):
            return None
    return None
