# pyright: reportUnknownLambdaType=false
"""Variables: read-only ones become constants, written ones keep their state from call to call, as in TensorFlow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import ConversionError, UnsupportedOpsError
from litefuse.litert.inspection.saved_model_facts import InspectionJob, SavedModelFacts
from litefuse.support.processes.process import run_in_worker
from tests.tensorflow.checking import check, check_calls, normal, op_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.tensorflow.process import Call, TensorFlow

VARIABLE_OPS = frozenset({"VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "CALL_ONCE"})
VECTOR = normal({"x": (4,)}, batches=(1, 3, 1))


def verdicts(result: litefuse.ConversionResult) -> dict[str, str]:
    return {variable.name: variable.verdict for variable in result.report.variables}


def counter(tf: Any, start: float) -> Any:
    module = tf.Module()
    module.count = tf.Variable(start, name="count")

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        module.count.assign_add(tf.reduce_sum(x))
        return {"y": x + module.count}

    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize("start", [0.0, 5.0])
def test_counter_starts_from_the_checkpoint_and_keeps_counting(tensorflow: TensorFlow, start: float) -> None:
    result = check(tensorflow, tensorflow.save(counter, start), normal({"x": (None, 2)}), repeat=3)
    assert list(verdicts(result).values()) == ["mutable"]
    assert op_counts(result.model_bytes)["CALL_ONCE"] == 1


def scaled(tf: Any) -> Any:
    module = tf.Module()
    module.scale, module.shift = tf.Variable(2.5, name="scale"), tf.Variable([1.0, 2.0], name="shift")

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        return {"y": x * module.scale + module.shift}

    module.serve = serve
    return module, {"serving_default": serve}


def test_inspection_of_a_variable_without_dimensions(tensorflow: TensorFlow) -> None:
    job = InspectionJob(tensorflow.save(scaled))
    facts: SavedModelFacts = run_in_worker("litefuse.tools.saved_models.inspection:inspect_model", job)
    assert facts.problem is None
    assert {(each.name, each.shape, each.verdict) for each in facts.variables} == {
        ("scale", (), "frozen"),
        ("shift", (2,), "frozen"),
    }


def test_every_interpreter_starts_anew(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(counter, 5.0)
    for _ in range(2):
        check(tensorflow, path, normal({"x": (None, 2)}, batches=(1,)))


def called_between(tf: Any, order: str) -> Any:
    """Assigns a variable (``a`` in the order) and calls a function that reads and assigns it (``i``)."""
    module = tf.Module()
    module.v = tf.Variable([1.0, 2.0])

    @tf.function
    def inner(x: Any) -> Any:
        module.v.assign_add(x)
        return module.v * 10.0

    @tf.function(input_signature=[tf.TensorSpec([2], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        results: dict[str, Any] = {}
        for number, letter in enumerate(order):
            if letter == "i":
                results[f"y{number}"] = inner(x * float(number + 1))
            else:
                module.v.assign(x * float(number + 2))
        return results

    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize("order", ["aia", "iai", "aiia", "aiaia"])
def test_variables_that_called_functions_assign(tensorflow: TensorFlow, order: str) -> None:
    result = check(tensorflow, tensorflow.save(called_between, order), normal({"x": (2,)}), repeat=2)
    assert op_counts(result.model_bytes)["VAR_HANDLE"] == 2  # one for the signature, one for the first value


def dense(tf: Any) -> Any:
    random = np.random.default_rng(1)
    module = tf.Module()
    module.kernel = tf.Variable(random.standard_normal([4, 5]).astype(np.float32), name="kernel")
    module.bias = tf.Variable(random.standard_normal([5]).astype(np.float32), name="bias", trainable=False)
    module.unused = tf.Variable([1.0, 2.0], name="unused")

    @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        return {"y": tf.nn.relu(tf.matmul(x, module.kernel) + module.bias)}

    module.serve = serve
    return module, {"serving_default": serve}


def test_read_only_variables_are_frozen(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(dense), normal({"x": (None, 4)}))
    assert not VARIABLE_OPS & op_counts(result.model_bytes).keys()
    assert set(verdicts(result).values()) == {"frozen"}


def two_signatures(tf: Any) -> Any:
    module = tf.Module()
    module.total = tf.Variable([1.0, 2.0, 3.0, 4.0], name="total")
    spec = [tf.TensorSpec([4], tf.float32, name="x")]

    @tf.function(input_signature=spec)
    def add(x: Any) -> Any:
        module.total.assign_add(x)
        return {"doubled": x + x}

    @tf.function(input_signature=spec)
    def get(x: Any) -> Any:
        return {"y": x * module.total}

    module.add, module.get = add, get
    return module, {"add": add, "get": get}


def test_signatures_share_state(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(3)
    calls: Sequence[Call] = [
        (name, {"x": random.standard_normal(4).astype(np.float32)})
        for name in ["get", "add", "get", "add", "add", "get", "get"]
    ]
    result = check_calls(tensorflow, tensorflow.save(two_signatures), calls)
    assert list(verdicts(result).values()) == ["mutable"]


def test_variable_is_frozen_when_its_writer_is_left_out(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(two_signatures), VECTOR, signature="get", signatures=["get"])
    assert list(verdicts(result).values()) == ["frozen"]
    assert not VARIABLE_OPS & op_counts(result.model_bytes).keys()


def test_report_names_the_writer(tensorflow: TensorFlow) -> None:
    (variable,) = litefuse.convert(tensorflow.save(two_signatures)).report.variables
    assert variable.verdict == "mutable"
    assert "AssignAdd" in f"{variable}"


def written_in_while(tf: Any) -> Any:
    module = tf.Module()
    module.steps = tf.Variable(0.5, name="steps")

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32, name="n"), tf.TensorSpec([4], tf.float32, name="x")])
    def serve(n: Any, x: Any) -> Any:
        for step in tf.range(n):
            module.steps.assign_add(tf.cast(step, tf.float32) + tf.reduce_sum(x))
            x = x * module.steps
        return {"x": x, "steps": module.steps.read_value()}

    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize("n", [0, 1, 3])
def test_variable_written_in_a_while_body(tensorflow: TensorFlow, n: int) -> None:
    x = np.array([0.25, -0.5, 0.75, 0.125], np.float32)
    result = check(tensorflow, tensorflow.save(written_in_while), {"n": np.array(n, np.int32), "x": x})
    assert op_counts(result.model_bytes)["WHILE"] == 1


def written_in_branch(tf: Any) -> Any:
    module = tf.Module()
    module.above = tf.Variable(0.0, name="above")
    module.limit = tf.Variable(0.25, name="limit")

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        if tf.reduce_mean(x) > module.limit:
            module.above.assign_add(1.0)
            y = x * 2.0
        else:
            y = x - module.above
        return {"y": y, "above": module.above.read_value()}

    module.serve = serve
    return module, {"serving_default": serve}


def test_variable_written_in_a_branch(tensorflow: TensorFlow) -> None:
    inputs = [{"x": np.full([batch, 2], value, np.float32)} for batch, value in [(1, 1.0), (3, -1.0), (1, 0.5), (2, 0)]]
    result = check(tensorflow, tensorflow.save(written_in_branch), inputs)
    assert sorted(verdicts(result).values()) == ["frozen", "mutable"]
    assert op_counts(result.model_bytes)["IF"] == 1


def passed_through_functions(tf: Any) -> Any:
    module = tf.Module()
    module.scale = tf.Variable([2.0, 3.0], name="scale")
    module.count = tf.Variable([0.0, 10.0], name="count")

    @tf.function
    def multiply(variable: Any, x: Any) -> Any:
        return variable * x

    @tf.function
    def advance(variable: Any, amount: Any) -> Any:
        variable.assign_add(multiply(module.scale, amount))
        return variable.read_value()

    @tf.function(input_signature=[tf.TensorSpec([2], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        first = advance(module.count, x)
        return {"first": first, "second": advance(module.count, tf.ones([2])), "read": multiply(module.count, x)}

    module.serve = serve
    return module, {"serving_default": serve}


def test_variables_passed_through_nested_functions(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(passed_through_functions), normal({"x": (2,)}, batches=(1, 1)))
    assert sorted(verdicts(result).values()) == ["frozen", "mutable"]


def same_function_two_variables(tf: Any) -> Any:
    """One function body, called with different variables: one read-only, the other written by the same function."""
    module = tf.Module()
    module.a = tf.Variable([1.0, 2.0], name="a")
    module.b = tf.Variable([3.0, 4.0], name="b")

    @tf.function
    def move(source: Any, target: Any) -> Any:
        target.assign(target + source)
        return tf.reduce_sum(target)

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        return {"y": x + move(module.a, module.b), "z": x * move(module.b, module.a), "a": module.a + 0.0}

    module.serve = serve
    return module, {"serving_default": serve}


def test_one_function_with_two_variables_in_turn(tensorflow: TensorFlow) -> None:
    check(tensorflow, tensorflow.save(same_function_two_variables), {"x": np.array(0.5, np.float32)}, repeat=3)


def typed(tf: Any, dtype: str) -> Any:
    module = tf.Module()
    start = tf.constant([True, False, True]) if dtype == "bool" else tf.cast([1, 2, 3], dtype)
    module.state = tf.Variable(start, name="state")

    @tf.function(input_signature=[tf.TensorSpec([3], dtype, name="x")])
    def serve(x: Any) -> Any:
        old = module.state.read_value()
        module.state.assign(x)
        return {"old": old}

    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint8", "int32", "int64", "bool"])
def test_variable_of_dtype(tensorflow: TensorFlow, dtype: str) -> None:
    inputs = [{"x": np.array(x).astype(dtype)} for x in ([5, 0, 7], [0, 1, 100])]
    result = check(tensorflow, tensorflow.save(typed, dtype), inputs)
    assert list(verdicts(result).values()) == ["mutable"]


@pytest.mark.parametrize("dtype", ["float16", "int16"])
def test_variable_of_dtype_that_the_runtime_has_no_variables_of(tensorflow: TensorFlow, dtype: str) -> None:
    with pytest.raises(ConversionError, match=rf"(?i){dtype}"):
        litefuse.convert(tensorflow.save(typed, dtype))


def frozen_typed(tf: Any, dtype: str) -> Any:
    module = tf.Module()
    start = tf.constant([True, False, True]) if dtype == "bool" else tf.cast([1, 2, 3], dtype)
    module.state = tf.Variable(start, name="state")

    @tf.function(input_signature=[tf.TensorSpec([None], dtype, name="x")])
    def serve(x: Any) -> Any:
        return {"both": tf.concat([module.state, x], 0)}

    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64", "bool"])
def test_frozen_variable_of_dtype(tensorflow: TensorFlow, dtype: str) -> None:
    inputs = [{"x": np.array(x).astype(dtype)} for x in ([5], [0, 1, 100])]
    result = check(tensorflow, tensorflow.save(frozen_typed, dtype), inputs)
    assert list(verdicts(result).values()) == ["frozen"]


def ordered(tf: Any, order: str) -> Any:
    module = tf.Module()
    module.state = tf.Variable([1.0, 2.0, 3.0, 4.0], name="state")

    @tf.function(input_signature=[tf.TensorSpec([4], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        state = module.state
        if order == "read before write":
            old = state.read_value()
            state.assign(x)
            return {"y": old * 2.0}
        if order == "write before read":
            state.assign(x * 3.0)
            return {"y": state.read_value() + 1.0}
        if order == "read between writes":
            first = state.read_value()
            state.assign(first + x)
            second = state.read_value()
            state.assign(second * 0.5)
            third = state.read_value()
            state.assign_sub(x)
            return {"first": first, "second": second, "third": third, "fourth": state.read_value()}
        if order == "write twice":
            state.assign(x)
            state.assign(x * 2.0)
            return {"y": state + 0.0}
        if order == "value of the assignment":
            return {"y": state.assign_add(x) * 2.0, "z": state.assign_sub(x * 0.5)}
        assert order == "write after the result"
        y = x * state
        state.assign(tf.nn.relu(y))
        return {"y": y}

    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize(
    "order",
    [
        "read before write",
        "write before read",
        "read between writes",
        "write twice",
        "value of the assignment",
        "write after the result",
    ],
)
def test_order_of_reads_and_writes(tensorflow: TensorFlow, order: str) -> None:
    check(tensorflow, tensorflow.save(ordered, order), VECTOR)


def taken_twice(tf: Any, kind: str) -> Any:
    module = tf.Module()
    module.state = tf.Variable(np.random.default_rng(3).standard_normal(4).astype(np.float32))

    @tf.function(input_signature=[tf.TensorSpec([4], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        state = module.state.read_value()
        module.state.assign(x)
        if kind == "norm":
            return {"y": tf.norm(state), "z": tf.norm(module.state)}
        if kind == "concatenation":
            return {"y": tf.concat([state, x, state, state], 0)}
        assert kind == "branch"
        y, z = tf.cond(x[0] > 0.0, lambda: (state, state), lambda: (x, state + state))
        return {"y": y, "z": z}

    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize("kind", ["norm", "concatenation", "branch"])
def test_op_that_takes_what_was_read_twice(tensorflow: TensorFlow, kind: str) -> None:
    """XNNPACK ends the process, or fails, unless each operand has a read of its own."""
    check(tensorflow, tensorflow.save(taken_twice, kind), normal({"x": (4,)}))


def table(tf: Any, written: bool) -> Any:
    module = tf.Module()
    module.table = tf.Variable(np.arange(12, dtype=np.float32).reshape(4, 3), name="table")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32, name="ids")])
    def serve(ids: Any) -> Any:
        rows = tf.gather(module.table, ids)
        if written:
            module.table.assign(module.table + 1.0)
        return {"rows": rows, "again": tf.gather(module.table, ids), "shape": tf.shape(module.table)}

    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize("written", [False, True])
def test_gather_from_a_variable(tensorflow: TensorFlow, written: bool) -> None:
    inputs = [{"ids": np.array(ids, np.int32)} for ids in ([3], [0, 2, 2])]
    result = check(tensorflow, tensorflow.save(table, written), inputs)
    assert list(verdicts(result).values()) == ["mutable" if written else "frozen"]


def state_of_growing_shape(tf: Any, rows: int) -> Any:
    module = tf.Module()
    module.seen = tf.Variable(np.ones([rows, 2], np.float32), shape=[None, 2], name="seen")

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        module.seen.assign(tf.concat([module.seen, x], 0))
        return {"seen": module.seen.read_value()}

    module.serve = serve
    return module, {"serving_default": serve}


def test_variable_whose_shape_changes_is_refused(tensorflow: TensorFlow) -> None:
    # The runtime reads it with the shape it has when tensors are allocated: beyond the end of its memory.
    with pytest.raises(ConversionError, match=r"(?s)seen.*shape"):
        litefuse.convert(tensorflow.save(state_of_growing_shape, 1))


def test_variable_that_starts_empty_is_refused(tensorflow: TensorFlow) -> None:
    with pytest.raises(ConversionError, match=r"(?s)seen.*shape"):
        litefuse.convert(tensorflow.save(state_of_growing_shape, 0))


def initialize_variables(tf: Any, written: bool) -> Any:
    module = tf.Module()
    module.count = tf.Variable(3, name="count")

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32, name="x")])
    def serve(x: Any) -> Any:
        return {"y": module.count.assign_add(x) if written else module.count + x}

    module.serve = serve
    return module, {"initialize_variables": serve}


@pytest.mark.parametrize("written", [False, True])
def test_signature_with_the_name_of_the_initializer(tensorflow: TensorFlow, written: bool) -> None:
    path = tensorflow.save(initialize_variables, written)
    check(tensorflow, path, {"x": np.array(2, np.int32)}, signature="initialize_variables")


def parts_assigned(tf: Any) -> Any:
    """Assignments to parts of variables: boxes, steps, positions that the model computes."""
    module = tf.Module()
    start = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)
    module.table = tf.Variable(start, name="table")
    module.counts = tf.Variable(np.arange(6).reshape(3, 2), dtype=tf.int64, name="counts")
    module.low, module.high = tf.Variable(start, name="low"), tf.Variable(start, name="high")

    @tf.function(
        input_signature=[
            tf.TensorSpec([3], tf.float32, name="row"),
            tf.TensorSpec([], tf.int32, name="at"),
            tf.TensorSpec([2, 3], tf.float32, name="rows"),
        ]
    )
    def serve(row: Any, at: Any, rows: Any) -> Any:
        table, counts = module.table, module.counts
        table[at].assign(row)
        table[-1, :2].assign([5.0, 6.0])
        table[:, 1].assign(row[0])
        before = table.read_value()
        table[::2].assign(rows)
        table[at:, tf.newaxis, 2].assign(row[1:2])
        counts[at, 1].assign(7)
        counts[:, ::-1].assign(counts[:, ::-1] + 1)
        slices = tf.IndexedSlices(rows, tf.stack([at, 3]))
        module.low.scatter_min(slices)
        module.high.scatter_max(slices)
        return {
            "before": before,
            "table": table.read_value(),
            "counts": counts.read_value(),
            "low": module.low.read_value(),
            "high": module.high.read_value(),
        }

    module.serve = serve
    return module, {"serving_default": serve}


def test_assignments_to_parts_of_variables(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(1)
    calls: list[Call] = []
    for at in (0, 2, 2, 1):
        row, rows = (random.standard_normal(shape).astype(np.float32) for shape in ((3,), (2, 3)))
        calls.append(("serving_default", {"row": row, "at": np.asarray(at, np.int32), "rows": rows}))
    check_calls(tensorflow, tensorflow.save(parts_assigned), calls, rtol=0.0)


def quotient_of_rows(tf: Any) -> Any:
    module = tf.Module()
    module.row = tf.Variable(np.ones(4, np.float32), name="row")

    @tf.function(input_signature=[tf.TensorSpec([1], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        module.row.scatter_div(tf.IndexedSlices(x, tf.constant([1])))
        return {"row": module.row.read_value()}

    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize("allow", [False, True])
def test_op_on_a_variable_never_becomes_a_custom_op(tensorflow: TensorFlow, allow: bool) -> None:
    path = tensorflow.save(quotient_of_rows)
    with pytest.raises(UnsupportedOpsError) as caught:
        litefuse.convert(path, allow_custom_ops=allow)
    assert [op.op for op in caught.value.ops] == ["ResourceScatterDiv"]
    assert caught.value.hint == "ResourceScatterDiv cannot be custom ops: write the model without them."
