#!/usr/bin/env python3
"""Times what others need for the cases of `vnjit bench`, with PyTorch on one GPU.

stored:       F: torch.bmm on perturbed weights that already lie in memory. G: fitness times a
              noise matrix that does. R: the metric of noise that does.
materialised: the same after filling the noise tensor and, of F, adding it to the weights.

The F cases in bf16, F1-triton and G in fp32 with tf32 products, R in fp32. Times are medians of
CUDA events.
"""

import argparse
import statistics
import sys

# name: individuals P, batch B, in-features K, out-features N, layout of X
FORWARD = {
    "F1": (256, 128, 1024, 1024, "shared"),
    "F2": (64, 256, 4096, 4096, "shared"),
    "F3": (1024, 64, 784, 256, "shared"),
    "F4": (1024, 64, 512, 1536, "individual"),
    "F5": (8192, 1, 64, 64, "individual"),
    "F6": (4096, 16, 256, 256, "individual"),
    "F7": (16, 1024, 512, 128, "shared"),
    "F1-triton": (256, 128, 1024, 1024, "shared"),
}
# name: individuals P, shape of the weight
GRADIENT = {"G1": (256, "1024x1024"), "G2": (1024, "1536x512")}
# name: individuals P, parameters
REDUCE = {"R1": (1024, 1_000_000), "R2": (64, 50_000_000)}
CASES = {**FORWARD, **GRADIENT, **REDUCE}
SIGMA = 0.05
SHORT_RUN = 50e-6  # seconds; shorter runs are timed several in a row
SAMPLE = 200e-6  # seconds of several short runs


def fail(message):
    sys.exit(f"peers.py: {message}")


def load_torch(device):
    try:
        import torch
    except ImportError as error:
        fail(f"PyTorch is missing ({error}); use a Python that has torch with CUDA")
    if not torch.cuda.is_available():
        fail(f"PyTorch {torch.__version__} finds no CUDA GPU on this machine")
    if not 0 <= device < torch.cuda.device_count():
        fail(f"--device: there is no device {device}; there are {torch.cuda.device_count()}")
    torch.cuda.set_device(device)
    torch.backends.cuda.matmul.allow_tf32 = True
    return torch


def sample(torch, run, samples, runs):
    """Median seconds of one run, of samples of `runs` runs in a row, without pauses."""
    events = [torch.cuda.Event(enable_timing=True) for _ in range(samples + 1)]
    events[0].record()
    for event in events[1:]:
        for _ in range(runs):
            run()
        event.record()
    events[-1].synchronize()
    times = [first.elapsed_time(last) * 1e-3 for first, last in zip(events, events[1:])]
    return statistics.median(times) / runs


def measure(torch, run, seconds):
    sample(torch, run, 1, 1)
    estimate = max(1e-6, sample(torch, run, 3, 3))
    runs = max(1, round(SAMPLE / estimate)) if estimate < SHORT_RUN else 1
    samples = min(1000, max(20, int(seconds / (estimate * runs))))
    sample(torch, run, max(3, samples // 5), runs)
    return sample(torch, run, samples, runs)


def forward(torch, kind, pop, batch, features, outputs, layout):
    options = {"dtype": torch.bfloat16 if kind == "bf16" else torch.float32, "device": "cuda"}
    if layout == "shared":
        x = torch.randn(batch, features, **options).expand(pop, batch, features)
    else:
        x = torch.randn(pop, batch, features, **options)
    weight = torch.randn(outputs, features, **options) * features**-0.5
    noise = torch.empty(pop, outputs, features, **options)
    perturbed = torch.empty_like(noise)
    y = torch.empty(pop, batch, outputs, **options)

    def stored():
        torch.bmm(x, perturbed.transpose(1, 2), out=y)

    def materialised():
        torch.rand(noise.shape, out=noise)
        torch.add(weight, noise, alpha=SIGMA, out=perturbed)
        torch.bmm(x, perturbed.transpose(1, 2), out=y)

    return stored, materialised


def gradient(torch, pop, shape):
    rows, columns = map(int, shape.split("x"))
    fitness = torch.randn(1, pop, device="cuda")
    noise = torch.empty(pop, rows * columns, device="cuda")
    result = torch.empty(1, rows * columns, device="cuda")

    def stored():
        torch.mm(fitness / (pop * SIGMA), noise, out=result)

    def materialised():
        torch.rand(noise.shape, out=noise)
        stored()

    return stored, materialised


def reduce(torch, pop, parameters):
    center = torch.randn(parameters, device="cuda")
    noise = torch.empty(pop, parameters, device="cuda")
    perturbed = torch.empty_like(noise)
    metric = torch.empty(pop, device="cuda")

    def stored():
        torch.add(center, noise, alpha=SIGMA, out=perturbed)
        torch.mean(perturbed.abs_(), dim=1, out=metric)

    def materialised():
        torch.rand(noise.shape, out=noise)
        stored()

    return stored, materialised


def kind_of(name):
    if name in REDUCE:
        return "fp32"
    return "tf32" if name in GRADIENT or name == "F1-triton" else "bf16"


def operations(torch, name):
    """The two ways of a case, as functions without arguments."""
    if name in FORWARD:
        stored, materialised = forward(torch, kind_of(name), *FORWARD[name])
    elif name in GRADIENT:
        stored, materialised = gradient(torch, *GRADIENT[name])
    else:
        stored, materialised = reduce(torch, *REDUCE[name])
    materialised()
    return stored, materialised


def print_times(torch, names, seconds):
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, medians in ms")
    print(f"{'case':<10} {'type':<5} {'stored':>9} {'materialised':>13}")
    for name in names:
        stored, materialised = (measure(torch, run, seconds) for run in operations(torch, name))
        times = f"{stored * 1e3:>9.4f} {materialised * 1e3:>13.4f}"
        print(f"{name:<10} {kind_of(name):<5} {times}", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--case", action="append", choices=CASES, help="only this case; may be given again"
    )
    parser.add_argument("--device", type=int, default=0, help="number of the GPU")
    parser.add_argument("--repeat", type=float, default=0.3, help="seconds of measuring a time")
    parser.add_argument("--list", action="store_true", help="only print the sizes of the cases")
    arguments = parser.parse_args()
    names = arguments.case or list(CASES)
    if arguments.list:
        for name in names:
            print(name, *CASES[name])
        return
    print_times(load_torch(arguments.device), names, arguments.repeat)


if __name__ == "__main__":
    main()
