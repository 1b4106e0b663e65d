"""Decimal digits and a power of ten -> the nearest float, or doubt where 64 bits do not decide.

The digits are multiplied by the first 64 bits of the power of ten. That leaves at least ten bits beyond those of a
float, and the error is a few units of the last: only a product that close to the middle between two floats is in doubt.
"""

import math

import numpy as np

from steelyard.voting.kernels.compilation import standalone

LARGEST = 270  # power of ten, also negative: results are normal floats
EXACT = 22  # largest power of ten that is a float
EXACT_DIGITS = 1 << 53  # whole numbers up to here are floats
HALF, LOW = np.uint64(32), np.uint64(0xFFFFFFFF)
ONE, TOP, DROPPED = np.uint64(1), np.uint64(63), np.uint64(10)
STEPS = np.array([32, 16, 8, 4, 2, 1], np.uint64)
LIMITS = np.array([1 << (64 - step) for step in (32, 16, 8, 4, 2, 1)], np.uint64)
TENS = np.array([float(10**power) for power in range(EXACT + 1)])
SMALLEST_TWO = -1060
TWOS = np.array([math.ldexp(1.0, power) for power in range(SMALLEST_TWO, 1000)])


def _first_bits(power: int) -> tuple[int, int]:
    """Return the first 64 bits of a power of ten, rounded down, and the power of two by which they are multiplied."""
    ten = 10 ** abs(power)
    length = ten.bit_length()
    if power < 0:
        return (1 << (length + 63)) // ten, -length - 63
    return (ten >> (length - 64) if length > 64 else ten << (64 - length)), length - 64


POWERS = np.array([_first_bits(power)[0] for power in range(-LARGEST, LARGEST + 1)], np.uint64)
SCALES = np.array([_first_bits(power)[1] for power in range(-LARGEST, LARGEST + 1)], np.int64)


@standalone
def nearest_float(digits, power, cut):  # type: ignore[no-untyped-def]
    """Return the float nearest to digits * 10^power, or -1 in doubt.

    The digits are in 0 .. 10^18, the power is between -LARGEST and LARGEST. `cut` says that further digits follow;
    there are at least 18 then.
    """
    if digits <= EXACT_DIGITS and not cut and -EXACT <= power <= EXACT:
        return digits * TENS[power] if power >= 0 else np.divide(digits, TENS[-power])  # without an exception
    factor, scale = np.uint64(digits), SCALES[power + LARGEST] + 64
    for k in range(len(STEPS)):  # shift until the first bit is set
        step = STEPS[k] * np.uint64(factor < LIMITS[k])
        factor <<= step
        scale -= np.int64(step)
    product = upper_half(factor, POWERS[power + LARGEST])
    dropped = DROPPED + (product >> TOP)
    middle = ONE << (dropped - ONE)
    rest = product & ((ONE << dropped) - ONE)
    error = np.uint64(130 if cut else 2)  # 18 digits have 57 bits or more, so that one unit of them is 2^7 or less
    if rest <= middle and rest + error > middle:
        return -1.0
    mantissa = (product >> dropped) + np.uint64(rest > middle)
    return np.float64(np.int64(mantissa)) * TWOS[scale + np.int64(dropped) - SMALLEST_TWO]


@standalone
def upper_half(one, other):  # type: ignore[no-untyped-def]
    """Return the upper 64 bits of the product of two 64-bit numbers."""
    low, high, other_low, other_high = one & LOW, one >> HALF, other & LOW, other >> HALF
    first, second = low * other_high, high * other_low
    carried = ((low * other_low) >> HALF) + (first & LOW) + (second & LOW)
    return high * other_high + (first >> HALF) + (second >> HALF) + (carried >> HALF)
