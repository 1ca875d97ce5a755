"""JAX's side of bench/compare: answers each line of JSON on stdin with one on stdout, and stays warm in between.

{"do": "hello"}                                                  {"version": "0.10.2", "devices": 8}
{"do": "compile", "layers": 4, "scan": false, "widths": {...}}   {"seconds": ...}     lower and compile
{"do": "load", "twin": "gpt", "exported": "step.py", ...}        {"first": [...]}     what its first steps give
{"do": "step", "count": 5}                                       {"seconds": [...]}   of each step that follows
"""

import json
import os
import sys
import traceback

ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what libraries print is no answer


def main():
    import jax

    import steps
    from graph import chain_seconds, wide_seconds
    from llama import compile_seconds

    running = None
    for line in sys.stdin:
        question = json.loads(line)
        do = question.pop("do")
        try:
            if do == "hello":
                answer = {"version": jax.__version__, "devices": len(jax.devices())}
            elif do == "compile":
                answer = {"seconds": compile_seconds(**question)}
            elif do == "compile chain":
                answer = {"seconds": chain_seconds(**question)}
            elif do == "compile wide":
                answer = {"seconds": wide_seconds()}
            elif do == "load":
                running = None
                running = steps.Running(**question)
                answer = {"first": running.first}
            else:
                answer = {"seconds": running.seconds(question["count"])}
        except Exception as problem:  # whatever it is, the row says it
            traceback.print_exc()
            answer = {"failed": f"{type(problem).__name__}: {problem}".split("\n")[0][:200]}
        ANSWERS.write(json.dumps(answer) + "\n")
        ANSWERS.flush()


if __name__ == "__main__":
    main()
