"""Writes the modules of test/interchange/stablehlo: functions that JAX lowers, their inputs and what JAX computes.

Made with JAX 0.10.2 and NumPy 2.4.6 on a CPU. The functions @inputs and @expected of a module give the tensors, and
@gradients the derivatives of the first result.

  python stablehlo_values.py test/interchange/stablehlo
"""

import os
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax

TYPES = {"float32": "f32", "int32": "i32", "uint32": "ui32", "bool": "i1", "complex64": "complex<f32>"}


def number(x):
    if isinstance(x, (bool, np.bool_)):
        return "true" if x else "false"
    if isinstance(x, complex) or np.iscomplexobj(x):
        return f"({number(x.real)}, {number(x.imag)})"
    if isinstance(x, (int, np.integer)):
        return str(x)
    if np.isnan(x):
        return "0x7FC00000"
    if np.isinf(x):
        return "0x7F800000" if x > 0 else "0xFF800000"
    return f"{float(x):.9e}"


def elements(x):
    if x.ndim == 0:
        return number(x[()])
    return "[" + ", ".join(elements(each) for each in x) + "]"


def type_of(x):
    return "tensor<" + "".join(f"{n}x" for n in x.shape) + TYPES[str(x.dtype)] + ">"


def function(name, arrays):
    arrays = [np.asarray(x) for x in arrays]
    types = [type_of(x) for x in arrays]
    lines = [f"  func.func public @{name}() -> ({', '.join(types)}) {{"]
    for i, (x, of) in enumerate(zip(arrays, types)):
        lines.append(f"    %{i} = stablehlo.constant dense<{elements(x) if x.size else ''}> : {of}")
    lines.append(f"    return {', '.join(f'%{i}' for i in range(len(arrays)))} : {', '.join(types)}\n  }}")
    return "\n".join(lines)


def write(folder, name, f, *arguments, gradients=None, text=None, generic=False):
    flat = [x for x in jax.tree.leaves(arguments)]
    raw = [jax.random.key_data(x) if jnp.issubdtype(x.dtype, jax.dtypes.prng_key) else x for x in flat]
    lowered = jax.jit(f).lower(*arguments)
    if generic:
        text = lowered.compiler_ir().operation.get_asm(print_generic_op_form=True)
    text = text or lowered.as_text()
    parts = [function("inputs", raw), function("expected", jax.tree.leaves(jax.jit(f)(*arguments)))]
    if gradients:
        parts.append(function("gradients", jax.tree.leaves(gradients)))
    if generic:
        end = text.rindex("})")
    else:
        end = text.rindex("}")
    with open(os.path.join(folder, name + ".mlir"), "w") as file:
        file.write(text[:end] + "\n".join(parts) + "\n" + text[end:])
    print(name, os.path.getsize(file.name))


