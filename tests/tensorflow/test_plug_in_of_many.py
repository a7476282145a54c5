"""A plug-in of many fusions and recognizers, as users write them, on one model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.testing import assert_fused
from tests.tensorflow.checking import check

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow


def test_a_plug_in_of_many_fusions(tensorflow: TensorFlow) -> None:
    from tests.tensorflow.plug_in_of_many import case, model  # registers its recognizers, for this test alone

    path, cases = tensorflow.save(model), [case(2), case(3)]
    result = assert_fused(path, "many.*")
    names = [composite.name for composite in result.report.composites if composite.name.startswith("many.")]
    assert len(names) == 12
    counts = result.report.op_counts
    assert (counts["GELU"], counts["CONV_2D"], counts["STABLEHLO_COMPOSITE"], counts["FLOOR_MOD"]) == (4, 1, 2, 1)
    assert {"UNIDIRECTIONAL_SEQUENCE_LSTM", "UNIDIRECTIONAL_SEQUENCE_RNN", "NON_MAX_SUPPRESSION_V4"} <= {*counts}
    check(tensorflow, path, cases)
