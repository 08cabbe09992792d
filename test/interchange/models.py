"""Compares models that others made with ONNX Runtime: results, the time of a call, and what loading takes.

    models.py make FOLDER [MODEL...]                       exports models from packages, with random weights
    models.py compare CALQUE-ONNX-MEASURE FOLDER [MODEL...]

`make` takes the packages torch, torchvision, transformers and skl2onnx; a model whose packages are missing is left out
with a message. `compare` takes numpy and onnxruntime. Both are run by hand: exporting takes minutes.
"""
import json
import os
import pathlib
import subprocess
import sys
import time

SEED, SECONDS = 0, 3


def torch_model(make, inputs, names, dynamic=None):
    def export(path):
        import torch
        torch.manual_seed(SEED)
        model, given = make(), inputs()
        with torch.no_grad():
            for each in model.parameters(): # what begins at 0 would hide what comes before
                if not each.any():
                    each.normal_(0, 0.02)
            for each in model.modules():
                if hasattr(each, "running_mean"):
                    each.momentum = None # the mean of all batches
            for _ in range(2 if any(hasattr(each, "running_mean") for each in model.modules()) else 0):
                model(torch.randn(4, *given[0].shape[1:]))
        model.eval()
        torch.onnx.export(model, given, str(path), input_names=names, opset_version=17, dynamo=False, dynamic_axes=dynamic)
        return {name: x.numpy() for name, x in zip(names, given)}
    return export


def vision(name):
    def make():
        import torchvision
        return getattr(torchvision.models, name)(weights=None)

    def inputs():
        import torch
        return (torch.randn(1, 3, 224, 224),)
    return torch_model(make, inputs, ["image"])


def language(config, kind, **sizes):
    def make():
        import torch
        import transformers
        model = getattr(transformers, kind)(getattr(transformers, config)(**sizes, attn_implementation="eager", use_cache=False))

        class Logits(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.model = model

            def forward(self, ids):
                return self.model(input_ids=ids, attention_mask=torch.ones_like(ids))[0]
        return Logits()

    def inputs():
        import torch
        return (torch.randint(0, 1000, (1, 64)),)
    return torch_model(make, inputs, ["ids"])


def pipeline(path):
    import numpy
    import skl2onnx
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    random = numpy.random.default_rng(SEED)
    x = random.standard_normal((500, 20)).astype("float32")
    y = numpy.sin(x).sum(1)
    model = make_pipeline(StandardScaler(), MLPRegressor(hidden_layer_sizes=(64, 64), max_iter=50, random_state=SEED)).fit(x, y)
    made = skl2onnx.to_onnx(model, x[:1], target_opset=17)
    path.write_bytes(made.SerializeToString())
    return {made.graph.input[0].name: x[:64]}


MODELS = {
    "resnet18": vision("resnet18"),
    "mobilenet_v3": vision("mobilenet_v3_small"),
    "efficientnet_b0": vision("efficientnet_b0"),
    "vit_b_16": vision("vit_b_16"),
    "bert": language("BertConfig", "BertModel", hidden_size=256, num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024),
    "gpt2": language("GPT2Config", "GPT2LMHeadModel", n_embd=256, n_layer=4, n_head=4, vocab_size=8000),
    "llama": language("LlamaConfig", "LlamaForCausalLM", hidden_size=256, num_hidden_layers=4, num_attention_heads=4,
                      num_key_value_heads=2, intermediate_size=688, vocab_size=8000),
    "sklearn": pipeline,
}


def make(folder, names):
    import numpy
    for name in names or MODELS:
        try:
            inputs = MODELS[name](folder / f"{name}.onnx")
        except ImportError as missing:
            print(f"{name}: skipped: {missing}")
            continue
        except Exception as error:
            print(f"{name}: not exported: {type(error).__name__}: {str(error)[:300]}")
            continue
        for i, x in enumerate(inputs.values()):
            numpy.save(folder / f"{name}.in{i}.npy", x)
        print(f"{name}: made")


def of_runtime(path, threads, inputs):
    """The results of ONNX Runtime and the median time of its calls in milliseconds."""
    import numpy
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads, 1, 4
    start = time.perf_counter()
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    load = 1000 * (time.perf_counter() - start)
    given = {port.name: numpy.load(x) for port, x in zip(session.get_inputs(), inputs)}
    results, times, begin = session.run(None, given), [], time.perf_counter()
    while len(times) < 5 or time.perf_counter() - begin < SECONDS:
        start = time.perf_counter()
        session.run(None, given)
        times.append(1000 * (time.perf_counter() - start))
    return results, sorted(times)[len(times) // 2], load


def compare(measure, folder, names):
    import numpy
    faults = 0
    for name in names or [each.stem for each in sorted(folder.glob("*.onnx"))]:
        path = folder / f"{name}.onnx"
        inputs = sorted(folder.glob(f"{name}.in*.npy"))
        for threads in (2, 1):
            out = folder / f"{name}.calque"
            done = subprocess.run([measure, str(path), str(SECONDS), str(out), *map(str, inputs)], capture_output=True, text=True,
                                  env={**os.environ, "OMP_NUM_THREADS": str(threads), "CALQUE_CACHE": "off"})
            if done.returncode:
                print(f"{name}: {(done.stderr or done.stdout).strip()[:600]}")
                faults += 1
                break
            ours = json.loads(done.stdout)
            results, call, load = of_runtime(path, threads, inputs)
            worst = 0.0
            for i, expected in enumerate(results):
                got = numpy.load(f"{out}{i}.npy")
                if got.shape != expected.shape or got.dtype != expected.dtype:
                    worst = float("inf")
                elif expected.size:
                    difference = abs(got.astype("f8") - expected.astype("f8")) / (1 + abs(expected.astype("f8")))
                    worst = max(worst, float(difference.max()))
            faults += not worst <= 1e-4
            print(f"{name:16} threads {threads}  worst {worst:.1e}  call {ours['call']:.3f} ms, ONNX Runtime {call:.3f} ms, ratio "
                  f"{call / ours['call']:.2f}  load {ours['load']:.0f} ms + first call {ours['first']:.0f} ms, ONNX Runtime {load:.0f} ms"
                  f"  {ours['MiB']} MiB ({path.stat().st_size / 2**20:.0f} MiB file)", flush=True)
    return faults


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] == "make":
        target = pathlib.Path(sys.argv[2])
        target.mkdir(parents=True, exist_ok=True)
        make(target, sys.argv[3:])
    elif len(sys.argv) > 3 and sys.argv[1] == "compare":
        sys.exit(compare(sys.argv[2], pathlib.Path(sys.argv[3]), sys.argv[4:]) > 0)
    else:
        sys.exit(__doc__)
