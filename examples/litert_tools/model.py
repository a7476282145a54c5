"""Trains two small models and saves them: one that tells colours in images, and one that tells praise in texts."""

from pathlib import Path

import keras
import numpy as np

keras.utils.set_random_seed(0)
random = np.random.default_rng(0)

# Images of one colour with noise, in the range that MediaPipe will give the model: from -1 to 1.
colours = random.integers(0, 3, 300)
images = random.uniform(-1, 0.2, (300, 64, 64, 3)).astype(np.float32)
images[np.arange(300), ..., colours] += 0.8
image = keras.Input((64, 64, 3), name="image")
x = image
for filters in (16, 32, 64):
    x = keras.layers.Conv2D(filters, 3, strides=2, padding="same", activation="relu")(x)
x = keras.layers.GlobalAveragePooling2D()(x)
classifier = keras.Model(image, keras.layers.Dense(3, activation="softmax")(x))
classifier.compile("adam", "sparse_categorical_crossentropy")
classifier.fit(images, colours, batch_size=20, epochs=4, verbose=0)
classifier.export("colours", verbose=False)
np.savez("samples.npz", image=images[:20])
np.save("red.npy", images[colours == 0][:1])

# Texts of words, of which some praise and others do not.
words = ["<PAD>", "<START>", "<UNKNOWN>", "good", "great", "fine", "bad", "poor", "awful", "film", "food", "the", "is"]
Path("words.txt").write_text("".join(f"{word} {number}\n" for number, word in enumerate(words)))
texts = random.integers(9, len(words), (400, 16)).astype(np.int32)
praise = random.integers(0, 2, 400)
texts[np.arange(400), random.integers(1, 16, 400)] = np.where(praise, 3, 6) + random.integers(0, 3, 400)
texts[:, 0] = 1
ids = keras.Input((16,), batch_size=1, dtype="int32", name="ids")
x = keras.layers.LSTM(16)(keras.layers.Embedding(len(words), 8)(ids))
judge = keras.Model(ids, keras.layers.Dense(2, activation="softmax")(x))
judge.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy")
judge.fit(texts, praise, batch_size=20, epochs=8, verbose=0)
judge.export("praise", verbose=False)
