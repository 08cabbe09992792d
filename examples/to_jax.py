"""Calls a module that Calque has written, by save_stablehlo, as a function of JAX's.

    predict = load("predict.mlir")
    probabilities, = predict(weights, bias, points)

The function may be called in jax.jit like any other. Sizes that the module leaves open are those of the arguments.
"""
import re

import jax
import jax.extend
import jax.numpy as jnp
import numpy
from jax.interpreters import mlir

DTYPES = {"i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "ui8": "uint8", "ui16": "uint16",
          "ui32": "uint32", "ui64": "uint64", "f16": "float16", "bf16": jnp.bfloat16, "f32": "float32",
          "f64": "float64"}


def aval_of(kind):
    """The shape and the element type of "tensor<2x3xf32>"."""
    *sizes, element = re.fullmatch("tensor<(.*)>", str(kind)).group(1).split("x")
    return jax.core.ShapedArray(tuple(map(int, sizes)), numpy.dtype(DTYPES[element]))


def specialised(text, given):
    """The text with the types of these arguments, in which all sizes are known, as bytecode."""
    head = re.search(r"func.func public @main\((.*)\) -> \((.*)\) \{\n", text)
    known = re.compile(r" \{jax\.(arg|result)_info = \"[^\"]*\"\}")
    arguments, results = known.sub("", head.group(1)), known.sub("", head.group(2))
    open_types = re.findall(r"tensor<[^>]*>", arguments)
    types = ["tensor<" + "".join(f"{n}x" for n in x.shape) + re.sub(r"^tensor<([?\d]+x)*", "", old)
             for x, old in zip(given, open_types)]
    lines, values = [], []
    for i, (new, old) in enumerate(zip(types, open_types)):
        lines.append(f"    %c{i} = stablehlo.convert %arg{i} : ({new}) -> {old}\n" if new != old else "")
        values.append(f"%c{i}" if new != old else f"%arg{i}")
    names = [f"%r#{i}" for i in range(results.count("tensor<"))]
    main = ("  func.func public @main(" + ", ".join(f"%arg{i}: {each}" for i, each in enumerate(types)) +
            f") -> ({results}) {{\n" + "".join(lines) + f"    %r:{len(names)} = func.call @opened(" +
            ", ".join(values) + f") : ({', '.join(open_types)}) -> ({results})\n    return " + ", ".join(names) +
            f" : {results}\n  }}\n")
    text = text.replace("func.func public @main(", "func.func private @opened(", 1)
    text = text[:text.rindex("}")] + main + "}\n"
    with mlir.make_ir_context():
        return jax.extend.mlir.refine_polymorphic_shapes(mlir.module_to_bytecode(mlir.ir.Module.parse(text)))


def lowered(context, *operands, module, results):
    """Puts the functions of a module among those of what JAX compiles, and calls its main."""
    with context.module_context.module.context:
        other = mlir.ir.Module.parse(module)
        name = mlir.merge_mlir_modules(context.module_context.module, "calque_main", other)
        types = [mlir.ir.Type.parse(each) for each in results]
        attributes = {"callee": mlir.ir.FlatSymbolRefAttr.get(name)}
        return mlir.ir.Operation.create("func.call", results=types, operands=operands, attributes=attributes).results


call = jax.extend.core.Primitive("calque")
call.multiple_results = True
call.def_abstract_eval(lambda *arguments, module, results: [aval_of(each) for each in results])
mlir.register_lowering(call, lowered)


def load(path):
    """The function of a module, which gives a list of arrays."""
    with open(path) as file:
        text = file.read()
    made = {}

    def function(*arguments):
        given = [jnp.asarray(x) for x in arguments]
        key = tuple((x.shape, x.dtype) for x in given)
        if key not in made:
            module = specialised(text, given)
            with mlir.make_ir_context():
                main = next(op for op in mlir.ir.Module.parse(module).body.operations if op.name.value == "main")
                made[key] = module, tuple(str(each) for each in main.function_type.value.results)
        module, results = made[key]
        return jax.jit(lambda *x: call.bind(*x, module=module, results=results))(*given)

    return function
