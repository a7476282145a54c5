"""Writes a SavedModel with a function that becomes a custom op."""

import tensorflow as tf

NAME = 'name: "SortedGaps" attr { key: "tfl_fusable_op" value { b: true } } attr { key: "limit" value { f: 0.5 } }'


@tf.function(experimental_implements=NAME)
def sorted_gaps(scores):
    """The gaps between the sorted numbers of each row, up to a limit."""
    ordered = tf.sort(scores, axis=-1)
    return tf.minimum(ordered[:, 1:] - ordered[:, :-1], 0.5)


class Model(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None, 10], tf.float32, name="scores")])
    def __call__(self, scores):
        return {"gaps": sorted_gaps(tf.nn.softmax(scores) * 10.0)}


model = Model()
tf.saved_model.save(model, "saved_model", signatures=model.__call__)
