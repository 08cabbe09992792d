"""Writes edges.json: what Keras gives where a mask rules out all, inputs differ in rank, or numbers are not finite.

    python -m venv venv && venv/bin/pip install keras==3.15.1 tensorflow==2.21.0 numpy==2.4.6
    venv/bin/python test/training/reference/edges.py

A line is a case of layers: the layer's class and config, the inputs and their masks (null for none), the weights, and
then what Keras gives in float64: the results, the mask of the first result (null for none), the gradients of
sum(result * cotangent) with respect to the inputs and to the trainable weights, where the cotangent of element i is
cos(i), and the values that the call adds to the losses, summed. Or it is a case of activations: a name, and its values
and derivatives in float32 at some numbers. Arrays are [shape, numbers]; numbers that are not finite are text.
"""
import json
import os
import pathlib

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import keras
import numpy as np
import tensorflow as tf
from keras import layers
from keras.src import backend

keras.config.set_floatx("float64")
HERE = pathlib.Path(__file__).resolve().parent
random = np.random.default_rng(23)
lines = []


def draw(*shape):
    return np.round(random.uniform(-1.5, 1.5, shape) * 64) / 64


def number(v):
    if isinstance(v, (bool, np.bool_)):
        return int(v)
    return float("%.15g" % v) if np.isfinite(v) else str(float(v))


def array(x):
    x = np.asarray(x)
    return [list(x.shape), [number(v) for v in x.reshape(-1)]]


def case(name, layer, config, inputs, masks=None, call=None, class_name=None):
    masks = masks or [None] * len(inputs)
    xs = [tf.constant(x) for x in inputs]

    def run():
        mine = [tf.identity(x) for x in xs]
        if isinstance(layer, layers.Softmax):
            return layer(mine[0], mask=None if masks[0] is None else tf.constant(masks[0]))
        for x, mask in zip(mine, masks):
            if mask is not None:
                backend.set_keras_mask(x, tf.constant(mask))
        if isinstance(layer, layers.MultiHeadAttention):
            return layer(*(mine * 2 if len(mine) == 1 else mine), **(call or {}))
        return layer(mine[0] if len(mine) == 1 else mine, **(call or {}))

    run()  # builds
    for weight in layer.weights:
        weight.assign(draw(*weight.shape))
    before = [np.asarray(w) for w in layer.weights]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(xs)
        y = run()
        losses = sum(layer.losses) if layer.losses else tf.constant(0.0, "float64")
        total = tf.reduce_sum(y * tf.reshape(tf.cos(tf.range(tf.size(y), dtype="float64")), tf.shape(y)))
    zero = tf.UnconnectedGradients.ZERO
    mask = backend.get_keras_mask(y)
    lines.append(json.dumps({
        "name": name,
        "layer": {"class_name": class_name or type(layer).__name__, "config": config},
        "inputs": [array(x) for x in inputs],
        "masks": [None if m is None else array(m) for m in masks],
        "weights": [array(w) for w in before],
        "result": array(y),
        "mask": None if mask is None else array(mask),
        "input_gradients": [array(tape.gradient(total, x, unconnected_gradients=zero)) for x in xs],
        "weight_gradients": [array(tape.gradient(total, w.value, unconnected_gradients=zero)) for w in layer.trainable_variables],
        "losses": number(losses.numpy()),
    }))


# A softmax takes what a mask rules out for nothing, whatever is there.
for numbers in [[1, 2, 3], [1, 2, 1e9], [1, 2, 1e10], [1, 2, np.inf], [1, 2, np.nan], [1, 2, -np.inf]]:
    case("softmax of %s" % numbers[2], layers.Softmax(), {}, [np.array([numbers, [0.5, -1, 0]])], [np.array([[1, 1, 0], [1, 0, 1]], bool)])
case("softmax of nothing", layers.Softmax(), {}, [draw(2, 3)], [np.array([[0, 0, 0], [1, 0, 1]], bool)])
case("softmax, a mask of the last dimension", layers.Softmax(), {}, [draw(2, 2, 3)], [np.array([1, 0, 1], bool)])

