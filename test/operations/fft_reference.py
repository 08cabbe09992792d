"""Prints FftReferences.inc, the numbers that FftTest.cpp compares with: fft_reference.py > FftReferences.inc

Made with NumPy 2.4.6 and SciPy 1.17.1. Complex numbers are pairs. Operands are those of numbers() and pairs() of the test.
"""
import itertools

import numpy as np
import scipy
import scipy.fft
import scipy.signal


def real(*shape):
    i = np.arange(int(np.prod(shape)))
    return (((7 * i * i + 3 * i + 1) % 23 - 11) / 4.0).reshape(shape)


def pairs(*shape):
    i = np.arange(int(np.prod(shape)))
    return real(*shape) + 1j * (((5 * i * i + 2 * i + 3) % 19 - 9) / 4.0).reshape(shape)


cases = {}
z, x = pairs(3, 6), real(3, 6)
for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    function, operand = getattr(np.fft, name), x if name in ("rfft", "ihfft") else z
    for n, axis, norm in ((None, -1, "backward"), (4, 0, "ortho"), (9, 1, "forward"), (5, -2, "backward"), (2, 1, "ortho")):
        cases[f"{name} {n} {axis} {norm}"] = function(operand, n, axis, norm)
z, x = pairs(2, 3, 4), real(2, 3, 4)
for name in ("fftn", "ifftn", "rfftn", "irfftn"):
    function, operand = getattr(np.fft, name), x if name == "rfftn" else z
    for i, (s, axes, norm) in enumerate(((None, None, "backward"), ([2, 5], [0, 1], "ortho"), ([3, 3], [-2, -1], "forward"), (None, [2, 0], "backward"))):
        cases[f"{name} {i}"] = function(operand, s, axes, norm)
for name in ("fft2", "ifft2", "rfft2", "irfft2"):
    cases[name] = getattr(np.fft, name)(x if name == "rfft2" else z)
cases["fftshift"], cases["ifftshift"] = np.fft.fftshift(x, (0, 1)), np.fft.ifftshift(x, (0, 1))
for n in (1, 4, 5):
    cases[f"fftfreq {n}"], cases[f"rfftfreq {n}"] = np.fft.fftfreq(n, 0.5), np.fft.rfftfreq(n, 0.5)
for name, kind, n, norm in itertools.product(("dct", "idct", "dst", "idst"), (1, 2, 3, 4), (2, 5, 6), ("backward", "ortho", "forward")):
    if norm == "backward" or n == 5:
        cases[f"{name} {kind} {n} {norm}"] = getattr(scipy.fft, name)(real(n), kind, norm=norm)
cases["dct axis"] = scipy.fft.dct(real(3, 4), 2, 5, 0)
for mode in ("full", "same", "valid"):
    cases[f"fftconvolve {mode}"] = scipy.signal.fftconvolve(real(5, 4), real(2, 3), mode)
    cases[f"fftconvolve {mode} complex"] = scipy.signal.fftconvolve(pairs(2, 7), pairs(2, 3), mode, axes=1)
for name, arguments in (("boxcar", ()), ("bartlett", ()), ("hann", ()), ("hamming", ()), ("blackman", ()), ("nuttall", ()), ("blackmanharris", ()),
                        ("flattop", ()), ("cosine", ()), ("gaussian", (1.5,)), ("tukey", (0.6,)), ("kaiser", (8.0,))):
    for n, sym in ((1, True), (6, True), (7, True), (6, False)):
        cases[f"{name} {n} {'sym' if sym else 'periodic'}"] = getattr(scipy.signal.windows, name)(n, *arguments, sym=sym)
signal = real(2, 21)
for name, options in (("plain", {}), ("overlap", {"noverlap": 5}), ("long", {"nfft": 11}), ("bare", {"boundary": None, "padded": False}),
                      ("hamming", {"window": scipy.signal.windows.hamming(8), "noverlap": 6})):
    _, _, spectra = scipy.signal.stft(signal, nperseg=8, **options)
    cases[f"stft {name}"] = spectra
    options.pop("padded", None)
    if options.pop("boundary", True) is None:
        options["boundary"] = False
        options["window"] = scipy.signal.windows.hamming(8)
        _, _, spectra = scipy.signal.stft(signal, nperseg=8, boundary=None, padded=False, window=options["window"])
        cases[f"stft {name}"] = spectra
    cases[f"istft {name}"] = scipy.signal.istft(spectra, nperseg=8, **options)[1]

print(f"// Made by fft_reference.py with NumPy {np.__version__} and SciPy {scipy.__version__}. Name, shape, numbers; complex ones are pairs.")
for name, value in cases.items():
    value = np.asarray(value)
    flat = value.ravel().view(np.float64) if np.iscomplexobj(value) else value.ravel()
    numbers = ", ".join(repr(float(f"{v:.15g}")) for v in flat)
    print(f'{{"{name}", {{{", ".join(map(str, value.shape))}}}, {{{numbers}}}}},')
