#!/usr/bin/env python3
"""Reads what `shardc export --to chakra` writes with Google's protobuf and the schema as MLCommons publishes it.

    tests/oracle/chakra_check.py build/dev/shardc et_def.proto [WORD...]     only examples whose names hold a word

et_def.proto is schema/protobuf/et_def.proto of mlcommons/chakra; grpcio-tools compiles it. Per example and device: that
the schema knows every field, that dependencies are nodes before, that collectives are those of the plan in kind, groups
and bytes, and that what is sent is received. Without JAX (for the plan's list) or grpcio-tools it says so and exits 77.
Not part of ctest.
"""

import collections
import importlib
import json
import pathlib
import sys
import tempfile

SCHEMA = pathlib.Path(sys.argv.pop(2)).resolve() if len(sys.argv) > 2 else None

import exported_plans  # noqa: E402

try:
    from google.protobuf import unknown_fields
    from google.protobuf.internal.decoder import _DecodeVarint32
    from grpc_tools import protoc
except ImportError as problem:
    print(f"SKIPPED: {problem}")
    sys.exit(77)


def compiled_schema(folder):
    if SCHEMA is None or protoc.main(["protoc", f"-I{SCHEMA.parent}", f"--python_out={folder}", str(SCHEMA)]):
        sys.exit("the second argument is et_def.proto of mlcommons/chakra")
    sys.path.insert(0, str(folder))
    return importlib.import_module(f"{SCHEMA.stem}_pb2")


def messages(data, first, rest):
    """Messages behind their lengths: one of a kind, then others."""
    at, kind = 0, first
    while at < len(data):
        size, at = _DecodeVarint32(data, at)
        yield kind.FromString(data[at : at + size])
        at, kind = at + size, rest


def has_unknown(message):
    if len(unknown_fields.UnknownFieldSet(message)):
        return True
    return any(
        has_unknown(one)
        for field, value in message.ListFields()
        if field.message_type
        for one in (value if field.is_repeated else [value])
    )


def attributes(node):
    return {one.name: getattr(one, one.WhichOneof("value")) for one in node.attr}


def problems(schema, folder, plan):
    """What does not hold of the traces in a folder."""
    groups = json.loads((folder / "groups.json").read_text())
    kinds = {value: name.lower() for name, value in schema.CollectiveCommType.items()}
    sent, received = collections.Counter(), collections.Counter()
    for trace in sorted(folder.glob("trace.*.et")):
        device = int(trace.name.split(".")[1])
        metadata, *nodes = messages(trace.read_bytes(), schema.GlobalMetadata, schema.Node)
        if any(map(has_unknown, [metadata, *nodes])):
            yield f"{trace.name} has fields that the schema does not know"
        seen, found = set(), collections.Counter()
        for node in nodes:
            if not seen.issuperset([*node.ctrl_deps, *node.data_deps]):
                yield f"{trace.name}: {node.name} depends on what does not come before it"
            if node.id in seen:
                yield f"{trace.name}: {node.name} has the number of another"
            seen.add(node.id)
            said = attributes(node)
            if node.type == schema.COMM_COLL_NODE:
                if device not in groups[said["pg_name"]]:
                    yield f"{trace.name}: {node.name} goes over a group without the device"
                found[kinds[said["comm_type"]], len(groups[said["pg_name"]])] += said["comm_size"]
            elif node.type in (schema.COMM_SEND_NODE, schema.COMM_RECV_NODE):
                way = said["comm_src"], said["comm_dst"], said["comm_tag"], said["comm_size"]
                (sent if node.type == schema.COMM_SEND_NODE else received)[way] += 1
                if device != way[0 if node.type == schema.COMM_SEND_NODE else 1]:
                    yield f"{trace.name}: {node.name} is another device's"
            elif node.type != schema.COMP_NODE or said["num_ops"] < 0 or said["tensor_size"] < 0:
                yield f"{trace.name}: {node.name} is of no kind that is written"
        planned = collections.Counter()
        for (kind, over), size in exported_plans.planned_collectives(plan).items():
            if over:
                planned[kind, len(json.loads(over)[0])] += size
        if found != planned:
            yield f"{trace.name}: {dict(found)} in the trace, {dict(planned)} in the plan"
    if sent != received:
        yield f"sent and not received: {sent - received}; received and not sent: {received - sent}"


def main():
    failed = count = 0
    with tempfile.TemporaryDirectory() as scratch:
        schema = compiled_schema(scratch)
        for folder, model, layout, mode in exported_plans.cases():
            name = f"{folder.name} {model} {layout} {mode}"
            if exported_plans.WORDS and not any(word in name for word in exported_plans.WORDS):
                continue
            with tempfile.TemporaryDirectory() as where:
                path, traces = pathlib.Path(where) / "plan.json", pathlib.Path(where) / "traces"
                exported_plans.shardc(folder, "plan", model, layout, "--mode", mode, "--quick", "-o", path)
                if not path.exists():
                    continue
                plan = json.loads(path.read_text())
                if len(plan["mesh"]["axes"]) and sum(axis["size"] for axis in plan["mesh"]["axes"]) > 64:
                    continue
                code, said = exported_plans.shardc(where, "export", path, "--to", "chakra", "--output", traces)
                wrong = [said] if code else list(problems(schema, traces, plan))
            count, failed = count + 1, failed + bool(wrong)
            print(f"{'FAILED' if wrong else 'ok':7}{name} {'; '.join(wrong)[:600]}", flush=True)
    print(f"{count} examples, {failed} failed")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
