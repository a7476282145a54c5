"""Writes a SavedModel with a function that becomes a custom op."""

import tensorflow as tf

NAME = (
    'name: "RowStandardize" attr { key: "tfl_fusable_op" value { b: true } } attr { key: "epsilon" value { f: 0.001 } }'
)


@tf.function(experimental_implements=NAME)
def row_standardize(x):
    """Each row minus its mean, divided by its standard deviation."""
    mean = tf.reduce_mean(x, -1, keepdims=True)
    deviation = tf.sqrt(tf.reduce_mean(tf.square(x - mean), -1, keepdims=True))
    return (x - mean) / (deviation + 0.001)


class Model(tf.Module):
    def __init__(self):
        self.weights = tf.Variable(tf.random.Generator.from_seed(1).normal([16, 8]))

    @tf.function(input_signature=[tf.TensorSpec([None, 16], tf.float32, name="x")])
    def __call__(self, x):
        return {"y": row_standardize(tf.matmul(x, self.weights))}


model = Model()
tf.saved_model.save(model, "saved_model", signatures=model.__call__)
