"""Frontends: the sources that ``convert()`` takes besides the folder of a SavedModel.

Each kind of source has a module that recognizes it and writes it as a temporary SavedModel, which is then converted
like any other. TensorFlow and Keras are never imported here: if the user passes one of their objects, they are loaded
already, and a Keras file is read in a separate process.

``source``       the class of all sources
``source_of``    finds the source for an object or a path
``saved_model_folder``  folders: a SavedModel, or one with a SavedModel in it
``pretrained``   what to do with the folders of transformers, which have weights and no graph
``tensorflow_packages``  which packages have TensorFlow, and which overwrite each other
``keras_model``  Keras models, of Keras 3 and of Keras 2 (tf_keras)
``keras_file``   ``.keras`` and ``.h5`` files; their process runs ``keras_loader``, after ``keras_archive`` and
                 ``keras_hdf5`` have checked the file, and ``keras_config`` and ``keras_functions`` its configuration
``function``     ``tf.function`` and concrete functions
``signature``    names of the inputs and outputs of concrete functions
``module``       ``tf.Module`` and other objects with such functions
``keras_on_jax`` Keras models on the JAX backend
``jax_export``   exported JAX functions
``writer``       writes concrete functions as a SavedModel
"""
