"""Which of many cases run: a part of them, another one in each turn, and all on request."""

from __future__ import annotations

import os
import random
import subprocess
import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import TypeVar

ALL = os.environ.get("LITEFUSE_TESTS") == "all"
"""Whether every case is to run: ``LITEFUSE_TESTS=all`` in the environment."""

VARIABLE = "LITEFUSE_TURN"
"""The environment variable with the number of the turn."""

TURNS = 10_000
"""The number of turns."""

# These convert and run a model for each case, most of which are forms and dtypes of one another.
_MATRICES = ("tests/tensorflow/", "tests/with_jax/")

SOME = {
    "tests/tools/batch_runs/test_batch.py::test_a_batch_that_is_ended_goes_on": 1,
    "tests/litert/cpp/test_other_runtimes.py::test_a_shape_that_depends_on_values": 1,
    "tests/litert/cpp/test_other_runtimes.py::test_an_op_without_a_kernel_fails_when_it_is_prepared": 1,
    "tests/litert/cpp/test_other_runtimes.py::test_scales_are_told": 1,
    "tests/litert/cpp/test_other_runtimes.py::test_temporaries_of_a_kernel_without_the_kit_last_and_are_resized": 1,
    "tests/litert/cpp/test_other_runtimes.py::test_what_does_not_fit_is_told_and_nothing_crashes": 1,
    "tests/docs/test_pages.py::test_page": 2,
    "tests/examples/test_litert_tools.py::test_benchmark_of_litert": 1,
    "tests/frontends/test_keras_files.py::test_the_commands_refuse_a_damaged_file_and_leave_nothing": 1,
    "tests/kernels/generator/test_loops_in_bodies.py::test_a_loop_of_known_length_is_written_out": 1,
    "tests/kernels/generator/test_rules.py::test_rule": 1,
    "tests/tools/scaffold/test_micro.py::test_the_application_runs": 1,
    "tests/litert/targets/test_check.py::test_empty_tensors_and_many_dimensions": 1,
    "tests/litert/targets/test_npu.py::test_empty_tensors_and_many_dimensions": 1,
    "tests/litert/targets/test_npu.py::test_the_table_lacks_what_the_plug_in_lacks": 1,
    "tests/litert/targets/test_npu.py::test_what_is_compiled_gives_the_numbers_of_the_cpu": 2,
    "tests/tools/cli/test_cli_endings.py::test_an_output_that_cannot_be_written": 1,
    "tests/test_other_locales.py::test_streams_that_lack_the_characters_of_a_name": 1,
    "tests/test_other_locales.py::test_the_commands_with_such_paths": 1,
    "tests/conversion/verify/test_quantized.py::test_good_forms_are_equal": 1,
    "tests/conversion/verify/test_quantized.py::test_spoiled_numbers": 1,
    "tests/conversion/verify/test_quantized.py::test_spoiled_weights": 1,
    "tests/tensorflow/test_language_models.py::test_the_engine_writes_what_keras_writes": 1,
    "tests/tensorflow/test_language_models.py::test_a_wrong_model_differs": 1,
    "tests/with_jax/test_language_models.py::test_the_engine_writes_what_keras_writes": 1,
}
"""How many cases run of other functions whose cases take seconds each."""

