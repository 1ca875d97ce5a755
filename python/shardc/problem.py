"""What a user can put right, with the codes, the form and the exit codes of the program (`shardc explain E0602`)."""

import re
import sys


class Problem(Exception):
    """Why something was refused. `diagnostics`: each a dict with code, severity, message, help and, where the program
    knows it, source, as `shardc check --format json` has them."""

    def __init__(self, code, message, help="", exit_code=2):
        self.diagnostics = [{"code": code, "severity": "error", "message": message, "help": help}]
        self.exit_code = exit_code
        super().__init__(text_of("error", code, message, help))

    @classmethod
    def said(cls, text, exit_code, diagnostics=()):
        """What the program printed."""
        first = re.search(r"^error\[(\w+)\]: (.*)", text, re.M)
        problem = cls(*first.groups() if first else ("", text), exit_code=exit_code)
        problem.diagnostics = list(diagnostics) or problem.diagnostics
        problem.args = (text,)
        return problem


def text_of(severity, code, message, help=""):
    """As the program prints it."""
    return f"{severity}[{code}]: {message}\n" + (f"  = help: {help}\n" if help else "")


def warn(code, message, help=""):
    sys.stderr.write(text_of("warning", code, message, help) + "\n")
