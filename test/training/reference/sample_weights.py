"""Prints the numbers that FitOutputsTest.cpp has for weights of the examples of each output.

    venv/bin/python test/training/reference/sample_weights.py

The environment is that of layers.py.
"""
import os

os.environ["KERAS_BACKEND"] = "jax"
import keras
import numpy as np
from keras import layers


def made():
    x = keras.Input((2,))
    model = keras.Model(x, {
        "score": layers.Dense(1, kernel_initializer="ones", name="score")(x),
        "kind": layers.Dense(2, kernel_initializer=keras.initializers.Constant(0.5), name="kind")(x)})
    model.compile(keras.optimizers.SGD(0.1), loss={"score": "mse", "kind": "mse"}, loss_weights={"score": 1.0, "kind": 0.5},
                  metrics={"score": ["mae"]}, weighted_metrics={"score": ["mse"], "kind": ["mae"]})
    return model


x = np.array([[1, 2], [3, 4], [-1, 1], [2, 0]], "float32")
y = {"score": np.array([[1], [2], [3], [4]], "float32"),
     "kind": np.array([[1, 0], [0, 1], [1, 1], [0, 0]], "float32")}
a, b = np.array([1, 2, 0, 3], "float32"), np.array([0.5, 0, 4, 1], "float32")
weights = {"score": a, "kind": b}


def line(name, logs):
    numbers = ", ".join("%.7g" % logs[n] for n in ("loss", "score_loss", "kind_loss", "score_mae", "score_mse", "kind_mae"))
    print(name, "{" + numbers + "}")


print("Keras", keras.__version__)
line("each", made().evaluate(x, y, sample_weight=weights, verbose=0, return_dict=True))
line("all", made().evaluate(x, y, sample_weight=a, verbose=0, return_dict=True))
line("ones", made().evaluate(x, y, sample_weight={"score": np.ones(4, "float32"), "kind": b}, verbose=0, return_dict=True))
model = made()
for _ in range(2):
    line("step", model.train_on_batch(x, y, sample_weight=weights, return_dict=True))
for name in ("score", "kind"):
    print(name, ", ".join("%.7g" % v for v in np.asarray(model.get_layer(name).kernel).reshape(-1)))
