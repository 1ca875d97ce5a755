"""The GitHub Action's steps and the hooks of pre-commit do what they say: run with SHARDC=the program.

The runner's part, expressions and the cache, is not there; what the shell gets of it is given here.
"""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

try:
    import yaml
except ImportError:
    raise SystemExit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARDC = os.environ["SHARDC"]

MODEL = """model: m
axes: {batch: 64, embed: 32, out: 32}
inputs: {x: {axes: [batch, embed]}}
params: {w: {axes: [embed, out]}}
graph: [{y: {dot: [x, w]}}]
outputs: [y]
"""


class Repository(unittest.TestCase):
    def setUp(self):
        self.held = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.held.name)
        (self.folder / "layouts").mkdir()
        (self.folder / "model.yaml").write_text(MODEL)
        for size in (2, 4):
            layout = f"mesh: {{data: {size}}}\nrules: [{{batch: data}}, {{embed: ~}}, {{out: ~}}]\n"
            (self.folder / "layouts" / f"{size} devices.yaml").write_text(layout)

    def tearDown(self):
        self.held.cleanup()

    def check_step(self, **inputs):
        action = yaml.safe_load((ROOT / "action.yml").read_text())
        step = action["runs"]["steps"][-1]
        given = {name: entry["default"] for name, entry in action["inputs"].items()} | inputs | {"program": SHARDC}
        env = dict(os.environ, GITHUB_ACTION_PATH=str(ROOT), GITHUB_STEP_SUMMARY=str(self.folder / "summary.md"))
        for name, value in step["env"].items():
            self.assertRegex(value, r"^\$\{\{ inputs\.[a-z]+ \}\}$")
            env[name] = given[value[len("${{ inputs."):-len(" }}")]]
        script = self.folder / ".step.sh"
        script.write_text(step["run"])
        # As GitHub runs `shell: bash`.
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
        return subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True)

    def test_words_patterns_and_files_of_the_action(self):
        (self.folder / "policy.yaml").write_text("max_memory_per_device: 1\n")
        done = self.check_step(arguments="model.yaml layouts/*.yaml --policy policy.yaml", sarif="out.sarif", junit="out.xml")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("::error file=policy.yaml,line=1"), 2)
        self.assertIn("| layouts/2 devices.yaml | findings |", (self.folder / "summary.md").read_text())
        results = json.loads((self.folder / "out.sarif").read_text())["runs"][0]["results"]
        self.assertEqual([result["ruleId"] for result in results], ["P0101", "P0101"])
        self.assertIn('failures="2"', (self.folder / "out.xml").read_text())

    def test_the_action_checks_what_the_configuration_says(self):
        (self.folder / "shardc.yaml").write_text("{models: [model.yaml], layouts: [layouts/*.yaml]}")
        done = self.check_step(json="figures.json")
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        again = self.check_step(arguments="--baseline figures.json --set 'batch=128'")
        self.assertEqual(again.returncode, 1)
        self.assertIn("P0107", again.stdout)

    def test_the_key_of_the_cache_is_that_of_the_sources(self):
        step = next(step for step in yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
                    if step.get("id") == "sources")
        output = self.folder / "output"
        env = dict(os.environ, GITHUB_ACTION_PATH=str(ROOT), GITHUB_OUTPUT=str(output))
        for _ in range(2):
            subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], env=env, check=True)
        first, second = output.read_text().splitlines()
        self.assertEqual(first, second)
        self.assertRegex(first, "^digest=[0-9a-f]{40}$")

    def test_a_slip_in_the_action_s_words_fails_the_job(self):
        self.assertEqual(self.check_step(arguments="model.yaml layouts/none.yaml").returncode, 2)

    def test_a_patch_mends_what_is_mechanical(self):
        slips = {
            "model.yaml": MODEL.replace("dot:", "dott:"),
            "layouts/2 devices.yaml": "mesh: {data: 2}\nrules:\n  - {batch: data}\n  - {heads: data}\n  - {embed: ~}\n"
                                      "  - {out: ~}  # shardc: allow W0302 not any more\n",
        }
        for name, text in slips.items():
            (self.folder / name).write_text(text)
        (self.folder / "shardc.yaml").write_text("{models: [model.yaml], layouts: [layouts/*.yaml]}")
        for _ in range(2):  # what is wrong with a layout is seen when the model can be read
            patch = subprocess.run([SHARDC, "check", "--format", "patch"], cwd=self.folder, capture_output=True)
            subprocess.run(["git", "apply", "-"], cwd=self.folder, input=patch.stdout, check=True)
        self.assertEqual((self.folder / "model.yaml").read_text(), MODEL)
        self.assertEqual((self.folder / "layouts" / "2 devices.yaml").read_text(),
                         "mesh: {data: 2}\nrules:\n  - {batch: data}\n  - {embed: ~}\n  - {out: ~}\n")
        done = subprocess.run([SHARDC, "check", "--strict", "--format", "patch"], cwd=self.folder, capture_output=True)
        self.assertEqual((done.returncode, done.stdout), (0, b""))

    def test_the_hooks_of_pre_commit_run(self):
        (self.folder / "shardc.yaml").write_text("{models: [model.yaml], layouts: [layouts/*.yaml]}")
        for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text()):
            words = hook["entry"].split()
            self.assertEqual(words[0], "shardc")
            files = ["model.yaml"] if hook.get("pass_filenames", True) else []
            done = subprocess.run([SHARDC, *words[1:], *files], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertEqual(hook["id"].startswith("shardc-fmt"), bool(files))


if __name__ == "__main__":
    unittest.main()
