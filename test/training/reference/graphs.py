"""Writes graphs.json: in which order Keras has the layers and the weights of functional models.

    venv/bin/python test/training/reference/graphs.py

A line is a graph of tensors [N,3]. `layers` has the kind of each layer by its name, "dense", "norm" or "add", or a graph
for a model inside, which may have layers of the graph around it; `calls` are layers with what they are called on: inputs,
-1, -2 and so on, or calls that came before, 0, 1 and so on; `outputs` are such positions, by names or not. Keras gave the
rest: `order`, the names of inputs and layers as in `model.layers`; `shapes` of `model.get_weights()`; `trainable`, the
positions of `model.trainable_variables` in `model.weights`; and `results`, of the weights and inputs of value().
The environment is that of layers.py.
"""
import json
import os
import pathlib

os.environ["KERAS_BACKEND"] = "jax"
import keras
import numpy as np
from keras import layers

HERE = pathlib.Path(__file__).resolve().parent
random = np.random.default_rng(17)


def value(position, shape):
    """What weight or input number `position` has, also in the test that reads this."""
    elements = int(np.prod(shape))
    return (0.2 + 0.1 * np.sin(1.3 * position + 0.7 * np.arange(elements))).reshape(shape).astype("float32")


def draw(depth=0, shared=()):
    """A random graph, whose every call is used or not, as it falls."""
    kinds, calls = {}, []
    prefix = "m" * depth
    inputs = int(random.integers(1, 3)) if depth == 0 else 1
    for i in range(int(random.integers(3, 9))):
        def operand():
            return int(random.integers(-inputs, i))

        choice = random.random()
        known = [name for name in kinds if kinds[name] in ("dense", "norm")] + list(shared)
        if choice < 0.25 and known:
            calls.append([str(random.choice(known)), [operand()]])
        elif choice < 0.35 and depth < 2:
            kinds[f"{prefix}model{i}"] = draw(depth + 1, known)
            calls.append([f"{prefix}model{i}", [operand()]])
        elif choice < 0.6:
            kinds[f"{prefix}add{i}"] = "add"
            calls.append([f"{prefix}add{i}", [operand(), operand()]])
        else:
            kind = "norm" if choice > 0.9 else "dense"
            kinds[f"{prefix}{kind}{i}"] = kind
            calls.append([f"{prefix}{kind}{i}", [operand()]])
    outputs = [len(calls) - 1]
    if depth == 0 and random.random() < 0.6:
        outputs = [int(random.integers(0, len(calls))), len(calls) - 1]
    if len(set(outputs)) == 2 and random.random() < 0.4:
        outputs = {"zebra": outputs[0], "ant": outputs[1]}
    return {"inputs": inputs, "layers": kinds, "calls": calls, "outputs": outputs}


def made(graph, name, known):
    own = dict(known)
    ends = {-1 - i: keras.Input((3,), name=f"{name}{i}") for i in range(graph["inputs"])}
    for layer, kind in graph["layers"].items():
        own[layer] = (layers.Dense(3, name=layer) if kind == "dense" else
                      layers.BatchNormalization(name=layer) if kind == "norm" else
                      layers.Add(name=layer) if kind == "add" else None)
    for i, (layer, operands) in enumerate(graph["calls"]):
        if own[layer] is None:
            own[layer] = made(graph["layers"][layer], layer, own)
        ends[i] = own[layer]([ends[o] for o in operands] if len(operands) > 1 else ends[operands[0]])
    outputs = graph["outputs"]
    return keras.Model([ends[-1 - i] for i in range(graph["inputs"])],
                       {k: ends[v] for k, v in outputs.items()} if isinstance(outputs, dict)
                       else [ends[o] for o in outputs] if len(outputs) > 1 else ends[outputs[0]], name=name)


dense = {"a": "dense", "b": "dense", "c": "dense"}
graphs = [
    # A layer beside two in a row.
    {"inputs": 1, "layers": {**dense, "add": "add"},
     "calls": [["a", [-1]], ["b", [-1]], ["c", [1]], ["add", [0, 2]]], "outputs": [3]},
    # A skip over two layers, by way of one that is called again.
    {"inputs": 1, "layers": {**dense, "add": "add"},
     "calls": [["a", [-1]], ["b", [0]], ["c", [1]], ["a", [2]], ["add", [0, 3]]], "outputs": [4]},
    # An input that is used late, and one that is not used.
    {"inputs": 3, "layers": {**dense, "add": "add"},
     "calls": [["a", [-1]], ["b", [0]], ["add", [1, -2]], ["c", [2]]], "outputs": [3]},
    # The layers of a model inside that the graph around it has as well, farther from the end.
    {"inputs": 1, "layers": {**dense, "add": "add",
                             "model": {"inputs": 1, "layers": {"d": "dense"},
                                       "calls": [["d", [-1]], ["b", [0]]], "outputs": [1]}},
     "calls": [["model", [-1]], ["a", [-1]], ["b", [1]], ["c", [2]], ["add", [0, 3]]], "outputs": [4]},
    # Two outputs, by their order and by names.
    {"inputs": 1, "layers": dense, "calls": [["a", [-1]], ["b", [0]], ["c", [0]]], "outputs": [2, 1]},
    {"inputs": 1, "layers": dense, "calls": [["a", [-1]], ["b", [0]], ["c", [0]]],
     "outputs": {"first": 1, "again": 2}},
]
graphs += [draw() for _ in range(40)]

lines = []
for graph in graphs:
    model = made(graph, "input", {})
    shapes = [list(w.shape) for w in model.weights]
    model.set_weights([value(i, shape) for i, shape in enumerate(shapes)])
    x = [value(100 + i, [2, 3]) for i in range(graph["inputs"])]
    results = model(x if len(x) > 1 else x[0])
    names = graph["outputs"]
    results = [results[name] for name in names] if isinstance(names, dict) else \
        results if isinstance(results, list) else [results]
    lines.append(json.dumps({
        **graph, "order": [layer.name for layer in model.layers], "shapes": shapes,
        "trainable": [[v is w for w in model.weights].index(True) for v in model.trainable_variables],
        "results": [[float("%.7g" % v) for v in np.asarray(r).reshape(-1)] for r in results]}))
(HERE / "graphs.json").write_text("\n".join(lines) + "\n")
print(len(lines), "graphs by Keras", keras.__version__)
