# pyright: reportUnknownParameterType=false, reportMissingParameterType=false
"""What authors of conversion code get wrong: each message names the file, the line, and what to do.

Each slip is a plug-in file for one composite, ``mine(x, y)`` with the attribute ``scale``, that is converted as a user
does. ``LINE`` is the line that a message is to name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from litefuse.errors import LitefuseError
from litefuse.fusions.fusion import called_formulas, called_fusions, take_formulas, take_fusions
from litefuse.fusions.recognizers.recognizer import pickle_registered
from litefuse.litert.runtime.custom_op import registered_kernels, replace_registered
from litefuse.support.plug_ins.modules import import_kernels
from litefuse.testing import became

HEAD = "import numpy as np\nimport litefuse\n"
BODY = '@litefuse.fusion("mine")\ndef mine(b, x, y, *, scale: float):\n    '
RIGHT = f"{BODY}return (x + y) * scale\n"
FORMULA = '@litefuse.recognizer("summed")\ndef summed(x, y):\n    '


def fused(line: str) -> str:
    """A function whose one line is a slip."""
    return f"{BODY}{line}  # LINE\n"


def signature(text: str) -> str:
    """A function whose signature is a slip."""
    return f'@litefuse.fusion("mine")  # LINE\ndef mine({text}):\n    return (x + y) * 2.0\n'


# The file, and parts of the message: of what is refused while the file is loaded, or when it is applied.
SLIPS: dict[str, tuple[str, tuple[str, ...]]] = {
    "a list for a value": (fused("return b.mul([x, y], scale)"), ("a tensor of the model has no elements",)),
    "a value for a list": (
        fused('return b.custom("Mine", x, [x.type], {})'),
        ("operands are <Tensor", "such as [x, y]"),
    ),
    "a value for a type": (fused('return b.custom("Mine", [x], [x], {})'), ("result types are", "such as [x.type]")),
    "a list for options": (fused('return b.custom("Mine", [x], [x.type], ["scale"])'), ("pass a mapping, or bytes",)),
    "too many results": (f"{RIGHT.replace('return ', 'return x, ')}", ("has 2 results, the composite 1", "see mine (")),
    "another rank": (
        RIGHT.replace("(x + y) * scale", "b.reshape(x + y, [-1])"),
        ("result 0 of the replacement is float32[?], the composite's float32[?,4]", "see mine ("),
    ),
    "another dtype": (RIGHT.replace("* scale", "> 0"), ("is bool[?,4], the composite's float32[?,4]", "see mine (")),
    "no return": (RIGHT.replace("return ", ""), ("mine returned None: return the results", "see mine (")),
    "a number returned": (RIGHT.replace("(x + y) * scale", "1.0"), ("mine returned 1.0", "b.constant", "mine (")),
    "a comparison returned": (RIGHT.replace("(x + y) * scale", "x == y"), ("mine returned False", "b.equal")),
    "a typo in a name": (fused("return (x + y) * sclae"), ("NameError: name 'sclae' is not defined",)),
    "a typo in a builder": (fused("return b.mull(x, y)"), ("the builder has no 'mull'; did you mean b.mul?",)),
    "a builder of TensorFlow": (fused("return b.ADD(x, y)"), ("the builder has no 'ADD'; did you mean b.add?",)),
    "TensorFlow's name": (fused("return b.sigmoid(x)"), ("no 'sigmoid'; did you mean b.logistic?",)),
    "numpy's name": (fused("return b.matmul(x, y)"), ("no 'matmul'; did you mean b.batch_matmul?",)),
    "an attribute for an operand": (
        fused('return b.cast(x, "int32")'),
        ("CAST(x, *, to='float32') does not take 2 operands", "Attributes go by name"),
    ),
    "options for result types": (
        fused('return b.custom("Mine", [x], {"scale": scale})'),
        ("result types are {'scale': 2.0}", "options by name"),
    ),
    "strides of all axes": (
        fused("return b.conv_2d(x, y, strides=[1, 2, 2, 1])"),
        ("strides are [1, 2, 2, 1]", "two, of rows and of columns"),
    ),
    "a typo in a builtin": (fused('return b.builtin("ADDD", x, y)[0]'), ("did you mean 'ADD'?",)),
    "a typo in an attribute": (
        fused("return b.mul(x, y, activation='RELU')"),
        ("it has ['fused_activation_function']",),
    ),
    "another value of one": (
        fused("return b.mul(x, y, fused_activation_function='relu')"),
        ("is 'relu', not NONE or RELU",),
    ),
    "an attribute of another name": (
        signature("b, x, y, *, scael: float"),
        ("'scale' is unknown; those of mine are scael",),
    ),
    "an attribute of another type": (signature("b, x, y, *, scale: int"), ("'scale' is 2.0, not int",)),
    "an attribute by position": (signature("b, x, y, scale"), ("'scale' is an attribute: put * before it",)),
    "no builder": (signature("x, y, *, scale"), ("the first parameter, 'x', is the builder",)),
    "no arguments": (
        '@litefuse.fusion("mine")  # LINE\ndef mine(): ...\n',
        ("takes the builder first", "Write def f(b"),
    ),
    "a typo in a dtype": (signature('b, x: "flaot32", y, *, scale'), ("Did you mean float32?",)),
    "another dtype than asked for": (signature('b, x: "float16", y, *, scale'), ("x is float32[?,4], not float16",)),
    "a name registered twice": (
        f'{RIGHT}@litefuse.fusion("mine")  # LINE\ndef other(b, x, y): ...\n',
        ("mine is registered for 'mine' already", "Pass replace=True"),
    ),
    "a typo in the name": (
        RIGHT.replace('"mine"', '"mien"'),
        ("no fusion is registered for 'mine'; mine (", "for 'mien'"),
    ),
    "what cannot be pickled": (
        f"import threading\nlock = threading.Lock()\n\n{BODY}with lock:\n        return x\n",
        ("cannot be sent to the process that converts", "in_process=True"),
    ),
    "no parentheses": ("@litefuse.fusion  # LINE\ndef mine(b, x, y): ...\n", ('Write @litefuse.fusion("name").',)),
    "no name": ("@litefuse.fusion()  # LINE\ndef mine(b, x, y): ...\n", ('Write @litefuse.fusion("name").',)),
    "a class that is no Fusion": (
        '@litefuse.fusion("mine")  # LINE\nclass Mine: ...\n',
        ("neither a function nor a subclass of litefuse.Fusion", "class C(litefuse.Fusion)"),
    ),
    "no rewrite": (
        '@litefuse.fusion("mine")  # LINE\nclass Mine(litefuse.Fusion): ...\n',
        ("Mine has no method rewrite", "Write rewrite(self, composite, b)"),
    ),
    "a typo in an option": (
        RIGHT.replace('"mine")', '"mine", tolerence=1.0)  # LINE'),
        ("no option 'tolerence'", "It has check_inputs"),
    ),
    "an option of another type": (
        RIGHT.replace('"mine")', '"mine", tolerance="1e-3")  # LINE'),
        ("tolerance is '1e-3', not int or float",),
    ),
    "a float64 constant": (fused("return b.mul(x, b.constant(np.array(2.0)))"), ("float32 and float64", "b.cast")),
    "a shape for a tensor": (fused("return b.add(x.shape, y)"), ("an operand is (None, 4)", "Pass a tensor")),
    "shapes that do not fit": (fused("return x + [1.0, 2.0]"), ("[?,4] and [2] cannot be broadcast",)),
    "an if of a value": (fused("return x if x > 0 else y"), ("neither true nor false", "Build ops with")),
    "a loop over a value": (fused("return sum(row for row in x)"), ("not iterable", "Build ops with")),
    "a length": (fused("return x * len(x)"), ("has no len()", "Build ops with")),
    "a number of a value": (fused("return b.reshape(x, [int(y)])"), ("int() argument", "Build ops with")),
    "an index": (fused("return x[:, :2]"), ("not subscriptable", "b.slice(x, begin, size)")),
    "an element set": (fused("x[0] = y"), ("does not support item assignment", "Build ops with")),
    "a function of numpy": (fused("return np.exp(x)"), ("does not support ufuncs", "b.exp(x)")),
    "an array of numpy": (fused("return np.asarray(x)"), ("has no elements at conversion", "Build ops with")),
    "a method of numpy": (fused("return x.sum()"), ("no attribute 'sum'", "Build ops with")),
    "an exception": (fused("raise KeyError('oh')"), ("KeyError: 'oh'",)),
    "a formula that returns nothing": (f"{FORMULA}x + y\n", ("summed (", "gives None", "Return what it computes")),
    "a formula with an if": (f"{FORMULA}return x if x > 0 else y  # LINE\n", ("'>' not supported", "Formulas have")),
    "a formula of numpy": (f"{FORMULA}return np.exp(x + y)  # LINE\n", ("does not support ufuncs", "Formulas have")),
    "an array in a formula": (f"{FORMULA}return x + y + np.ones(3)  # LINE\n", ("make it a parameter",)),
    "a parameter that is not used": (f"{FORMULA}return x * 2.0\n", ("summed (", "not use its parameter 'y'")),
    "a recognizer without a name": (
        "@litefuse.recognizer()  # LINE\ndef f(x): ...\n",
        ("Write @litefuse.recognizer(",),
    ),
    "a kernel without a name": (
        "@litefuse.custom_op  # LINE\nclass K(litefuse.CustomOp): ...\n",
        ("Write @custom_op(",),
    ),
    "a kernel that is no CustomOp": (
        '@litefuse.custom_op("K")  # LINE\nclass K: ...\n',
        ("not a subclass of CustomOp",),
    ),
    "an import that is missing": ("import no_such_module  # LINE\n", ("No module named 'no_such_module'",)),
    "what is no Python": ("def mine(b, x y):\n", ("SyntaxError", "line 3")),
}


@pytest.fixture(autouse=True)
def nothing_else() -> Iterator[None]:
    """Forgets what a test registers."""
    before = dict(called_fusions()), dict(called_formulas()), registered_kernels()
    yield
    take_fusions(before[0])
    take_formulas(before[1])
    replace_registered(before[2])


def answer(path: Path) -> str:
    """What a user sees of a plug-in."""
    try:
        import_kernels([str(path)])
        pickle_registered()
        if called_formulas():
            from litefuse.fusions.recognizers.formulas import formula_search
            from litefuse.fusions.recognizers.recognizer import registered_recognizers

            formula_search(registered_recognizers()[0])
        return became("mine", "float32[?,4] float32[4]", "float32[?,4]", {"scale": 2.0}).reason or "fused"
    except LitefuseError as error:
        return str(error)


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_answered_with_file_line_and_remedy(tmp_path: Path, slip: str) -> None:
    code, parts = SLIPS[slip]
    path = tmp_path / "plug_in.py"
    path.write_text(HEAD + code)
    text = answer(path)
    assert [part for part in parts if part not in text] == [], text
    assert "plug_in.py" in text
    assert re.search(r"plug_in\.py(:|, line )\d|line 3", text), text
    marked = [number for number, line in enumerate((HEAD + code).splitlines(), start=1) if line.endswith("# LINE")]
    assert [line for line in marked if not re.search(rf"plug_in\.py(:|, line ){line}\b", text)] == [], text


def test_what_is_right_is_fused(tmp_path: Path) -> None:
    path = tmp_path / "plug_in.py"
    for line in (
        "return (x + y) * scale",
        "return b.mul(x + y, np.float64(2.0))",
        "return b.mul(x + y, np.array(2.0))",
        "return b.reshape((x + y) * scale, x.shape)",
        "return b.reshape((x + y) * scale, b.shape(x))",
        'return b.custom("Mine", [x, y], options={"scale": scale})',
        'return b.custom("Mine", [x, y])',
    ):
        path.write_text(HEAD + BODY.replace('"mine"', '"mine", replace=True') + line)
        assert answer(path) == "fused"
