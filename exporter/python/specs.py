SPECS = {**OUTPUTS, **INPUTS, **STATES, **PARAMS}


def mesh(devices=None):
    """The mesh over these devices, or over all that there are, as jax.sharding.Mesh."""
    import jax
    import numpy

    devices = jax.devices() if devices is None else devices
    grid = numpy.array([devices[number] for number in DEVICES], dtype=object)
    return jax.sharding.Mesh(grid.reshape(tuple(MESH.values())), tuple(MESH))


def spec(name):
    """The PartitionSpec of a parameter, a state, an input or an output."""
    from jax.sharding import PartitionSpec

    return PartitionSpec(*SPECS[name])


def sharding(name, mesh):
    """The same as NamedSharding: for jit's in_shardings and out_shardings."""
    from jax.sharding import NamedSharding

    return NamedSharding(mesh, spec(name))


def name_of(path):
    """What a leaf of a tree is called here: "0/mu/params/Dense_0/kernel" is Dense.0.kernel.mu.

    What JOB_NAMES says, or of the parameters whose names the path ends in, the longest;
    a state of it where a word before says which.
    """
    words = _words(path)
    if words[-1:] == ["value"]:
        words.pop()
    called = max(JOB_NAMES, key=lambda job: _common(words, _words(job)), default=None)
    if called is not None:
        own = _words(called)
        common = _common(words, own)
        # The name of the job's argument, the first word, may be another here.
        if common and common >= min(len(own) - 1, len(words)):
            return _with_state(JOB_NAMES[called], words[: -common])
    params = [name for name in PARAMS if _ends_in(words, _words(name))]
    if not params:
        states = [name for name in STATES if _ends_in(words, _words(name))]
        if not states:
            raise KeyError(f"nothing in the plan is called {path}")
        return max(states, key=len)
    param = max(params, key=len)
    return _with_state(param, words[: -len(_words(param))])


def shardings(tree, mesh):
    """The tree with a NamedSharding in the place of each leaf.

    For variables of flax.linen, nnx.State, states of optax and what is made of them, such
    as TrainState; their shapes are enough (jax.eval_shape). A scalar that the plan does
    not know is on every device.
    """
    import jax
    from jax.sharding import NamedSharding, PartitionSpec

    def of(path, leaf):
        try:
            return sharding(name_of(_text(path)), mesh)
        except KeyError:
            if leaf.ndim > 0:
                raise
            return NamedSharding(mesh, PartitionSpec())

    return jax.tree_util.tree_map_with_path(of, tree)


def differences(tree, mesh):
    """Leaves that are sharded in another way than planned, a line each; for tests."""
    import jax

    leaves = jax.tree_util.tree_leaves_with_path(tree)
    planned = jax.tree_util.tree_leaves(shardings(tree, mesh))
    return [
        f"{_text(path)} is {leaf.sharding}, planned {plan}"
        for (path, leaf), plan in zip(leaves, planned)
        if not leaf.sharding.is_equivalent_to(plan, leaf.ndim)
    ]


def maxtext_rules():
    """logical_axis_rules of a MaxText configuration."""
    return [[logical, list(_axes(axes))] for logical, axes in LOGICAL_AXIS_RULES]


def placements(name):
    """Those of torch's DTensor over init_device_mesh(device, tuple(MESH.values()))."""
    from torch.distributed.tensor import Replicate, Shard

    dims = {axis: d for d, axes in enumerate(SPECS[name]) for axis in _axes(axes)}
    for axes in SPECS[name]:
        if list(_axes(axes)) != [axis for axis in MESH if axis in _axes(axes)]:
            raise ValueError(f"{name}: DTensor splits a dim in the order of the mesh")
    return [Shard(dims[axis]) if axis in dims else Replicate() for axis in MESH]


def _axes(axes):
    return axes if isinstance(axes, tuple) else () if axes is None else (axes,)


def _text(path):
    import jax

    return jax.tree_util.keystr(path, simple=True, separator="/")


def _words(path):
    return [word for word in re.split(r"[\W_]+", path) if word]


def _with_state(param, before):
    states = [name for name in STATES if name.startswith(param + ".")]
    return next((name for name in states if _words(name)[-1] in before), param)


def _common(words, others):
    """How many words both end in."""
    count = 0
    for word, other in zip(reversed(words), reversed(others)):
        if word != other:
            break
        count += 1
    return count


def _ends_in(words, end):
    return words[-len(end) :] == end
