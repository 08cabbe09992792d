"""Writes KerasReference.h.inc: what Keras gives for losses, metrics, schedules and optimisers.

    python -m venv venv && venv/bin/pip install keras==3.15.1 jax==0.10.2 numpy==2.4.6
    KERAS_BACKEND=jax venv/bin/python test/training/reference/keras_reference.py

A line is {name, dtype, what, {numbers}}. The inputs are lines as well, so that the tests compute from the same numbers.
"""
import os
import pathlib
import re

os.environ["KERAS_BACKEND"] = "jax"
import jax

jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp
import keras
import numpy as np
from keras.src.backend.common import dtypes

# Keras on JAX computes float64 in float32 where types are promoted, unless it is told not to.
dtypes.BIT64_TO_BIT32_DTYPE.pop("float64")

HERE = pathlib.Path(__file__).resolve().parent
lines = []


def snake(name):
    return re.sub(r"(?<=[a-z0-9])([A-Z])|(?<=[A-Z])([A-Z][a-z])", lambda m: "_" + m[0], name).lower()


def put(name, dtype, what, numbers):
    numbers = np.asarray(numbers, dtype=np.float64).reshape(-1)
    text = ", ".join(repr(float(x)) for x in numbers)
    lines.append('{"%s", "%s", "%s", {%s}},' % (name, dtype, what, text))


random = np.random.default_rng(7)
# Five examples of three numbers. Rounded, so that the inputs are the same in both types.
LOGITS = np.round(random.uniform(-3, 3, (5, 3)) * 64) / 64
PROBABILITIES = np.round(np.exp(LOGITS) / np.exp(LOGITS).sum(-1, keepdims=True) * 1024) / 1024
TARGETS = np.round(random.uniform(-2, 2, (5, 3)) * 64) / 64
POSITIVE = np.abs(TARGETS) + 0.25
LABELS = np.array([2, 0, 1, 1, 2])
ONE_HOT = np.eye(3)[LABELS]
BINARY = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 0, 0]])
WEIGHTS = np.array([0.5, 2, 0, 1, 3])
PREDICTED = np.array([2, 0, 0, 1, 1])
ROUNDED = np.round(PROBABILITIES)
INPUTS = {"logits": LOGITS, "probabilities": PROBABILITIES, "targets": TARGETS, "positive": POSITIVE, "labels": LABELS,
          "one_hot": ONE_HOT, "binary": BINARY, "weights": WEIGHTS,
          "predicted": PREDICTED, "rounded": ROUNDED}
for name, values in INPUTS.items():
    put("inputs", "", name, values)

# Class, options, targets, predictions.
LOSSES = [
    ("MeanSquaredError", {}, "targets", "logits"),
    ("MeanAbsoluteError", {}, "targets", "logits"),
    ("MeanAbsolutePercentageError", {}, "targets", "logits"),
    ("MeanSquaredLogarithmicError", {}, "positive", "probabilities"),
    ("Huber", {}, "targets", "logits"),
    ("Huber", {"delta": 0.5}, "targets", "logits"),
    ("LogCosh", {}, "targets", "logits"),
    ("BinaryCrossentropy", {}, "binary", "probabilities"),
    ("BinaryCrossentropy", {"from_logits": True}, "binary", "logits"),
    ("BinaryCrossentropy", {"from_logits": True, "label_smoothing": 0.2}, "binary", "logits"),
    ("BinaryFocalCrossentropy", {}, "binary", "probabilities"),
    ("BinaryFocalCrossentropy", {"from_logits": True, "gamma": 1.5, "apply_class_balancing": True}, "binary", "logits"),
    ("CategoricalCrossentropy", {}, "one_hot", "probabilities"),
    ("CategoricalCrossentropy", {"from_logits": True}, "one_hot", "logits"),
    ("CategoricalCrossentropy", {"label_smoothing": 0.1}, "one_hot", "probabilities"),
    ("CategoricalFocalCrossentropy", {}, "one_hot", "probabilities"),
    ("CategoricalFocalCrossentropy", {"from_logits": True, "gamma": 1.5, "alpha": 0.5}, "one_hot", "logits"),
    ("SparseCategoricalCrossentropy", {}, "labels", "probabilities"),
    ("SparseCategoricalCrossentropy", {"from_logits": True}, "labels", "logits"),
    ("SparseCategoricalCrossentropy", {"from_logits": True, "ignore_class": 1}, "labels", "logits"),
    ("KLDivergence", {}, "one_hot", "probabilities"),
    ("Poisson", {}, "positive", "probabilities"),
    ("Hinge", {}, "binary", "logits"),
    ("SquaredHinge", {}, "binary", "logits"),
    ("CategoricalHinge", {}, "one_hot", "logits"),
    ("CosineSimilarity", {}, "targets", "logits"),
    ("CosineSimilarity", {"axis": 0}, "targets", "logits"),
]


