"""Writes regularizers.json: what Keras gives for constraints, for regularisers of activities, and for training with them.

    venv/bin/python test/training/reference/regularizers.py

A line is a case: the class and the config by which Calque makes the layer, the inputs, the weights, and what Keras gives
in float64: `losses` of a call in their order, and `after`, the weights after three steps of SGD with the rate 0.1 on
sum(result * cotangent) + losses. The cotangent of element i is cos(i). Or a constraint with a weight before and after.
The environment is that of layers.py.
"""
import json
import os
import pathlib

os.environ["KERAS_BACKEND"] = "jax"
import jax

jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp
import keras
import numpy as np
from keras import constraints, layers, regularizers
from keras.src.backend.common import dtypes

dtypes.BIT64_TO_BIT32_DTYPE.pop("float64", None)
keras.config.set_floatx("float64")

HERE = pathlib.Path(__file__).resolve().parent
random = np.random.default_rng(5)
lines = []


def draw(shape, low=-1.5, high=1.5):
    # Never 0, where |x| has no derivative, and JAX takes 1.
    return np.round(random.uniform(low, high, shape) * 64) / 64 + 1 / 128


def array(x):
    x = np.asarray(x)
    kind = "int32" if x.dtype.kind == "i" else "float"
    return [kind, list(x.shape), [int(v) if kind == "int32" else float("%.15g" % v) for v in x.reshape(-1)]]


def plain(config):
    """A config as Keras writes it, without what is not an option: null, and where Keras found the class."""
    if isinstance(config, dict):
        if "class_name" in config and "config" in config:
            return {"class_name": config["class_name"], "config": plain(config["config"])}
        return {k: plain(v) for k, v in config.items() if v is not None}
    return [plain(v) for v in config] if isinstance(config, (list, tuple)) else config


def constraint(made, shape):
    w = draw(shape)
    lines.append(json.dumps({"constraint": plain(keras.saving.serialize_keras_object(made)), "before": array(w),
                             "after": array(made(jnp.asarray(w)))}))


def case(of, config, inputs, **more):
    layer = of(**config, **more)
    x = jnp.asarray(inputs)
    layer(x)
    for weight in layer.weights:
        weight.assign(draw(weight.shape, -1, 1) if "variance" not in weight.path else draw(weight.shape, 0.5, 2))
    before = [np.asarray(w) for w in layer.weights]
    layer(x)
    losses = [np.asarray(each) for each in layer.losses]
    optimizer = keras.optimizers.SGD(0.1)
    optimizer.build(layer.trainable_variables)
    others = layer.non_trainable_variables

    def loss(trained):
        mapping = list(zip(layer.trainable_variables, trained)) + [(v, v.value) for v in others]
        with keras.StatelessScope(state_mapping=mapping, collect_losses=True) as scope:
            ys = layer(x)
            total = sum(layer.losses)
        for y in ys if isinstance(ys, (list, tuple)) else [ys]:
            total = total + jnp.sum(y * jnp.cos(jnp.arange(y.size, dtype="float64")).reshape(y.shape))
        return total

    for step in range(3):
        optimizer.apply(jax.grad(loss)([v.value for v in layer.trainable_variables]), layer.trainable_variables)
    options = dict(config)
    for name, each in more.items():
        options[name] = plain(keras.saving.serialize_keras_object(each))
    if of is layers.Embedding:
        options["dtype"] = "float64"
    lines.append(json.dumps({
        "layer": {"class_name": of.__name__, "config": options},
        "inputs": array(inputs),
        "weights": [array(w) for w in before],
        "losses": [array(each) for each in losses],
        "after": [array(w) for w in layer.weights],
    }))


constraint(constraints.MaxNorm(1.25), (3, 4))
constraint(constraints.MaxNorm(0.75, axis=[0, 1, 2]), (2, 2, 3, 4))
constraint(constraints.NonNeg(), (3, 4))
constraint(constraints.UnitNorm(), (3, 4))
constraint(constraints.UnitNorm(axis=1), (3, 4))
constraint(constraints.MinMaxNorm(0.5, 1.25), (3, 6))
constraint(constraints.MinMaxNorm(1.5, 2, rate=0.25, axis=-1), (3, 6))

l2, norm = regularizers.L2(0.25), constraints.MaxNorm(0.75)
both = {"activity_regularizer": regularizers.L1L2(0.25, 0.125)}
kernel = dict(both, kernel_regularizer=l2, kernel_constraint=norm, bias_constraint=constraints.NonNeg())
case(layers.Dense, {"units": 3, "activation": "tanh"}, draw((4, 5)), **kernel)
case(layers.Embedding, {"input_dim": 5, "output_dim": 3}, random.integers(0, 5, (2, 4)).astype("int32"),
     embeddings_constraint=constraints.UnitNorm(axis=1), embeddings_regularizer=l2, **both)
for rank in [1, 2, 3]:
    x = draw((2,) + (4, 3, 3)[:rank] + (2,))
    case(getattr(layers, "Conv%dD" % rank), {"filters": 2, "kernel_size": 2}, x, **kernel)
    case(getattr(layers, "Conv%dDTranspose" % rank), {"filters": 2, "kernel_size": 2}, x, **kernel)
for rank in [1, 2]:
    x = draw((2,) + (4, 3)[:rank] + (2,))
    case(getattr(layers, "DepthwiseConv%dD" % rank), {"kernel_size": 2}, x, depthwise_constraint=norm, bias_constraint=constraints.NonNeg(), **both)
    case(getattr(layers, "SeparableConv%dD" % rank), {"filters": 2, "kernel_size": 2}, x, depthwise_constraint=norm,
         pointwise_constraint=constraints.UnitNorm(), bias_constraint=constraints.NonNeg(), **both)
for name in ["SimpleRNN", "LSTM", "GRU"]:
    more = dict(kernel, recurrent_constraint=constraints.MinMaxNorm(0.5, 0.75), recurrent_regularizer=l2)
    if name == "SimpleRNN":
        del more["activity_regularizer"]  # Keras 3.15 takes it, and does nothing
    case(getattr(layers, name), {"units": 2, "return_sequences": True, "return_state": True}, draw((2, 3, 2)), **more)
gamma = dict(both, gamma_constraint=constraints.NonNeg(), beta_constraint=constraints.UnitNorm())
case(layers.BatchNormalization, {}, draw((3, 4)), **gamma)
case(layers.LayerNormalization, {}, draw((3, 4)), **gamma)
case(layers.GroupNormalization, {"groups": 2}, draw((3, 4)), **gamma)
case(layers.PReLU, {}, draw((3, 4)), alpha_constraint=constraints.NonNeg(), alpha_regularizer=l2)
case(layers.ActivityRegularization, {"l1": 0.5, "l2": 0.25}, draw((3, 4)))

(HERE / "regularizers.json").write_text("\n".join(lines) + "\n")
print(len(lines), "cases by Keras", keras.__version__)
