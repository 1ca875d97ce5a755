#!/usr/bin/env python3
"""The module `shardc` over the program that was built: ctest runs it where there is a python3. It needs no JAX."""

import json
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import shardc  # noqa: E402
from shardc import program  # noqa: E402
from shardc.own_gradients import own_gradients  # noqa: E402

PROGRAMS = ROOT / "tests" / "importer" / "program" / "programs"
EXAMPLE = ROOT / "examples" / "dot_relu_dot"
MODEL, LAYOUT, OTHER = (EXAMPLE / f"{name}.yaml" for name in ("model", "layout", "data_only"))
MODEL_AS_DICT = {
    "model": "product",
    "axes": {"rows": 4, "columns": 4},
    "inputs": {"x": {"axes": ["rows", "columns"]}},
    "params": {"w": {"shape": [4, 4]}},
    "graph": [{"y": {"dot": ["x", "w"]}}],
    "outputs": ["y"],
}
LAYOUT_AS_DICT = {"mesh": {"data": 2}, "rules": [{"rows": "data"}, {"columns": None}]}


class Module(unittest.TestCase):
    def test_a_plan_has_a_report_and_a_file_that_runs(self):
        plan = shardc.plan(MODEL, LAYOUT)
        self.assertEqual(plan.report["mesh"]["devices"], 8)
        self.assertEqual([one["kind"] for one in plan.report["collectives"]], ["all_reduce"])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "plan.json"
            plan.save(path)
            self.assertEqual(json.loads(path.read_text())["report"]["collectives"], plan.report["collectives"])
            self.assertEqual(program.call("run", path, "--verify")[0], 0)

    def test_models_and_layouts_may_be_dicts(self):
        plan = shardc.plan(MODEL_AS_DICT, LAYOUT_AS_DICT)
        self.assertEqual(plan.specs().SPECS["x"], ("data", None))
        self.assertEqual(plan.specs().MESH, {"data": 2})
        self.assertIn("def local_step(", plan.export("jax"))

    def test_check_answers_with_findings(self):
        self.assertEqual(shardc.check(MODEL, LAYOUT, OTHER)["verdict"], "ok")
        policy = {**LAYOUT_AS_DICT, "policy": {"max_memory_per_device": "1 B"}}
        answer = shardc.check(MODEL_AS_DICT, policy)
        self.assertEqual([one["code"] for one in answer["diagnostics"]], ["P0101"])
        self.assertEqual(answer["verdict"], "findings")

    def test_check_compares_with_a_baseline(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "accepted.json"
            path.write_text(json.dumps(shardc.check(MODEL, LAYOUT)))
            self.assertEqual(shardc.check(MODEL, LAYOUT, baseline=path, strict=True)["verdict"], "ok")
            figures = json.loads(path.read_text())
            figures["subjects"][0]["peak_bytes"] -= 1
            path.write_text(json.dumps(figures))
            answer = shardc.check(MODEL, LAYOUT, baseline=path)
            self.assertEqual([one["code"] for one in answer["diagnostics"]], ["P0107"])
            self.assertEqual(shardc.check(MODEL, LAYOUT, baseline=path, tolerance="1%")["verdict"], "ok")
            unknown = shardc.check(MODEL, OTHER, baseline=path, strict=True)
            self.assertEqual([one["code"] for one in unknown["diagnostics"]], ["W0701"])
            self.assertEqual(unknown["verdict"], "findings")

    def test_diff_compares_layouts(self):
        answer = shardc.diff(MODEL, LAYOUT, OTHER)
        self.assertTrue(answer["differ"])
        self.assertEqual([one["name"] for one in answer["plans"]], ["layout", "data_only"])

    def test_explain_gives_decisions(self):
        (answer,) = shardc.explain(MODEL, LAYOUT, "z")["tensors"]
        self.assertEqual(answer["tensor"]["spec"], ["data", None])

    def test_a_mistake_raises_with_its_diagnostics(self):
        for wrong in lambda layout: shardc.plan(MODEL, layout), lambda layout: shardc.diff(MODEL, LAYOUT, layout):
            with self.assertRaises(shardc.Problem) as caught:
                wrong({"mesh": {"data": 2}, "rulez": []})
            self.assertEqual(caught.exception.exit_code, 2)
            (diagnostic,) = caught.exception.diagnostics
            self.assertEqual((diagnostic["code"], diagnostic["help"]), ("E0114", "did you mean 'rules'?"))
            self.assertEqual(diagnostic["source"]["line"], 1)
            self.assertIn("unknown key 'rulez'", str(caught.exception))

    def test_what_only_the_command_knows_is_a_problem_too(self):
        with self.assertRaises(shardc.Problem) as caught:
            shardc.explain(MODEL, LAYOUT, "nowhere")
        self.assertEqual(caught.exception.diagnostics[0]["code"], "E0706")

    def test_a_program_of_jax_is_a_model(self):
        lowered = unittest.mock.Mock()
        lowered.as_text.return_value = (PROGRAMS / "linear_regression.mlir").read_text()
        jitted = unittest.mock.Mock(__name__="regression")
        jitted.lower.return_value = lowered
        made = shardc.from_jax(jitted, {"w": 1}, x=2, optimizer="sgd", learning_rate=0.5)
        jitted.lower.assert_called_once_with({"w": 1}, x=2)
        lowered.as_text.assert_called_once_with(debug_info=True)
        plan = shardc.plan(made.model, {"mesh": {"data": 2}, "inputs": {"x": ["data", None]}}, mode="train")
        self.assertEqual(plan.report["mesh"]["devices"], 2)
        self.assertIn("all_reduce", [one["kind"] for one in plan.report["collectives"]])
        self.assertEqual(plan.specs().SPECS["x"], ("data", None))
        self.assertIn("sgd", made.model)
        self.assertEqual(shardc.plan(made.model, made.layout).report["mesh"]["devices"], 1)

    def test_a_program_that_no_model_says_is_a_problem(self):
        lowered = unittest.mock.Mock()
        lowered.as_text.return_value = "module {"
        jitted = unittest.mock.Mock(spec=["lower"])
        jitted.lower.return_value = lowered
        with self.assertRaises(shardc.Problem) as caught:
            shardc.from_jax(jitted)
        self.assertEqual(caught.exception.exit_code, 2)
        self.assertRegex(caught.exception.diagnostics[0]["code"], "E08..")

    def test_gradients_of_a_function_s_own_are_named_by_their_lines(self):
        def equation(primitive, *frames, made=(), of=(), **params):
            traceback = types.SimpleNamespace(
                frames=[
                    types.SimpleNamespace(file_name=file, function_name=name, line_num=7) for file, name in frames
                ]
            )
            return types.SimpleNamespace(
                primitive=types.SimpleNamespace(name=primitive),
                source_info=types.SimpleNamespace(traceback=traceback),
                invars=list(of),
                outvars=list(made),
                params=params,
            )

        def program(*equations):
            return types.SimpleNamespace(eqns=list(equations), outvars=[])

        stop = ("/x/jax/_src/core.py", "Primitive.bind"), ("/x/jax/_src/lax/lax.py", "stop_gradient")
        user, library = ("/home/util.py", "loss"), ("/x/jax/_src/nn/functions.py", "softmax")
        rule = ("/x/jax/_src/custom_derivatives.py", "custom_vjp.__call__"), user
        x, y, z = object(), object(), object()
        jax = types.ModuleType("jax")
        jax.__file__ = "/x/jax/__init__.py"
        with unittest.mock.patch.dict(sys.modules, {"jax": jax}):

            def found(*equations):
                return own_gradients(program(*equations))

            self.assertEqual(found(equation("stop_gradient", *stop, user, of=[x])), ["stop_gradient (util.py:7)"])
            self.assertEqual(found(equation("stop_gradient", *stop, library, user, of=[x])), [])
            inner = program(equation("stop_gradient", *stop, user, of=[x]))
            self.assertEqual(found(equation("jit", user, jaxpr=inner)), ["stop_gradient (util.py:7)"])
            largest = equation("reduce_max", user, of=[x], made=[y])
            stopped = equation("stop_gradient", *stop, user, of=[y], made=[z])
            self.assertEqual(found(largest, stopped, equation("sub", user, of=[x, z])), [])
            self.assertEqual(found(largest, stopped, equation("sub", user, of=[y, z])), ["stop_gradient (util.py:7)"])
            self.assertEqual(found(largest, stopped, equation("mul", user, of=[x, z])), ["stop_gradient (util.py:7)"])
            of_user = program(equation("round", ("/x/jax/_src/lax/lax.py", "round"), ("/home/m.py", "ste"), *rule))
            self.assertEqual(found(equation("custom_vjp_call", *rule, call_jaxpr=of_user)), ["ste (m.py:7)"])
            of_jax = program(equation("max", ("/x/jax/_src/nn/functions.py", "relu"), *rule))
            self.assertEqual(found(equation("custom_jvp_call", *rule, call_jaxpr=of_jax)), [])

    def test_the_runner_says_what_it_takes(self):
        done = subprocess.run(
            [sys.executable, "-m", "shardc.run", "--help"], capture_output=True, text=True, cwd=ROOT / "python"
        )
        self.assertEqual(done.returncode, 0)
        self.assertIn("--restore DIR", done.stdout)


if __name__ == "__main__":
    unittest.main()
