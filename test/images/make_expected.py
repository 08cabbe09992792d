"""Writes expected.json: what PyTorch, JAX and ONNX's reference give for the cases of the tests in this folder.

    python -m venv venv && venv/bin/pip install numpy==2.4.6 torch==2.15.0 torchvision==0.29.2 jax==0.10.2 onnx==1.20.0
    venv/bin/python test/images/make_expected.py

A line is a case: its name, the inputs and the results. An array is its element type, its shape and its elements in row-major order.
Channels are last here; PyTorch's and ONNX's are moved.
"""
import json
import pathlib

import jax
import numpy as np
import torch
import torchvision
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

jax.config.update("jax_enable_x64", True)
functional = torch.nn.functional
random = np.random.default_rng(7)
lines, names = [], set()


def array(x):
    x = np.asarray(x)
    return [str(x.dtype), list(x.shape), [repr(v) if isinstance(v, float) and not np.isfinite(v) else v for v in x.ravel().tolist()]]


def case(name, function, *inputs):
    assert name not in names, name
    names.add(name)
    results = function(*inputs)
    if not isinstance(results, (tuple, list)):
        results = [results]
    lines.append(json.dumps([name, [array(x) for x in inputs], [array(x) for x in results]]))


def numbers(*shape, low=-2, high=2):
    return np.round(random.uniform(low, high, shape), 3)


def first(x):
    return torch.moveaxis(torch.from_numpy(np.asarray(x)), -1, 1)


def last(x):
    return torch.moveaxis(x, 1, -1).numpy()


def by_torch(x, size, **options):
    return last(functional.interpolate(first(x), size=size, **options))


def by_jax(x, size, method, antialias):
    return np.asarray(jax.image.resize(x, (x.shape[0], *size, x.shape[-1]), method, antialias))


def by_onnx(x, sizes, scales=None, roi=None, **attributes):
    inputs = {"x": x, "roi": roi, "scales": scales, "sizes": sizes}
    given = {name: np.asarray(value) for name, value in inputs.items() if value is not None}
    node = helper.make_node("Resize", [name if name in given else "" for name in inputs], ["y"], axes=[1, 2], **{"mode": "linear", **attributes})
    types = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape) for name, value in given.items()]
    graph = helper.make_graph([node], "graph", types, [helper.make_tensor_value_info("y", TensorProto.DOUBLE, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)])
    return ReferenceEvaluator(model).run(None, given)[0]


#===-- Resizing -------------------------------------------------------------------------------===#
image = numbers(2, 4, 5, 2)
sizes = [(7, 3), (4, 9), (2, 5), (1, 1)]
for method, mode in [("linear", "bilinear"), ("cubic", "bicubic")]:
    case(method, lambda x: [by_torch(x, s, mode=mode) for s in sizes], image)
    case(method + " align_corners", lambda x: [by_torch(x, s, mode=mode, align_corners=True) for s in sizes], image)
    case(method + " antialias", lambda x: [by_torch(x, s, mode=mode, antialias=True) for s in sizes], image)
case("nearest", lambda x: [by_torch(x, s, mode="nearest-exact") for s in sizes], image)
case("nearest asymmetric floor", lambda x: [by_torch(x, s, mode="nearest") for s in sizes], image)
case("line", lambda x: by_torch(x, 7, mode="linear"), numbers(2, 5, 3))
case("volume", lambda x: by_torch(x, (4, 2, 5), mode="trilinear"), numbers(1, 2, 3, 4, 2))
for method, name in [("linear", "linear"), ("cubic", "cubic"), ("lanczos3", "lanczos3"), ("lanczos5", "lanczos5")]:
    case(f"{method} of JAX", lambda x: [by_jax(x, s, name, True) for s in sizes] + [by_jax(x, s, name, False) for s in sizes], image)
long = numbers(1, 40, 1)
case("antialias far", lambda x: [np.asarray(jax.image.resize(x, (1, n, 1), m, True)) for n in (3, 11) for m in ("linear", "cubic", "lanczos3")], long)
for mode in ["half_pixel_symmetric", "pytorch_half_pixel", "asymmetric"]:
    case(f"{mode} of ONNX", lambda x: [by_onnx(x, s, coordinate_transformation_mode=mode, mode=m) for m in ("linear", "cubic") for s in sizes], image)
case("crop of ONNX", lambda x: by_onnx(x, (3, 4), coordinate_transformation_mode="tf_crop_and_resize", roi=np.asarray([0.2, -0.3, 0.7, 1.4]),
                                        extrapolation_value=9.0), image)
case("nearest of ONNX", lambda x: [by_onnx(x, (6, 3), mode="nearest", nearest_mode=m, coordinate_transformation_mode=c)
                                    for m in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil") for c in ("half_pixel", "asymmetric")], image)
case("scales of ONNX", lambda x: by_onnx(x, None, scales=[1.6, 0.7]), image)
bytes_ = random.integers(0, 256, (1, 4, 4, 1), dtype=np.uint8)
bytes_[0, :2] = 255
case("bytes", lambda x: [np.clip(np.rint(by_torch(x.astype(np.float32), (7, 5), mode=m)), 0, 255).astype(np.uint8) for m in ("bilinear", "bicubic")], bytes_)

#===-- Sampling -------------------------------------------------------------------------------===#
grid = numbers(2, 3, 2, 2, low=-1.7, high=1.7)
grid[0, 0] = [[-1, 1], [0, 0]]
grid[0, 1] = [[-5, 40], [0.25, -0.6]]


def sampled(x, g, mode, padding, align):
    return last(functional.grid_sample(first(x), torch.from_numpy(g), mode, padding, align))


for mode in ["bilinear", "nearest", "bicubic"]:
    for padding in ["zeros", "border", "reflection"]:
        case(f"grid {mode} {padding}", lambda x, g: [sampled(x, g, mode, padding, a) for a in (False, True)], image, grid)
for mode in ["bilinear", "nearest"]:
    case(f"grid of volumes {mode}", lambda x, g: [sampled(x, g, mode, p, False) for p in ("zeros", "border", "reflection")],
         numbers(1, 2, 3, 4, 2), numbers(1, 2, 2, 1, 3, low=-1.5, high=1.5))

#===-- Boxes ----------------------------------------------------------------------------------===#
low = numbers(40, 2, low=0, high=6)
boxes = np.concatenate([low, low + numbers(40, 2, low=1, high=4)], 1)
scores = numbers(40, low=0, high=1)


def kept(b, s, threshold, least):
    found = torchvision.ops.nms(torch.from_numpy(b), torch.from_numpy(s), threshold).numpy()
    return found[s[found] > least].astype(np.int64)


case("boxes", lambda b, s: [kept(b, s, 0.5, 0), kept(b, s, 0.2, 0), kept(b, s, 0.5, 0.6)], boxes, scores)

pathlib.Path(__file__).with_name("expected.json").write_text("\n".join(lines) + "\n")
