#!/usr/bin/env python3
"""What commands print as JSON fits the schemas, and what is called alike in two schemas is alike.

    payloads_test.py SHARDC
"""
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCHEMAS = {path.name.split(".")[0]: json.loads(path.read_text()) for path in (ROOT / "schemas").glob("*.json")}
LAB = "examples/dot_relu_dot"
LAYOUTS = [f"{LAB}/layout.yaml", f"{LAB}/data_only.yaml"]
TRAIN = ["examples/dp_classifier/model.yaml", "examples/dp_classifier/layout.yaml", "--mode", "train"]

ORACLE = "tests/oracle/models"
SEQUENCE = [f"{ORACLE}/llama.yaml", f"{ORACLE}/layouts/sequence_tp.yaml"]

LISTED = ["ops", "composites", "collectives", "hardware", "library", "initializers", "keys", "policies", "passes", "codes",
          "commands", "formats", "targets"]

# What each command prints, by schema.
PAYLOADS = [
    ("report", ["plan", f"{LAB}/model.yaml", LAYOUTS[0]]),
    ("report", ["plan", *TRAIN]),
    ("sweep", ["plan", f"{LAB}/model.yaml", LAYOUTS[0], "--set", "batch=8,16,9"]),
    ("sweep", ["plan", f"{LAB}/model.yaml", LAYOUTS[0], "--fit", "batch", "--set", "hardware=h100"]),
    ("check", ["check", f"{LAB}/model.yaml", *LAYOUTS]),
    ("check", ["check", f"{LAB}/model.yaml", *LAYOUTS, "--policy", "{policy}", "--strict"]),
    ("check", ["check", f"{LAB}/model.yaml", "nowhere.yaml"]),
    ("diff", ["diff", f"{LAB}/model.yaml", *LAYOUTS]),
    ("show", ["show", f"{LAB}/model.yaml", LAYOUTS[0]]),
    ("explain", ["explain", f"{LAB}/model.yaml", LAYOUTS[0], "a"]),
    ("explain", ["explain", *TRAIN]),
    ("explain", ["explain", *SEQUENCE, "llama_block.0.gate"]),
    ("run", ["run", f"{LAB}/model.yaml", LAYOUTS[0], "--verify", "--time"]),
    ("run", ["run", f"{LAB}/model.yaml", LAYOUTS[0], "--print", "z"]),
    ("run", ["run", *TRAIN, "--steps", "2"]),
    ("run", ["run", *TRAIN, "--repeat", "2"]),
    ("run", ["run", *TRAIN, "--steps", "2", "--profile"]),
    *[("list", ["list", what]) for what in LISTED],
    ("list", ["list", "ops", "dot"]),
    ("list", ["explain", "relu"]),
    ("list", ["explain", "strict"]),
]

# What commands write into files, by schema.
FILES = [
    ("plan", ["plan", f"{LAB}/model.yaml", LAYOUTS[0], "-o", "{file}"]),
    ("plan", ["plan", *TRAIN, "-o", "{file}"]),
    ("check", ["check", f"{LAB}/model.yaml", *LAYOUTS, "--accept", "--baseline", "{file}"]),
    ("check", ["check", f"{LAB}/model.yaml", *LAYOUTS, "--format", "json={file}"]),
]

# Text forms of one thing that grew apart before there were schemas.
APART = {("check", "report", "diagnostic")}


def printed(shardc, words, policy):
    words = [policy if word == "{policy}" else word for word in words]
    done = subprocess.run([shardc, *words, "--format", "json"], cwd=ROOT, capture_output=True, text=True)
    return json.loads(done.stdout)


def written(shardc, words):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "written.json"
        subprocess.run([shardc, *[word.replace("{file}", str(path)) for word in words]], cwd=ROOT, capture_output=True)
        return json.loads(path.read_text())


def main():
    shardc, failures = sys.argv[1], []
    for name, schema in SCHEMAS.items():
        jsonschema.Draft7Validator.check_schema(schema)
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as policy:
        policy.write("max_memory_per_device: 1\nmax_collectives: 0\n")
        policy.flush()
        payloads = [(name, words, printed(shardc, words, policy.name)) for name, words in PAYLOADS]
        payloads += [(name, words, written(shardc, words)) for name, words in FILES]
        for name, words, payload in payloads:
            for error in jsonschema.Draft7Validator(SCHEMAS[name]).iter_errors(payload):
                failures.append(f"{' '.join(words)}: {'.'.join(map(str, error.path))}: {error.message[:300]}")
            # A payload of another kind does not fit.
            del payload["format_version"]
            if jsonschema.Draft7Validator(SCHEMAS[name]).is_valid(payload):
                failures.append(f"{name}: fits without format_version")
    names = sorted(SCHEMAS)
    for i, first in enumerate(names):
        for second in names[i + 1:]:
            one, other = SCHEMAS[first].get("definitions", {}), SCHEMAS[second].get("definitions", {})
            for key in sorted(set(one) & set(other)):
                ours = {name for name, _ in PAYLOADS}
                if first in ours and second in ours and (first, second, key) not in APART and one[key] != other[key]:
                    failures.append(f"{first} and {second} have different ideas of '{key}'")
    policy = SCHEMAS["policy"]
    for name in ("layout", "config"):
        copy = SCHEMAS[name]["definitions"]
        if copy["policy"]["properties"] != policy["properties"]:
            failures.append(f"the policy in {name}.schema.json is not that of policy.schema.json")
        for key, value in policy["definitions"].items():
            if copy[key] != value:
                failures.append(f"'{key}' in {name}.schema.json is not that of policy.schema.json")
    print("\n".join(failures) or f"{len(payloads)} payloads")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