def losses():
    for dtype in ("float32", "float64"):
        keras.config.set_floatx(dtype)
        for index, (name, options, y_true, y_pred) in enumerate(LOSSES):
            y = INPUTS[y_true].astype("int32" if y_true == "labels" else dtype)
            p = INPUTS[y_pred].astype(dtype)
            make = getattr(keras.losses, name)
            each = make(**options, reduction="none", dtype=dtype)
            mean = make(**options, dtype=dtype)
            key = "%s %d" % (snake(name), index)
            put(key, dtype, "each", each(y, p))
            put(key, dtype, "mean", mean(y, p))
            put(key, dtype, "gradient", jax.grad(lambda q: mean(y, q))(jnp.asarray(p)))
            if options.get("axis") != 0:
                put(key, dtype, "weighted", mean(y, p, sample_weight=WEIGHTS.astype(dtype)))


# Class, options, targets, predictions.
METRICS = [
    ("Accuracy", {}, "binary", "rounded"),
    ("BinaryAccuracy", {}, "binary", "probabilities"),
    ("BinaryAccuracy", {"threshold": 0.3}, "binary", "probabilities"),
    ("CategoricalAccuracy", {}, "one_hot", "probabilities"),
    ("SparseCategoricalAccuracy", {}, "labels", "probabilities"),
    ("TopKCategoricalAccuracy", {"k": 2}, "one_hot", "probabilities"),
    ("SparseTopKCategoricalAccuracy", {"k": 2}, "labels", "probabilities"),
    ("MeanSquaredError", {}, "targets", "logits"),
    ("RootMeanSquaredError", {}, "targets", "logits"),
    ("MeanAbsoluteError", {}, "targets", "logits"),
    ("MeanAbsolutePercentageError", {}, "targets", "logits"),
    ("MeanSquaredLogarithmicError", {}, "positive", "probabilities"),
    ("KLDivergence", {}, "one_hot", "probabilities"),
    ("Poisson", {}, "positive", "probabilities"),
    ("LogCoshError", {}, "targets", "logits"),
    ("Hinge", {}, "binary", "logits"),
    ("SquaredHinge", {}, "binary", "logits"),
    ("CategoricalHinge", {}, "one_hot", "logits"),
    ("CosineSimilarity", {}, "targets", "logits"),
    ("BinaryCrossentropy", {"from_logits": True}, "binary", "logits"),
    ("CategoricalCrossentropy", {"from_logits": True}, "one_hot", "logits"),
    ("SparseCategoricalCrossentropy", {"from_logits": True}, "labels", "logits"),
    ("Precision", {}, "binary", "probabilities"),
    ("Precision", {"thresholds": [0.1, 0.3, 0.6]}, "binary", "probabilities"),
    ("Precision", {"top_k": 2}, "binary", "probabilities"),
    ("Precision", {"class_id": 1, "thresholds": 0.2}, "binary", "probabilities"),
    ("Recall", {}, "binary", "probabilities"),
    ("Recall", {"thresholds": [0.1, 0.3, 0.6]}, "binary", "probabilities"),
    ("TruePositives", {}, "binary", "probabilities"),
    ("FalsePositives", {}, "binary", "probabilities"),
    ("TrueNegatives", {}, "binary", "probabilities"),
    ("FalseNegatives", {}, "binary", "probabilities"),
    ("AUC", {}, "binary", "probabilities"),
    ("AUC", {"curve": "PR"}, "binary", "probabilities"),
    ("AUC", {"num_thresholds": 7, "summation_method": "minoring"}, "binary", "probabilities"),
    ("AUC", {"num_thresholds": 7, "summation_method": "majoring", "curve": "PR"}, "binary", "probabilities"),
    ("AUC", {"from_logits": True}, "binary", "logits"),
    ("F1Score", {}, "one_hot", "probabilities"),
    ("F1Score", {"average": "micro"}, "one_hot", "probabilities"),
    ("F1Score", {"average": "macro", "threshold": 0.3}, "binary", "probabilities"),
    ("F1Score", {"average": "weighted"}, "one_hot", "probabilities"),
    ("R2Score", {}, "targets", "logits"),
    ("R2Score", {"class_aggregation": None}, "targets", "logits"),
    ("R2Score", {"class_aggregation": "variance_weighted_average"}, "targets", "logits"),
    ("MeanIoU", {"num_classes": 3}, "labels", "predicted"),
    ("MeanIoU", {"num_classes": 3, "ignore_class": 1}, "labels", "predicted"),
    ("Mean", {}, "logits", None),
    ("Sum", {}, "logits", None),
]


