#!/usr/bin/env python3
"""Runs what `shardc export --to stablehlo` writes on eight devices forced on the CPU, beside `shardc run` of the same
plan: the module goes to XLA as it is, without tracing.

    tests/oracle/export_stablehlo_check.py build/dev/shardc [WORD...]     only cases whose names hold a word

What is said per case and the exit codes are those of export_jax_check.py. The calls by which jaxlib takes a module are
internals of jax; these are of 0.10.2. Not part of ctest.
"""

import exported_plans  # before jax: it forces the devices
import jax
import numpy
from jax._src import compiler, sharding_impls, xla_bridge
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jax._src.lib.mlir import ir


def dict_of(attribute):
    return {entry.name: entry.attr for entry in ir.DictAttr(attribute)}


class Function:
    """A function of the module, compiled for all devices; `devices` of a topology are only compiled for."""

    def __init__(self, text, name, devices=None):
        with mlir.make_ir_context(), ir.Location.unknown():
            module = ir.Module.parse(text)
            functions = {str(op.sym_name.value): op for op in module.body if op.operation.name == "func.func"}
            for other in functions.keys() & {"main", "start"} - {name}:
                functions[other].erase()
            function = functions[name]
            function.attributes["sym_name"] = ir.StringAttr.get("main")
            self.results = [
                ir.StringAttr(one["jax.result_info"]).value for one in map(dict_of, function.attributes["res_attrs"])
            ]
            arguments = function.attributes["arg_attrs"] if "arg_attrs" in function.attributes else []
            self.aliases = {  # what the next step reads: by argument, which result
                number: ir.IntegerAttr(one["tf.aliasing_output"]).value
                for number, one in enumerate(map(dict_of, arguments))
                if "tf.aliasing_output" in one
            }
            self.shapes = [ir.RankedTensorType(type).shape for type in function.type.results]
            count = ir.IntegerAttr(module.operation.attributes["mhlo.num_partitions"]).value
            self.devices = (devices or jax.devices())[:count]
            client = devices[0].client if devices else xla_bridge.get_backend("cpu")
            options = compiler.get_compile_options(1, count, numpy.arange(count).reshape(1, count), backend=client)
            options.executable_build_options.use_spmd_partitioning = True
            options.executable_build_options.use_shardy_partitioner = True
            devices = xla_client.DeviceList(tuple(self.devices))
            self.compiled = compiler.backend_compile_and_load(client, module, devices, options, [])

    def __call__(self, arguments):
        parts = self.compiled.execute_sharded(arguments).disassemble_into_single_device_arrays()
        if len(self.devices) == 1:
            return [part for (part,) in parts]
        return [
            jax.make_array_from_single_device_arrays(
                tuple(shape), sharding_impls.GSPMDSharding(tuple(self.devices), sharding), part
            )
            for shape, sharding, part in zip(self.shapes, self.compiled.get_output_shardings(), parts)
        ]


def run(text, where, steps):
    values = Function(text, "start")([]) if "@start()" in text else []
    step = Function(text, "main")
    for _ in range(steps):
        results = step(values)
        for argument, result in step.aliases.items():
            values[argument] = results[result]
    return dict(zip(step.results, results)), step.compiled.hlo_modules()[0].to_string()


if __name__ == "__main__":
    exported_plans.check("stablehlo", run)
