#!/usr/bin/env python3
"""The schemas and the readers accept and reject the same files.

    cross_check.py FORM_CHECK      FORM_CHECK is the test program of that name

corpus/<kind>/accept         both accept
corpus/<kind>/reject         both reject
corpus/<kind>/beyond_schema  the reader rejects what a schema cannot see (names, sums, duplicate keys)

Then every accepted file is changed in one place, in many ways. Of each change both must say the same, except that the
reader may reject alone with one of the codes in BEYOND.
"""
import copy
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

try:
    import jsonschema
    import yaml
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
SCHEMAS = HERE.parent.parent / "schemas"
CHANGES_PER_FILE = 60
# Reported for files whose form is right: arithmetic, unknown names, sums, ops.
BEYOND = {"E0121", "E0202", "E0203", "E0204", "E0205", "E0207", "E0208", "E0209", "E0212", "E0214", "E0216", "E0217", "E0225", "E0244", "E0302", "E0303", "E0712"}


class Loader(yaml.SafeLoader):
    """YAML 1.2's scalars, as the readers have them, instead of YAML 1.1's."""

    yaml_implicit_resolvers = {}


Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^(~|null|Null|NULL|)$"), ["~", "n", "N", ""])
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(true|false)$"), ["t", "f"])
Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^[-+]?[0-9]+$"), list("-+0123456789"))
Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^([-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)([eE][-+]?[0-9]+)?|[-+]?\.inf)$"), list("-+.0123456789"))


def with_text_keys(value):
    if isinstance(value, dict):
        return {str(key): with_text_keys(item) for key, item in value.items()}
    if isinstance(value, list):
        return [with_text_keys(item) for item in value]
    return value


def load(path):
    return with_text_keys(yaml.load(path.read_text(), Loader=Loader))


def places(value, path=()):
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], path + (key,))
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, path + (index,))


# No 1.0: JSON calls it an integer, the readers do not.
VALUES = [None, True, 0, -1, 3, 1.5, "", "data", "?", "data?", "a b", "16 GiB", "4*batch", [], ["a"], [["a"]], {}, {"a": "b"}]
KEYS = ["a", "key", "size", "axes", "2a", "a-b", "a,b", "a b"]


def is_operand(path):
    """A schema does not know which key is the op, so it cannot check operands, except those of repeat; nor where an
    argument comes to stand."""
    if "args" in path:
        return len(path) > path.index("args") + 1
    if path[:1] == ("train",) and len(path) > 1:
        return len(path) > {"loss": 2, "metrics": 3}.get(path[1], len(path))
    return "graph" in path and len(path) - path.index("graph") > 3


def change(document, rng):
    document = copy.deepcopy(document)
    path = rng.choice([p for p in places(document) if p and not is_operand(p)])
    parent = document
    for step in path[:-1]:
        parent = parent[step]
    kind = rng.randrange(4)
    if kind == 0:
        del parent[path[-1]]
    elif kind == 1 and isinstance(parent, dict):
        name = rng.choice(KEYS)
        if name not in parent:
            parent[name] = parent.pop(path[-1])
    elif kind == 2 and isinstance(parent, list):
        parent.append(copy.deepcopy(rng.choice(VALUES)))
    else:
        parent[path[-1]] = copy.deepcopy(rng.choice(VALUES))
    return document


def ask_reader(program, kind, paths):
    answers = subprocess.run([program, kind, *map(str, paths)], capture_output=True, text=True, check=True)
    lines = answers.stdout.splitlines()
    assert len(lines) == len(paths), "form_check answers once per file"
    return [set() if line == "ok" else set(line.split()) for line in lines]


def check_kind(program, kind, folder):
    failures = []
    schema = json.loads((SCHEMAS / f"{kind}.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    count = 0
    for verdict in ("accept", "reject", "beyond_schema"):
        paths = sorted((HERE / "corpus" / kind / verdict).glob("*.yaml"))
        for path, codes in zip(paths, ask_reader(program, kind, paths)):
            count += 1
            accepts = validator.is_valid(load(path))
            if (verdict == "accept") != (not codes):
                failures.append(f"{path}: the reader says {sorted(codes) or 'ok'}")
            if accepts != (verdict != "reject"):
                failures.append(f"{path}: the schema {'accepts' if accepts else 'rejects'} it")

    rng = random.Random(0)
    documents = []
    for path in sorted((HERE / "corpus" / kind / "accept").glob("*.yaml")):
        document = load(path)
        if document:
            documents += [(path.name, change(document, rng)) for _ in range(CHANGES_PER_FILE)]
    files = []
    for number, (_, document) in enumerate(documents):
        files.append(folder / f"{kind}{number}.yaml")
        files[-1].write_text(json.dumps(document))
    for (name, document), codes in zip(documents, ask_reader(program, kind, files)):
        count += 1
        accepts = validator.is_valid(document)
        if (accepts and codes - BEYOND) or (not accepts and not codes):
            failures.append(f"changed {name}: the schema {'accepts' if accepts else 'rejects'} it, the reader says "
                            f"{sorted(codes) or 'ok'}: {json.dumps(document)}")
    print(f"{kind}: {count} files")
    return failures


def check_modules():
    """Files of modules are read for a model's calls, so the schema is asked alone: of the box, and of what is none."""
    model = json.loads((SCHEMAS / "model.schema.json").read_text())
    schema = json.loads((SCHEMAS / "modules.schema.json").read_text())
    resolver = jsonschema.RefResolver("modules.schema.json", schema, store={"model.schema.json": model})
    validator = jsonschema.Draft7Validator(schema, resolver=resolver)
    files = sorted((HERE.parent.parent / "planner/library").glob("*.yaml"))
    assert files, "the box is empty"
    failures = [f"{path}: {error.message}" for path in files for error in validator.iter_errors(load(path))]
    for wrong in ({"graph": []}, {"modules": []}, {"modules": {"m": {"inputs": ["x"]}}}, {"include": 3}, {"doc": []}):
        if validator.is_valid(wrong):
            failures.append(f"the schema of modules accepts {wrong}")
    print(f"modules: {len(files)} files")
    return failures


def main():
    failures = check_modules()
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("model", "layout", "policy", "config"):
            failures += check_kind(sys.argv[1], kind, pathlib.Path(folder))
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
