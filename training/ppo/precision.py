"""What the networks are computed in: bfloat16 where the processor has it, else float32."""

import contextlib
import math
from collections.abc import Iterator

import torch

from incunabula.envs.errors import IncunabulaError


def choose_device(name: str | None) -> torch.device:
    """The device of this name; None or "auto" is the processor.

    The networks are small: a GPU gains little and is used only when asked for.

    Raises IncunabulaError if there is no such device.
    """
    if name in (None, "auto"):
        return torch.device("cpu")
    try:
        device = torch.device(str(name))
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError):
        hint = "" if torch.cuda.is_available() else "; there is no CUDA device here"
        raise IncunabulaError(f"device: {name!r} can't be used{hint}; try cpu") from None
    return device


def has_bf16(device: torch.device) -> bool:
    """Whether the device multiplies bfloat16 matrices in hardware (elsewhere it is slow)."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    if device.type != "cpu":
        return False
    # Torch has no public question for this; where it can't be asked, float32 is the safe answer.
    checks = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(check() for name in checks if (check := getattr(torch.cpu, name, None)))


def choose_precision(wanted: str, device: torch.device) -> tuple[bool, str]:
    """Whether to use bfloat16, and a sentence that says what is used and why."""
    if wanted == "float32":
        return False, "float32"
    if has_bf16(device):
        return True, "bfloat16 in the networks, float32 in losses and optimiser"
    if wanted == "bf16":
        return True, f"bfloat16 as asked for, though this {device.type} computes it slowly"
    return False, f"float32 (this {device.type} has no bfloat16 arithmetic)"


@contextlib.contextmanager
def denormals_flushed() -> Iterator[None]:
    """Numbers next to 0, which are slow to compute with, count as 0 in this thread meanwhile; what
    the process computes afterwards is as it was before."""
    flushed = not math.nextafter(0.0, 1.0) > 0  # torch has no question for it
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(flushed)