# Queries that may see nothing.
attention = lambda **more: layers.MultiHeadAttention(2, 3, **more)
LEFT = np.array([[0, 0, 1, 1], [1, 1, 1, 1], [0, 0, 0, 0]], bool)
case("attention, left padding", attention(), {"num_heads": 2, "key_dim": 3, "use_causal_mask": True}, [draw(3, 4, 4)], [LEFT],
     call={"use_causal_mask": True})
case("attention, values of padding", attention(), {"num_heads": 2, "key_dim": 3}, [draw(3, 2, 4), draw(3, 4, 5)], [None, LEFT])
case("attention, both padded", attention(), {"num_heads": 2, "key_dim": 3}, [draw(3, 4, 4), draw(3, 4, 5)], [LEFT[::-1], LEFT])
case("attention, activity", attention(activity_regularizer=keras.regularizers.L1(0.25)),
     {"num_heads": 2, "key_dim": 3, "activity_regularizer": {"class_name": "L1L2", "config": {"l1": 0.25, "l2": 0.0}}},
     [draw(2, 3, 4), draw(2, 2, 5)])

# Inputs of other ranks meet the examples of the others; and which steps count.
FIRST = np.array([[1, 1, 0, 0], [1, 0, 1, 0]], bool)
SECOND = np.array([[1, 0, 1, 0], [1, 1, 1, 0]], bool)
for name in ["Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum"]:
    of = getattr(layers, name)
    case(name + " of ranks", of(), {}, [draw(2, 3), draw(2, 4, 3)])
    case(name + " of ranks, the lower last", of(), {}, [draw(2, 2, 4, 3), draw(2, 3)])
    if name != "Subtract":
        case(name + " of three ranks", of(), {}, [draw(2, 3), draw(2, 2, 4, 3), draw(2, 4, 3)])
    for text, masks in [("both", [FIRST, SECOND]), ("the first", [FIRST, None]), ("the second", [None, SECOND])]:
        case("%s, masks of %s" % (name, text), of(), {}, [draw(2, 4, 3), draw(2, 4, 3)], masks)
    case(name + " of ranks, masks", of(), {}, [draw(2, 3), draw(2, 4, 3)], [None, SECOND])
for name in ["Multiply", "Maximum", "Minimum"]:
    case(name + ", masks of three", getattr(layers, name)(), {}, [draw(2, 4, 3) for _ in range(3)], [FIRST, SECOND, FIRST[::-1]])
    case(name + ", masks of two of three", getattr(layers, name)(), {}, [draw(2, 4, 3) for _ in range(3)], [FIRST, None, SECOND])
for axis in [-1, 1]:
    for text, masks in [("both", [FIRST, SECOND]), ("the first", [FIRST, None]), ("the second", [None, SECOND]), ("none", [None, None])]:
        case("Concatenate %d, masks of %s" % (axis, text), layers.Concatenate(axis=axis), {"axis": axis}, [draw(2, 4, 3), draw(2, 4, 3)], masks)

# What a mask leaves out is not finite.
padded = draw(2, 4, 3)
padded[0, 2], padded[1, 3] = np.nan, np.inf
case("mean of steps", layers.GlobalAveragePooling1D(), {}, [padded], [FIRST])

# Activations
keras.config.set_floatx("float32")
AT = np.array([np.nan, np.inf, -np.inf, 3e38, -3e38, 0, -1, 1, -3, 3, 0.5, -0.5, 100, -100], "float32")
for name in ["relu", "relu6", "leaky_relu", "elu", "selu", "celu", "hard_sigmoid", "hard_silu", "hard_tanh", "softplus",
             "sigmoid", "tanh", "hard_shrink", "soft_shrink", "sparse_plus"]:
    x = tf.constant(AT)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = getattr(keras.activations, name)(x)
        total = tf.reduce_sum(y)
    lines.append(json.dumps({"name": name, "activation": name, "at": array(AT), "values": array(y),
                             "derivatives": array(tape.gradient(total, x))}))

(HERE / "edges.json").write_text("\n".join(lines) + "\n")
