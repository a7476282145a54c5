"""Where models come from: what ``convert()`` takes beside the folder of a SavedModel.

Each kind of source has a module that recognizes it and writes it as a temporary SavedModel, from which the conversion
goes on as from any other. TensorFlow and Keras are never imported here: an object of theirs brings them along, and a
file of Keras's is read in a process of its own.

``source``       the class of all sources
``source_of``    finds the source for an object or a path
``keras_model``  Keras models, of Keras 3 and of Keras 2 (tf_keras)
``keras_file``   ``.keras`` and ``.h5`` files; ``keras_loader`` is what their process runs, after ``keras_archive`` and
                 ``keras_hdf5`` have looked at the file, and ``keras_config`` and ``keras_functions`` at what it names
``function``     ``tf.function`` and concrete functions
``module``       ``tf.Module`` and other objects with such functions
``keras_on_jax`` Keras models on the backend JAX
``jax_export``   exported functions of JAX
``writer``       writes concrete functions as a SavedModel
"""

from litefuse.frontends.source import Source
from litefuse.frontends.source_of import source_of

__all__ = ["Source", "source_of"]
