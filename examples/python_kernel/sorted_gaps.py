"""The kernel of SortedGaps."""

import numpy as np

import litefuse


@litefuse.custom_op("SortedGaps")
class SortedGaps(litefuse.CustomOp):
    """The gaps between the sorted numbers of each row, up to a limit."""

    def prepare(self, scores):
        rows, size = scores.shape
        return litefuse.TensorSpec((rows, size - 1), scores.dtype)

    def invoke(self, inputs, outputs, *, limit):
        np.minimum(np.diff(np.sort(inputs[0])), limit, out=outputs[0])
