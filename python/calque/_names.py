"""Names of NumPy and of the array API standard, for functions that have other names in C++."""
ALIASES = {
    "subtract": "sub", "multiply": "mul", "negative": "neg", "absolute": "abs", "power": "pow",
    "remainder": "mod", "std": "stddev", "permute_dims": "transpose", "flip": "reverse",
    "arctan": "atan", "arctan2": "atan2", "arcsin": "asin", "arccos": "acos", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "bitwise_invert": "bitwise_not", "invert": "bitwise_not", "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift", "concatenate": "concat", "cumulative_sum": "cumsum",
    "cumulative_prod": "cumprod", "astype": "cast", "array": "tensor", "unique_values": "unique", "bool": "bool_",
}