def metrics():
    for dtype in ("float32", "float64"):
        keras.config.set_floatx(dtype)
        for index, (name, options, y_true, y_pred) in enumerate(METRICS):
            integers = ("labels", "predicted")
            arguments = [INPUTS[x].astype("int32" if x in integers else dtype) for x in (y_true, y_pred) if x]
            key = "metric %s %d" % (snake(name), index)
            metric = getattr(keras.metrics, name)(**options, dtype=dtype)
            metric.update_state(*[x[:2] for x in arguments])
            metric.update_state(*[x[2:] for x in arguments])
            put(key, dtype, "result", metric.result())
            metric.reset_state()
            weights = WEIGHTS.astype(dtype)
            per_element = name in ("Precision", "Recall", "AUC", "R2Score") or "Positives" in name or "Negatives" in name
            if "class_id" not in options:
                metric.update_state(*arguments, sample_weight=weights[:, None] if per_element else weights)
                put(key, dtype, "weighted", metric.result())


SCHEDULES = [
    ("ExponentialDecay", (0.1, 7, 0.9), {}),
    ("ExponentialDecay", (0.1, 7, 0.9), {"staircase": True}),
    ("InverseTimeDecay", (0.1, 7, 0.5), {}),
    ("InverseTimeDecay", (0.1, 7, 0.5), {"staircase": True}),
    ("PiecewiseConstantDecay", ([3, 8], [0.1, 0.05, 0.01]), {}),
    ("PolynomialDecay", (0.1, 10), {"end_learning_rate": 0.01, "power": 2}),
    ("PolynomialDecay", (0.1, 10), {"cycle": True}),
    ("CosineDecay", (0.1, 12), {"alpha": 0.1}),
    ("CosineDecay", (0.01, 12), {"warmup_target": 0.1, "warmup_steps": 4}),
    ("CosineDecayRestarts", (0.1, 5), {"alpha": 0.05, "m_mul": 0.8}),
    ("CosineDecayRestarts", (0.1, 5), {"t_mul": 1.0, "m_mul": 0.5}),
]


def schedules():
    keras.config.set_floatx("float64")
    for index, (name, arguments, options) in enumerate(SCHEDULES):
        schedule = getattr(keras.optimizers.schedules, name)(*arguments, **options)
        # No period's end, where rounding decides to which of two it belongs.
        put("schedule %s %d" % (snake(name), index), "float64", "rates", [schedule(step) for step in (0, 1, 3, 4, 8, 9, 13, 24)])


OPTIMIZERS = [
    ("SGD", {}),
    ("SGD", {"momentum": 0.9}),
    ("SGD", {"momentum": 0.9, "nesterov": True}),
    ("RMSprop", {}),
    ("RMSprop", {"momentum": 0.5, "centered": True, "rho": 0.8}),
    ("Adagrad", {}),
    ("Adadelta", {"learning_rate": 1.0}),
    ("Adam", {}),
    ("Adam", {"amsgrad": True, "beta_2": 0.5}),
    ("AdamW", {"learning_rate": 0.1}),
    ("Adamax", {}),
    ("Nadam", {}),
    ("Lion", {}),
    ("Ftrl", {"learning_rate": 0.1, "l1_regularization_strength": 0.01, "l2_regularization_strength": 0.02,
              "l2_shrinkage_regularization_strength": 0.03, "beta": 0.1}),
    ("SGD", {"clipnorm": 1.0, "learning_rate": 0.1}),
    ("SGD", {"global_clipnorm": 1.0, "learning_rate": 0.1}),
    ("SGD", {"clipvalue": 0.5, "learning_rate": 0.1}),
    ("SGD", {"weight_decay": 0.1, "learning_rate": 0.1}),
    ("Adam", {"use_ema": True, "ema_momentum": 0.5, "ema_overwrite_frequency": 2, "learning_rate": 0.1}),
    ("Adam", {"gradient_accumulation_steps": 2, "learning_rate": 0.1}),
    ("Adam", {"gradient_accumulation_steps": 2, "use_ema": True, "ema_momentum": 0.5, "ema_overwrite_frequency": 2,
              "learning_rate": 0.1}),
]
STEPS = 6


def optimizers():
    for dtype in ("float32", "float64"):
        keras.config.set_floatx(dtype)
        for index, (name, options) in enumerate(OPTIMIZERS):
            optimizer = getattr(keras.optimizers, name)(**options)
            a = keras.Variable(LOGITS.astype(dtype))
            b = keras.Variable(WEIGHTS.astype(dtype))
            optimizer.build([a, b])
            for step in range(STEPS):
                # The gradients of the sums of (a - targets)^2 / 2 and of b^2 / 2.
                gradients = [a.value - TARGETS.astype(dtype), b.value]
                optimizer.apply(gradients, [a, b])
                if step in (0, 2, STEPS - 1):
                    put("optimizer %s %d" % (snake(name), index), dtype, "a%d" % step, a.numpy())
                    put("optimizer %s %d" % (snake(name), index), dtype, "b%d" % step, b.numpy())


PARTS = [losses, metrics, schedules, optimizers]
if __name__ == "__main__":
    for part in PARTS:
        part()
    head = "// Made by keras_reference.py with Keras %s on JAX %s and NumPy %s.\n" % (
        keras.__version__, jax.__version__, np.__version__)
    (HERE / "KerasReference.h.inc").write_text(head + "\n".join(lines) + "\n")
