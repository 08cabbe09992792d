"""Writes layers.json: what Keras gives for layers, and the gradients of it.

    python -m venv venv && venv/bin/pip install keras==3.15.1 jax==0.10.2 numpy==2.4.6
    venv/bin/python test/training/reference/layers.py

A line is a case: the class and the config by which Calque makes the layer, the inputs and the weights, and then what
Keras gives in float64: the results, the gradients of sum(result * cotangent) with respect to the inputs and to the
trainable weights, and all weights after the call. The cotangent of element i is cos(i). Where there are trainable
weights, three steps of SGD with a rate of 0.1 and a momentum of 0.9 follow, on the sum of the results' mean squared
differences from the cotangents: their losses, and all weights at the end. Arrays are [kind, shape, numbers].
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
from keras import layers
from keras.src.backend.common import dtypes

# Keras on JAX computes float64 in float32 where types are promoted, unless it is told not to.
dtypes.BIT64_TO_BIT32_DTYPE.pop("float64", None)
keras.config.set_floatx("float64")

HERE = pathlib.Path(__file__).resolve().parent
random = np.random.default_rng(11)
lines = []


def draw(shape, low=-1.5, high=1.5):
    # Exact in float32, too.
    return np.round(random.uniform(low, high, shape) * 64) / 64


def array(x):
    x = np.asarray(x)
    kind = "bool" if x.dtype == bool else "int32" if x.dtype.kind == "i" else "float"
    numbers = [int(v) for v in x.reshape(-1)] if kind != "float" else [float("%.15g" % v) for v in x.reshape(-1)]
    return [kind, list(x.shape), numbers]


def case(name, layer, config, inputs, class_name=None, training=False, mask=None, call=None, keras_call=None):
    """`call` are further inputs by Calque's names, `keras_call` Keras' arguments."""
    inputs = [np.asarray(x) for x in inputs]
    single = inputs[0] if len(inputs) == 1 else inputs
    kwargs = dict(keras_call or {})
    if mask is not None:
        kwargs["mask"] = jnp.asarray(mask)

    def run(first):
        if keras_call is not None and "positional" in kwargs:
            rest = dict(kwargs)
            rest.pop("positional")
            return layer(*first, **rest)
        if len(first) > 1 and isinstance(layer, (layers.RNN, layers.Bidirectional)):
            return layer(first[0], initial_state=first[1:], **kwargs)
        return layer(first[0] if len(first) == 1 else first, **kwargs)

    run([jnp.asarray(x) for x in inputs])  # builds
    for weight in layer.weights:
        positive = "variance" in weight.path
        weight.assign(draw(weight.shape, 0.5 if positive else -1, 2 if positive else 1))
    if isinstance(layer, layers.Normalization):
        layer.finalize_state()
    before = [np.asarray(w) for w in layer.weights]
    if training:
        kwargs["training"] = True

    trainable, others = layer.trainable_variables, layer.non_trainable_variables

    def results(trained, floats):
        mine, k = [], 0
        for x in inputs:
            if x.dtype.kind == "f":
                mine.append(floats[k])
                k += 1
            else:
                mine.append(jnp.asarray(x))
        mapping = list(zip(trainable, trained)) + [(v, v.value) for v in others]
        with keras.StatelessScope(state_mapping=mapping) as scope:
            ys = run(mine)
        ys = ys if isinstance(ys, (list, tuple)) else [ys]
        after = []
        for w in layer.weights:
            now = scope.get_current_value(w)
            after.append(now if now is not None else w.value)
        return list(ys), after

    def loss(trained, floats):
        ys, after = results(trained, floats)
        total = 0
        for y in ys:
            total = total + jnp.sum(y * jnp.cos(jnp.arange(y.size, dtype="float64")).reshape(y.shape))
        return total

    def squares(trained, floats):
        ys, after = results(trained, floats)
        return sum(jnp.mean((y - jnp.cos(jnp.arange(y.size, dtype="float64")).reshape(y.shape)) ** 2) for y in ys), after

    def train(floats):
        optimizer, losses = keras.optimizers.SGD(0.1, momentum=0.9), []
        for _ in range(3):
            (value, after), gradients = jax.value_and_grad(squares, has_aux=True)([v.value for v in trainable], floats)
            for weight, now in zip(layer.weights, after):
                weight.assign(now)
            optimizer.apply(gradients, trainable)
            losses.append(value)
        return losses

    trained = [v.value for v in trainable]
    floats = [jnp.asarray(x) for x in inputs if x.dtype.kind == "f"]
    ys, after = results(trained, floats)
    weight_grads, input_grads = jax.grad(loss, argnums=(0, 1))(trained, floats)
    losses = train(floats) if trainable else []
    lines.append(json.dumps({
        "name": name,
        "layer": {"class_name": class_name or type(layer).__name__, "config": config},
        "training": training,
        "mask": array(mask) if mask is not None else None,
        "input_names": call or [],
        "inputs": [array(x) for x in inputs],
        "weights": [array(w) for w in before],
        "results": [array(y) for y in ys],
        "input_gradients": [array(g) for g in input_grads],
        "weight_gradients": [array(g) for g in weight_grads],
        "weights_after": [array(w) for w in after],
        "training_losses": [float("%.15g" % value) for value in losses],
        "trained_weights": [array(w) for w in layer.weights] if trainable else [],
    }))


# Core
case("dense", layers.Dense(3, activation="tanh"), {"units": 3, "activation": "tanh"}, [draw((4, 5))])
case("dense rank 3", layers.Dense(2, use_bias=False), {"units": 2, "use_bias": False}, [draw((2, 3, 5))])
case("embedding", layers.Embedding(7, 3), {"input_dim": 7, "output_dim": 3, "dtype": "float64"}, [random.integers(0, 7, (2, 4)).astype("int32")])
case("flatten", layers.Flatten(), {}, [draw((2, 3, 2))])
case("reshape", layers.Reshape((2, -1)), {"target_shape": [2, -1]}, [draw((3, 6))])
case("permute", layers.Permute((3, 1, 2)), {"dims": [3, 1, 2]}, [draw((2, 3, 2, 4))])
case("repeat", layers.RepeatVector(3), {"n": 3}, [draw((2, 4))])
case("masking", layers.Masking(0.5), {"mask_value": 0.5}, [np.array([[[0.5, 0.5], [1, 0.5]], [[2, 3], [0.5, 0.5]]])])
for name in ["linear", "relu", "relu6", "leaky_relu", "elu", "selu", "gelu", "silu", "mish", "softplus", "softsign", "sigmoid",
             "hard_sigmoid", "hard_silu", "tanh", "softmax", "log_softmax", "exponential"]:
    case("activation " + name, layers.Activation(name), {"activation": name}, [draw((3, 4), -8, 8) + 1 / 128])  # at no kink
case("activation gelu_tanh", layers.Activation(lambda x: keras.activations.gelu(x, approximate=True)), {"activation": "gelu_tanh"}, [draw((3, 4), -4, 4)])
case("relu options", layers.ReLU(max_value=2, negative_slope=0.25, threshold=0.5), {"max_value": 2, "negative_slope": 0.25, "threshold": 0.5}, [draw((3, 5), -4, 4) + 1 / 128])
case("leaky_relu", layers.LeakyReLU(), {}, [draw((3, 5), -4, 4)])
case("elu", layers.ELU(0.5), {"alpha": 0.5}, [draw((3, 5), -4, 4)])
case("softmax axis", layers.Softmax(axis=1), {"axis": 1}, [draw((2, 3, 4))])
case("p_relu", layers.PReLU(shared_axes=[1]), {"shared_axes": [1]}, [draw((2, 3, 4))])

# Merging
two = lambda: [draw((2, 3, 4)), draw((2, 3, 4))]
for name in ["Add", "Multiply", "Average", "Maximum", "Minimum", "Subtract"]:
    case(name, getattr(layers, name)(), {}, two())
case("add three", layers.Add(), {}, two() + [draw((2, 3, 4))])
case("concatenate", layers.Concatenate(), {}, [draw((2, 3)), draw((2, 1)), draw((2, 4))])
case("concatenate axis", layers.Concatenate(axis=1), {"axis": 1}, [draw((2, 3, 2)), draw((2, 1, 2))])
case("dot", layers.Dot(axes=1), {"axes": [1, 1]}, [draw((3, 4)), draw((3, 4))])
case("dot normalized", layers.Dot(axes=(2, 1), normalize=True), {"axes": [2, 1], "normalize": True}, [draw((2, 3, 4)), draw((2, 4, 5))])

# Normalisation
for training in [False, True]:
    case("batch_normalization", layers.BatchNormalization(momentum=0.75), {"momentum": 0.75}, [draw((4, 2, 3))], training=training)
case("batch_normalization axis", layers.BatchNormalization(axis=1), {"axis": 1}, [draw((4, 2, 3))], training=True)
case("batch_normalization mask", layers.BatchNormalization(), {}, [draw((3, 4, 2))], training=True,
     mask=np.array([[1, 1, 0, 0], [1, 1, 1, 1], [1, 0, 1, 0]], bool))
case("layer_normalization", layers.LayerNormalization(), {}, [draw((3, 2, 5))])
case("layer_normalization axes", layers.LayerNormalization(axis=[1, 2], epsilon=0.1), {"axis": [1, 2], "epsilon": 0.1}, [draw((2, 3, 4, 2))])
case("group_normalization", layers.GroupNormalization(groups=2), {"groups": 2}, [draw((2, 3, 2, 4))])
case("group_normalization each", layers.GroupNormalization(groups=-1), {"groups": -1}, [draw((2, 5, 3))])
case("rescaling", layers.Rescaling(1 / 255, offset=-0.5), {"scale": 1 / 255, "offset": -0.5}, [draw((2, 3))])

# Images and sequences
case("conv2d", layers.Conv2D(2, (3, 2), strides=(2, 1), padding="same", activation="relu"),
     {"filters": 2, "kernel_size": [3, 2], "strides": [2, 1], "padding": "same", "activation": "relu"}, [draw((2, 5, 4, 3))])
for padding in ["valid", "same", "causal"]:
    case("conv1d " + padding, layers.Conv1D(2, 3, strides=2 if padding == "valid" else 1, padding=padding),
         {"filters": 2, "kernel_size": 3, "strides": 2 if padding == "valid" else 1, "padding": padding}, [draw((2, 6, 3))])
case("max_pool1d", layers.MaxPooling1D(2, strides=1, padding="same"), {"pool_size": 2, "strides": 1, "padding": "same"}, [draw((2, 5, 3), -9, 9)])
for name in ["GlobalAveragePooling", "GlobalMaxPooling"]:
    for rank in [1, 2, 3]:
        case(name, getattr(layers, "%s%dD" % (name, rank))(keepdims=rank == 2), {"keepdims": rank == 2}, [draw((2, 3, 2, 3, 2)[:rank + 1] + (2,), -9, 9)])
case("global mask", layers.GlobalAveragePooling1D(), {}, [draw((3, 4, 2))], mask=np.array([[1, 1, 0, 0], [1, 1, 1, 1], [1, 0, 1, 0]], bool))
case("max_pool2d", layers.MaxPooling2D(2), {"pool_size": 2, "strides": 2}, [draw((2, 4, 6, 3), -9, 9)])
case("up_sampling1d", layers.UpSampling1D(3), {"size": [3]}, [draw((2, 3, 2))])
case("up_sampling2d", layers.UpSampling2D((2, 3)), {"size": [2, 3]}, [draw((2, 3, 2, 2))])
case("zero_padding1d", layers.ZeroPadding1D((1, 2)), {"padding": [1, 2]}, [draw((2, 3, 2))])
case("zero_padding2d", layers.ZeroPadding2D(((1, 0), (2, 1))), {"padding": [1, 0, 2, 1]}, [draw((2, 3, 2, 2))])
case("cropping1d", layers.Cropping1D((1, 2)), {"cropping": [1, 2]}, [draw((2, 5, 2))])
case("cropping2d", layers.Cropping2D(((1, 0), (1, 2))), {"cropping": [1, 0, 1, 2]}, [draw((2, 3, 5, 2))])

# Recurrent
MASK = np.array([[1, 1, 1, 0, 0], [0, 1, 0, 1, 1], [1, 1, 1, 1, 1]], bool)
for name, states in [("SimpleRNN", 1), ("LSTM", 2), ("GRU", 1)]:
    of = getattr(layers, name)
    case(name, of(3), {"units": 3}, [draw((3, 5, 2))])
    case(name + " sequences", of(3, return_sequences=True), {"units": 3, "return_sequences": True}, [draw((3, 5, 2))])
    case(name + " all", of(2, return_sequences=True, return_state=True, go_backwards=True, use_bias=False),
         {"units": 2, "return_sequences": True, "return_state": True, "go_backwards": True, "use_bias": False}, [draw((2, 4, 3))])
    case(name + " initial state", of(2, return_sequences=True, return_state=True),
         {"units": 2, "return_sequences": True, "return_state": True}, [draw((3, 4, 2))] + [draw((3, 2)) for _ in range(states)])
    case(name + " mask", of(2), {"units": 2}, [draw((3, 5, 2))], mask=MASK)
    case(name + " mask sequences", of(2, return_sequences=True), {"units": 2, "return_sequences": True}, [draw((3, 5, 2))], mask=MASK)
case("GRU reset before", layers.GRU(2, reset_after=False, return_sequences=True), {"units": 2, "reset_after": False, "return_sequences": True}, [draw((2, 4, 3))])
inner = lambda **more: {"class_name": "LSTM", "config": dict({"units": 2}, **more)}
for mode in ["concat", "sum", "mul", "ave"]:
    case("bidirectional " + mode, layers.Bidirectional(layers.LSTM(2, return_sequences=True), merge_mode=mode),
         {"layer": inner(return_sequences=True), "merge_mode": mode}, [draw((2, 3, 2))])
case("bidirectional last", layers.Bidirectional(layers.LSTM(2)), {"layer": inner()}, [draw((2, 3, 2))])
case("bidirectional mask", layers.Bidirectional(layers.LSTM(2, return_sequences=True)), {"layer": inner(return_sequences=True)}, [draw((3, 5, 2))], mask=MASK)
case("time_distributed", layers.TimeDistributed(layers.Dense(2, activation="tanh")),
     {"layer": {"class_name": "Dense", "config": {"units": 2, "activation": "tanh"}}}, [draw((2, 3, 4))])

# Attention
# With the scores as a second result, because without them JAX computes in float32.
mha = lambda **more: layers.MultiHeadAttention(2, 3, **more)
named = {"num_heads": 2, "key_dim": 3, "return_attention_scores": True}
scores = {"positional": True, "return_attention_scores": True}
case("attention", mha(), named, [draw((2, 3, 4)), draw((2, 5, 4))], keras_call=scores)
case("attention key", mha(value_dim=2, use_bias=False), dict(named, value_dim=2, use_bias=False),
     [draw((2, 3, 4)), draw((2, 5, 2)), draw((2, 5, 3))], keras_call=scores)
case("attention causal", mha(output_shape=5), dict(named, use_causal_mask=True, output_shape=5), [draw((2, 4, 4)), draw((2, 4, 4))],
     keras_call=dict(scores, use_causal_mask=True))

# Further convolutions and windows
volume = lambda *sizes: [draw((2,) + sizes + (2,))]
case("conv1d dilation", layers.Conv1D(4, 3, dilation_rate=2, groups=2, padding="same"),
     {"filters": 4, "kernel_size": 3, "dilation_rate": 2, "groups": 2, "padding": "same"}, volume(7))
case("conv1d causal dilation", layers.Conv1D(2, 3, dilation_rate=2, padding="causal"),
     {"filters": 2, "kernel_size": 3, "dilation_rate": 2, "padding": "causal"}, volume(6))
case("conv2d groups", layers.Conv2D(6, (2, 3), strides=(1, 2), groups=2, activation="tanh"),
     {"filters": 6, "kernel_size": [2, 3], "strides": [1, 2], "groups": 2, "activation": "tanh"}, [draw((2, 4, 6, 4))])
case("conv2d dilation", layers.Conv2D(2, 3, dilation_rate=(2, 1), use_bias=False),
     {"filters": 2, "kernel_size": 3, "dilation_rate": [2, 1], "use_bias": False}, volume(6, 4))
case("conv3d", layers.Conv3D(3, (2, 1, 3), strides=(1, 2, 2), padding="same", activation="relu"),
     {"filters": 3, "kernel_size": [2, 1, 3], "strides": [1, 2, 2], "padding": "same", "activation": "relu"}, volume(3, 3, 4))
case("conv3d valid", layers.Conv3D(2, 2), {"filters": 2, "kernel_size": 2}, volume(3, 2, 4))
for rank in [1, 2, 3]:
    sizes = (4, 3, 2)[:rank]
    of = getattr(layers, "Conv%dDTranspose" % rank)
    case("conv_transpose %d" % rank, of(3, 3, strides=2, padding="same"), {"filters": 3, "kernel_size": 3, "strides": 2, "padding": "same"}, volume(*sizes))
    case("conv_transpose %d valid" % rank, of(2, 2, strides=3), {"filters": 2, "kernel_size": 2, "strides": 3}, volume(*sizes))
    case("conv_transpose %d dense" % rank, of(2, 3, activation="tanh"), {"filters": 2, "kernel_size": 3, "activation": "tanh"}, volume(*sizes))
    for kind, name in [("MaxPooling", "max_pool"), ("AveragePooling", "average_pool")]:
        of = getattr(layers, "%s%dD" % (kind, rank))
        case("%s %d" % (name, rank), of(2, strides=1, padding="same"), {"pool_size": 2, "strides": 1, "padding": "same"}, [draw((2,) + sizes + (2,), -9, 9)])
        case("%s %d valid" % (name, rank), of(2, padding="valid"), {"pool_size": 2}, [draw((2,) + (4, 5, 3)[:rank] + (2,), -9, 9)])
for rank in [1, 2]:
    sizes = (5, 4)[:rank]
    case("depthwise %d" % rank, getattr(layers, "DepthwiseConv%dD" % rank)(3, depth_multiplier=2, padding="same", activation="tanh"),
         {"kernel_size": 3, "depth_multiplier": 2, "padding": "same", "activation": "tanh"}, [draw((2,) + sizes + (3,))])
    case("depthwise %d strides" % rank, getattr(layers, "DepthwiseConv%dD" % rank)(2, strides=2), {"kernel_size": 2, "strides": 2}, volume(*sizes))
    case("depthwise %d dilation" % rank, getattr(layers, "DepthwiseConv%dD" % rank)(2, dilation_rate=2, use_bias=False),
         {"kernel_size": 2, "dilation_rate": 2, "use_bias": False}, volume(*sizes))
    case("separable %d" % rank, getattr(layers, "SeparableConv%dD" % rank)(4, 3, depth_multiplier=2, padding="same", activation="relu"),
         {"filters": 4, "kernel_size": 3, "depth_multiplier": 2, "padding": "same", "activation": "relu"}, [draw((2,) + sizes + (3,))])
    case("separable %d strides" % rank, getattr(layers, "SeparableConv%dD" % rank)(2, 2, strides=2), {"filters": 2, "kernel_size": 2, "strides": 2}, volume(*sizes))
case("up_sampling3d", layers.UpSampling3D((1, 2, 3)), {"size": [1, 2, 3]}, volume(2, 1, 2))
case("zero_padding3d", layers.ZeroPadding3D(((1, 0), (0, 2), (1, 1))), {"padding": [1, 0, 0, 2, 1, 1]}, volume(2, 1, 2))
case("cropping3d", layers.Cropping3D(((1, 0), (0, 2), (1, 1))), {"cropping": [1, 0, 0, 2, 1, 1]}, volume(2, 3, 4))

# Transposed convolutions with output padding and dilations
for rank in [1, 2, 3]:
    sizes = (4, 3, 2)[:rank]
    of = getattr(layers, "Conv%dDTranspose" % rank)
    for padding in ["valid", "same"]:
        for size, strides, added in [(3, 2, 0), (3, 2, 1), (4, 3, 1), (2, 3, 2)]:
            case("conv_transpose %d %s output padding %d" % (rank, padding, added),
                 of(2, size, strides=strides, padding=padding, output_padding=added),
                 {"filters": 2, "kernel_size": size, "strides": strides, "padding": padding, "output_padding": added if rank == 1 else [added] * rank}, volume(*sizes))
        case("conv_transpose %d %s dilation" % (rank, padding), of(2, 3, padding=padding, dilation_rate=2),
             {"filters": 2, "kernel_size": 3, "padding": padding, "dilation_rate": 2 if rank == 1 else [2] * rank}, volume(*sizes))

# Steps that are a batch each, numbers that are given or set, images between pixels, lengths of almost nothing
normalizing = {"layer": {"class_name": "BatchNormalization", "config": {"momentum": 0.75}}}
case("time_distributed batch_normalization", layers.TimeDistributed(layers.BatchNormalization(momentum=0.75)), normalizing, [draw((3, 4, 2))], training=True)
case("time_distributed batch_normalization", layers.TimeDistributed(layers.BatchNormalization(momentum=0.75)), normalizing, [draw((3, 4, 2))])
case("time_distributed mask", layers.TimeDistributed(layers.BatchNormalization(momentum=0.75)), normalizing, [draw((3, 5, 2))], training=True, mask=MASK)
case("time_distributed image", layers.TimeDistributed(layers.BatchNormalization(axis=2, momentum=0.75)),
     {"layer": {"class_name": "BatchNormalization", "config": {"axis": 2, "momentum": 0.75}}}, [draw((2, 3, 2, 2, 2))], training=True)
case("normalization", layers.Normalization(), {}, [draw((3, 2, 4))])
case("normalization axis", layers.Normalization(axis=1), {"axis": 1}, [draw((3, 2, 4))])
case("normalization no axis", layers.Normalization(axis=None, invert=True), {"axis": None, "invert": True}, [draw((3, 2))])
case("normalization given", layers.Normalization(mean=[0.5, -1], variance=[4, 0.25]), {"mean": [0.5, -1], "variance": [4, 0.25]}, [draw((3, 2))])
case("normalization given once", layers.Normalization(axis=None, mean=0.5, variance=4), {"axis": None, "mean": [0.5], "variance": [4]}, [draw((3, 2))])
for size in [2, (3, 1), (1, 4), (2, 3)]:
    case("up_sampling2d bilinear", layers.UpSampling2D(size, interpolation="bilinear"),
         {"size": [size, size] if isinstance(size, int) else list(size), "interpolation": "bilinear"}, [draw((2, 3, 4, 2))])
case("up_sampling2d bilinear one", layers.UpSampling2D(2, interpolation="bilinear"), {"size": [2, 2], "interpolation": "bilinear"}, [draw((2, 1, 1, 2))])
case("dot normalized small", layers.Dot(axes=1, normalize=True), {"axes": [1, 1], "normalize": True}, [draw((3, 4)) * 2.0 ** -22, draw((3, 4)) * 2.0 ** -26])
case("relu threshold", layers.ReLU(max_value=2, negative_slope=0.25, threshold=0.5), {"max_value": 2, "negative_slope": 0.25, "threshold": 0.5}, [np.array([[0.5, -0.5, 3, 1]])])
case("relu threshold above", layers.ReLU(max_value=1, threshold=2), {"max_value": 1, "threshold": 2}, [np.array([[0.5, -0.5, 3, 2, 1.5]])])
for name in ["elu", "softplus", "mish", "silu", "gelu"]:
    case("activation " + name + " at 0", layers.Activation(name), {"activation": name}, [np.array([[0.0, 0.5, -0.5]])])
for interpolation in ["bicubic", "lanczos3", "lanczos5"]:
    for size, shape in [((2, 3), (2, 3, 4, 2)), ((4, 1), (1, 7, 2, 1)), ((1, 2), (1, 2, 12, 1)), ((2, 2), (2, 1, 1, 2))]:
        case("up_sampling2d " + interpolation, layers.UpSampling2D(size, interpolation=interpolation),
             {"size": list(size), "interpolation": interpolation}, [draw(shape)])

(HERE / "layers.json").write_text("\n".join(lines) + "\n")
print(len(lines), "cases by Keras", keras.__version__, "on JAX", jax.__version__, "with NumPy", np.__version__)