def main(folder):
    rng = np.random.default_rng(54)
    draw = lambda *shape: jnp.asarray(rng.standard_normal(shape), jnp.float32)
    x = draw(4, 3)
    weights = [(draw(3, 5), draw(5)), (draw(5, 2), draw(2))]
    labels = jnp.array([0, 1, 1, 0])

    def mlp(weights, x):
        for w, b in weights[:-1]:
            x = jax.nn.relu(x @ w + b)
        w, b = weights[-1]
        return jax.nn.softmax(x @ w + b)

    def loss(weights, x):
        return -jnp.mean(jnp.log(mlp(weights, x))[jnp.arange(4), labels])

    def train(weights, x):
        value, slopes = jax.value_and_grad(loss)(weights, x)
        return value, jax.tree.map(lambda w, g: w - 0.1 * g, weights, slopes)

    write(folder, "mlp", mlp, weights, x)
    write(folder, "mlp-generic", mlp, weights, x, generic=True)
    write(folder, "loss", loss, weights, x, gradients=jax.grad(loss, argnums=(0, 1))(weights, x))
    write(folder, "train", train, weights, x)
    rows, = export.symbolic_shape("rows")
    open_sizes = export.export(jax.jit(mlp))(weights, jax.ShapeDtypeStruct((rows, 3), jnp.float32))
    write(folder, "open", mlp, weights, x, text=open_sizes.mlir_module().split("\n#loc1 ")[0])

    def convolutions(k, w, images):
        y = lax.conv_general_dilated(images, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        y = lax.reduce_window(jax.nn.relu(y), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        y = lax.conv_general_dilated(y.transpose(0, 3, 1, 2), w, (2, 2), "SAME", feature_group_count=2)
        return y.mean((2, 3))

    images, k, w = draw(2, 4, 4, 3), draw(3, 3, 3, 4), draw(6, 2, 3, 3)
    write(folder, "convolutions", convolutions, k, w, images)
    write(folder, "convolutions-gradient", jax.grad(lambda *a: (convolutions(*a) ** 2).sum(), argnums=(0, 1, 2)), k, w, images)

    def block(embedding, projection, out, ids):
        h = embedding[ids]
        h = (h - h.mean(-1, keepdims=True)) * lax.rsqrt(h.var(-1, keepdims=True) + 1e-5)
        q, k, v = jnp.moveaxis((h @ projection).reshape(2, 3, 3, 2, 2), 2, 0)
        scores = jnp.where(jnp.tril(jnp.ones((3, 3), bool)), jnp.einsum("bqhd,bkhd->bhqk", q, k) / 2.0, -1e9)
        y = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(2, 3, -1)
        return jax.nn.gelu(y @ out), jnp.argmax(y, -1)

    write(folder, "block", block, draw(6, 4), draw(4, 12), draw(4, 4), jnp.array([[1, 5, 0], [2, 2, -1]]))

    write(folder, "scan", lambda xs: lax.scan(lambda c, x: (c * 0.9 + x, c * x), jnp.zeros(3), xs), draw(7, 3))
    write(folder, "loops", lambda x: (lax.fori_loop(0, 10, lambda i, a: a + i * x, x),
                                      lax.while_loop(lambda a: jnp.sum(a) < 100.0, lambda a: a * 2, jnp.abs(x))), x)
    write(folder, "branches", lambda i, x: (lax.cond(x.sum() > 0, lambda x: x * 2, lambda x: -x, x),
                                            lax.switch(i, [lambda x: x * 2, lambda x: -x, jnp.sin], x)), jnp.int32(1), x)
    odd = jnp.array([[3.0, -0.0, jnp.nan, 0.0, -jnp.inf, 2.0, jnp.inf]], jnp.float32)
    write(folder, "sort", lambda x, odd: (jnp.sort(x, axis=0), jnp.argsort(x, axis=1), jnp.sort(odd),
                                          lax.sort((jnp.round(x), x), num_keys=2, dimension=0), lax.top_k(x, 2)), x, odd)
    write(folder, "random", lambda k: (jax.random.uniform(k, (3,)), jax.random.normal(k, (2, 2))),
          jax.random.key(7))
    write(folder, "bits", lambda state: [lax.rng_bit_generator(state, shape, dtype=jnp.uint32,
                                                              algorithm=lax.RandomAlgorithm.RNG_THREE_FRY)
                                       for shape in [(5,), (3, 3), (2, 4)]],
          jnp.array([1, 2, 3, 4], jnp.uint32))
    write(folder, "cumulative", lambda x: (jnp.cumsum(x, 0), jnp.cumprod(x, 1), lax.cummax(x), jnp.median(x)), x)
    write(folder, "indices", lambda x, i: (x.at[i].add(1.0), x.at[i, 1].set(5.0), x.at[:, i].max(0.5), x.at[i].mul(x[:2]),
                                           x.at[9].set(0.0), lax.dynamic_slice(x, (i[0], 1), (2, 2)), jnp.take(x, i, 0)),
          x, jnp.array([2, -1]))
    square = draw(3, 3)
    write(folder, "algebra", lambda a, b: (jnp.linalg.cholesky(a @ a.T + jnp.eye(3)), jnp.linalg.solve(a, b), jnp.linalg.inv(a),
                                           jnp.linalg.det(a), jnp.linalg.eigvalsh(a + a.T), jnp.linalg.svd(a, compute_uv=False),
                                           jnp.abs(jnp.linalg.qr(b)[1])), square, draw(3, 3))
    write(folder, "special", lambda x: (jax.scipy.special.erf(x), jax.scipy.special.gammaln(x), jax.scipy.special.digamma(x),
                                        jax.scipy.special.erfinv(x / 4), jnp.fft.rfft(x), jnp.fft.fft2(x).real, jnp.sinh(x),
                                        jnp.round(x), x % 0.3, jnp.arctan2(x, 1 - x)), x)


main(sys.argv[1])
