def mesh(devices=None):
    """The mesh over these devices, or over all that there are."""
    devices = jax.devices() if devices is None else devices
    grid = numpy.array([devices[number] for number in DEVICES], dtype=object)
    return jax.sharding.Mesh(grid.reshape(tuple(MESH.values())), tuple(MESH))


def start(mesh):
    """State and inputs to start from, as (state, inputs)."""
    whole = jax.shard_map(
        local_start, mesh=mesh, in_specs=(), out_specs=(STATE, INPUTS), check_vma=False
    )
    return jax.jit(whole)()


def step(mesh):
    """The step, compiled: (state, inputs) to (state, outputs). The old state is given up."""
    whole = jax.shard_map(
        local_step,
        mesh=mesh,
        in_specs=(STATE, INPUTS),
        out_specs=(STATE, OUTPUTS),
        check_vma=False,
    )
    return jax.jit(whole, donate_argnums=0)


def main(steps=1):
    here = mesh()
    state, inputs = start(here)
    run = step(here)
    for number in range(steps):
        state, outputs = run(state, inputs)
        for name, value in outputs.items():
            print(number, name, value)


if __name__ == "__main__":
    main()