SELDOM = (
    "tests/test_readme.py::test_from_the_top_in_a_new_environment",
    "tests/examples/test_notebooks.py::test_a_notebook_runs_and_shows_results",
    "tests/tensorflow/test_keras_applications.py::test_application",
    "tests/tensorflow/test_quantized_applications.py::test_a_good_model",
    "tests/tensorflow/test_deceiving_models.py::test_an_untrained_image_classifier",
    "tests/tensorflow/test_quantized_applications.py::test_a_spoiled_model",
    "tests/tensorflow/test_kernels_against_ops.py::test_kernels_are_compared_with_the_ops_of_tensorflow",
    "tests/tensorflow/test_recognized_lstm.py::test_ways_to_write_it",
    "tests/tools/batch_runs/test_cluster.py::test_the_same_as_here",
    "tests/examples/test_litert_tools.py::test_labels_go_along",
    "tests/with_jax/test_keras.py::test_model",
    "tests/benchmarks/test_architectures.py::test_a_small_model",
    "tests/tools/scaffold/test_project.py::test_from_zeros_to_what_the_body_computes",
    "tests/examples/test_ci.py::test_the_action_converts_verifies_and_checks",
    "tests/tools/kernel_check/test_check.py::test_equal_kernels_are_equal_for_each_kind_of_call",
    "tests/litert/cpp/test_kernel_library.py::test_they_stay_within_their_memory",
    "tests/tools/kernel_check/test_check.py::test_the_sanitizer_stops_what_writes_beyond_its_memory",
    "tests/tools/batch_runs/test_batch.py::test_faults_of_models_concern_nobody_else",
    "tests/tensorflow/test_deceiving_models.py::test_a_text_classifier",
    "tests/examples/test_ci.py::test_the_hook_compares_with_the_original",
    "tests/tools/batch_runs/test_cluster_workers.py::test_workers_come_and_go",
    "tests/with_jax/test_keras.py::test_an_lstm_is_fused",
    "tests/litert/cpp/test_other_runtimes.py::test_options_constants_and_shapes_reach_the_kernel",
    "tests/tensorflow/test_generated_chains.py::test_a_chain_gets_a_kernel_beside_a_composite",
    "tests/tensorflow/test_batch.py::test_verdicts_are_outcomes",
    "tests/tensorflow/test_growing_batches.py::test_parts_that_are_prepared_in_a_call",
    "tests/tensorflow/test_lstm_fusions.py::test_keras_save",
    "tests/kernels/generator/test_generate.py::test_the_model_computes_the_same_with_the_kernels",
    "tests/with_jax/test_keras.py::test_layers_are_named",
    "tests/tensorflow/test_unrolled_loops.py::test_keyword_spotter",
    "tests/tensorflow/test_lstm_fusions.py::test_several_layers",
    "tests/tools/batch_runs/test_cluster_workers.py::test_a_client_is_killed",
    "tests/tensorflow/test_einsum.py::test_sums_of_products",
    "tests/tensorflow/test_random_graphs.py::test_gradients_of_random_graphs",
    "tests/tools/scaffold/test_quantized_kernel.py::test_a_kernel_in_cpp_reads_scales",
    "tests/with_jax/test_export.py::test_in_a_process_with_jax",
    "tests/tools/batch_runs/test_cluster_workers.py::test_a_client_that_stands_still",
    "tests/kernels/generator/test_chains.py::test_signatures_stay_and_the_kernels_compute_the_same",
    "tests/tensorflow/test_gpu_forms.py::test_transformers",
    "tests/tensorflow/test_layers.py::test_quantized",
    "tests/tensorflow/test_generated_composites.py::test_each_composite_gets_a_kernel",
    "tests/tools/batch_runs/test_cluster_workers.py::test_a_model_that_ends_its_workers",
    "tests/litert/cpp/test_headers.py::test_each_header_compiles_alone",
    "tests/tensorflow/test_batch.py::test_tensorflow_stays_warm",
    "tests/litert/runtime/test_compiled.py::test_dtypes_that_are_copied",
    "tests/examples/test_ci.py::test_the_hook_asks_for_what_it_wrote_and_then_is_content",
    "tests/tensorflow/test_lstm_fusions.py::test_the_faster_form_is_taken_unless_one_is_chosen",
    "tests/tensorflow/test_training_for_integers.py::test_files_have_the_outputs_of_the_trained_model",
    "tests/with_jax/test_training_for_integers.py::test_files_have_the_outputs_of_the_trained_model",
    "tests/tensorflow/test_loops_in_integers.py::test_the_form_for_microcontrollers",
    "tests/tensorflow/test_training_for_integers.py::test_loops_compute_in_integers",
    "tests/with_jax/test_training_for_integers.py::test_loops_compute_in_integers",
    "tests/tensorflow/test_quantized_files.py::test_int16_where_int8_is_not_enough",
    "tests/tensorflow/test_large_weights.py::test_a_language_model_in_a_file_is_in_memory_once",
    "tests/tensorflow/test_language_models.py::test_a_wrong_row_of_a_cache_differs",
    "tests/tensorflow/test_quantized_files.py::test_both_ways_are_equal",
    "tests/tensorflow/test_training_for_integers.py::test_options_and_refusals",
    "tests/tensorflow/test_integer_states.py::test_stateful_layers",
    "tests/tensorflow/test_device_models.py::test_the_arena_of_a_recurrent_model_is_measured",
    "tests/with_jax/test_attention.py::test_attention",
    "tests/with_jax/test_integer_lstms.py::test_layer",
)
"""Functions that run in one of four turns: whatever their case, they take 8 to 40 seconds on two idle cores, and all of
them together six minutes. In the order of their times, so that each turn has as much of them."""

_Case = TypeVar("_Case")


def turn() -> int:
    """Returns which part runs: the number in ``LITEFUSE_TURN``, or one that follows from the commit, else from the day.

    So a commit is always tested in the same way, and the next one in another.
    """
    if given := os.environ.get(VARIABLE):
        return int(given) % TURNS
    commit = ""
    with suppress(OSError):
        command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
        commit = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return zlib.crc32((commit.strip() or str(date.today())).encode()) % TURNS


def in_part(cases: Iterable[_Case], every: int) -> list[_Case]:
    """Returns one of so many cases, others in each turn; all with ``LITEFUSE_TESTS=all`` in the environment."""
    every_case = [*cases]
    first = random.Random(f"a part in turn {turn()}").randrange(max(min(every, len(every_case)), 1))
    return every_case if ALL else every_case[first::every]


def left_out(names: Sequence[str], number: int) -> set[str]:
    """Returns the tests that a run of all tests leaves out.

    Of tests that are matrices of cases, one case is left of each function, and of ``SOME`` others so many cases. Which
    ones is drawn for each turn, and alike for the functions of one file, whose cases may share what takes long. Only of
    functions that run ``SELDOM`` may nothing be left.

    Args:
        names: The tests' names, as pytest writes them: ``tests/folder/test_file.py::test_function[case]``.
        number: The turn, below ``TURNS``.
    """
    functions: dict[str, list[str]] = defaultdict(list)
    for name in names:
        functions[name.partition("[")[0]].append(name)
    out: set[str] = set()
    for function, cases in functions.items():
        count = 1 if function.startswith(_MATRICES) else SOME.get(function, len(cases))
        if function in SELDOM:
            count = 1 if number % 4 == SELDOM.index(function) % 4 else 0
        file = function.partition("::")[0]
        place = random.Random(f"{file} in turn {number}").random() * len(cases)
        chosen = {cases[int(place + step * len(cases) / count) % len(cases)] for step in range(count)}
        out |= {*cases} - chosen
    return out
