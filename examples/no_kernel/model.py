"""Writes a SavedModel with a function that is to be one op."""

import tensorflow as tf


@tf.function(experimental_implements="GroupNormSilu")
def group_norm_silu(images, scale, offset):
    """Normalizes the channels in 8 groups, then applies x * sigmoid(x)."""
    shape = tf.shape(images)
    grouped = tf.reshape(images, [shape[0], shape[1], shape[2], 8, 8])
    mean, variance = tf.nn.moments(grouped, [1, 2, 4], keepdims=True)
    grouped = (grouped - mean) * tf.math.rsqrt(variance + 1e-5)
    normal = tf.reshape(grouped, shape) * scale + offset
    return normal * tf.sigmoid(normal)


class Model(tf.Module):
    def __init__(self):
        generator = tf.random.Generator.from_seed(1)
        self.scale = tf.Variable(generator.uniform([64], 0.5, 1.5))
        self.offset = tf.Variable(generator.normal([64]))

    @tf.function(input_signature=[tf.TensorSpec([None, 32, 32, 64], tf.float32, name="images")])
    def __call__(self, images):
        return {"features": group_norm_silu(images, self.scale, self.offset)}


model = Model()
tf.saved_model.save(model, "saved_model", signatures=model.__call__)
