"""The equations of a heart muscle cell for many cells at once, in double precision.

Membrane currents, calcium and its buffers: Shannon et al., "A mathematical treatment of integrated Ca dynamics within
the ventricular myocyte" (2004). Calmodulin, calcineurin and the kinase CaMKII in three compartments: Saucerman and
Bers, "Calmodulin mediates differential sensitivity of CaMKII and calcineurin to local Ca2+ in cardiac myocytes" (2008).
Concentrations are in mM, with calmodulin in uM; potentials in mV, times in ms, currents in uA / uF.
"""

from __future__ import annotations

import numpy as np
from numpy import exp, log

from warpreg.workloads.workload import Array

EQUATIONS = 91
COMPARTMENT = 15

(M, H, J, D, F, FCA_J, FCA_SL, XTOS, YTOS, XTOF, YTOF, XKR, XKS, RYR_R, RYR_O, RYR_I, NAB_J, NAB_SL) = range(18)
(TNCL, TNCHC, TNCHM, CAM, MYOC, MYOM, SRB, SLL_J, SLL_SL, SLH_J, SLH_SL, CSQN, CA_SR, NA_J, NA_SL, NA_I) = range(18, 34)
(K_I, CA_J, CA_SL, CA_I, V, RTOS, SPARE_1, SPARE_2, CA_L, CA_PUMP, CA_EXCHANGED, CA_LEAKED, DYAD) = range(34, 47)
SARCOLEMMA, CYTOSOL = DYAD + COMPARTMENT, DYAD + 2 * COMPARTMENT

FARADAY = 96485.0
PER_VOLT = FARADAY / 8314.0 / 310.0
CAPACITY = 1.3810e-10
CELL = 3.1416 * 10.25**2 * 100 * 1e-15
MYOPLASM, RETICULUM = 0.65 * CELL, 0.035 * CELL
OUTER = np.array([[0.0539 * 0.01], [0.02]]) * CELL
"""Volumes of the junction and the space below the membrane, in litres."""
SHARE = np.array([[0.11], [0.89]])
CAL_SHARE = np.array([[0.9], [0.1]])
SLOW_BUFFER = np.array([[4.62e-3 * 0.1], [37.38e-3]]) * MYOPLASM / OUTER
FAST_BUFFER = np.array([[1.65e-3 * 0.1], [13.35e-3]]) * MYOPLASM / OUTER
NA_BUFFER = np.array([[7.561], [1.65]])
K_OUT, NA_OUT, CA_OUT, CL_IN, CL_OUT = 5.4, 140.0, 1.8, 15.0, 150.0


def sodium_gates(v: Array) -> tuple[Array, Array]:
    """Opening and closing rates of the gates m, h and j of the fast sodium current: two of [3, cells], per ms."""
    high = v >= -40
    opening = [
        0.32 * (v + 47.13) / (1 - exp(-0.1 * (v + 47.13))),
        np.where(high, 0, 0.135 * exp((80 + v) / -6.8)),
        np.where(
            high,
            0,
            (-127140 * exp(0.2444 * v) - 3.474e-5 * exp(-0.04391 * v)) * (v + 37.78) / (1 + exp(0.311 * (v + 79.23))),
        ),
    ]
    closing = [
        0.08 * exp(-v / 11),
        np.where(high, 1 / (0.13 * (1 + exp(-(v + 10.66) / 11.1))), 3.56 * exp(0.079 * v) + 3.1e5 * exp(0.35 * v)),
        np.where(
            high,
            0.3 * exp(-2.535e-7 * v) / (1 + exp(-0.1 * (v + 32))),
            0.1212 * exp(-0.01052 * v) / (1 + exp(-0.1378 * (v + 40.14))),
        ),
    ]
    return np.stack(opening), np.stack(closing)


GATES = (XKR, XKS, XTOS, YTOS, RTOS, XTOF, YTOF, D, F)


def other_gates(v: Array) -> tuple[Array, Array]:
    """Steady states and time constants, in ms, of the gates of `GATES`: two of [9, cells]."""
    x_to, y_to = 1 / (1 + exp(-(v + 3) / 15)), 1 / (1 + exp((v + 33.5) / 10))
    d = 1 / (1 + exp(-(v + 14.5) / 6))
    f = 1 / (1 + exp((v + 35.06) / 3.6)) + 0.6 / (1 + exp((50 - v) / 20))
    steady = [1 / (1 + exp(-(v + 50) / 7.5)), 1 / (1 + exp(-(v - 1.5) / 16.7)), x_to, y_to, y_to, x_to, y_to, d, f]
    kr = 0.00138 * (v + 7) / (1 - exp(-0.123 * (v + 7))) + 6.1e-4 * (v + 10) / (exp(0.145 * (v + 10)) - 1)
    ks = 7.19e-5 * (v + 30) / (1 - exp(-0.148 * (v + 30))) + 1.31e-4 * (v + 30) / (exp(0.0687 * (v + 30)) - 1)
    constants = [
        1 / kr,
        1 / ks,
        9 / (1 + exp((v + 3) / 15)) + 0.5,
        3e3 / (1 + exp((v + 60) / 10)) + 30,
        2800 / (1 + exp((v + 60) / 10)) + 220,
        3.5 * exp(-((v / 30) ** 2)) + 1.5,
        20 / (1 + exp((v + 33.5) / 10)) + 20,
        d * (1 - exp(-(v + 14.5) / 6)) / (0.035 * (v + 14.5)),
        1 / (0.0197 * exp(-((0.0337 * (v + 14.5)) ** 2)) + 0.02),
    ]
    return np.stack(steady), np.stack(constants)


def potassium_current(y: Array) -> Array:
    """All potassium currents but those of the pump and through the calcium channel: [cells]."""
    v, k = y[V], y[K_I]
    drive = v - log(K_OUT / k) / PER_VOLT
    rapid = 0.03 * y[XKR] / (1 + exp((v + 33) / 22.4)) * drive
    pca = 3 - np.log10(y[CA_J : CA_SL + 1])
    slow_drive = v - log((K_OUT + 0.01833 * NA_OUT) / (k + 0.01833 * y[NA_I])) / PER_VOLT
    slow = (SHARE * 0.07 * (0.057 + 0.19 / (1 + exp((pca - 7.2) / 0.6)))).sum(axis=0) * y[XKS] ** 2 * slow_drive
    plateau = 0.001 / (1 + exp(7.488 - v / 5.98)) * drive
    outward = (0.06 * y[XTOS] * (y[YTOS] + 0.5 * y[RTOS]) + 0.02 * y[XTOF] * y[YTOF]) * drive
    a = 1.02 / (1 + exp(0.2385 * (drive - 59.215)))
    b = 0.49124 * exp(0.08032 * (drive + 5.476)) + exp(0.06175 * (drive - 594.31))
    b = b / (1 + exp(-0.5143 * (drive + 4.753)))
    total: Array = rapid + slow + plateau + outward + 0.9 * a / (a + b) * drive
    return total


def exchanger_current(y: Array) -> Array:
    """Sodium against calcium, at the junction and elsewhere: [2, cells]."""
    na, ca = y[NA_J : NA_SL + 1], y[CA_J : CA_SL + 1]
    inward, outward = exp(0.35 * y[V] * PER_VOLT), exp(-0.65 * y[V] * PER_VOLT)
    bound = 3.59e-3 * NA_OUT**3 * (1 + (na / 12.29) ** 3) + 87.5**3 * ca + 12.29**3 * CA_OUT * (1 + ca / 3.59e-3)
    bound = (bound + (1.3 + CA_OUT) * na**3 + NA_OUT**3 * ca) * (1 + 0.27 * outward)
    current: Array = SHARE * 9 / (1 + (0.256e-3 / ca) ** 3) * (inward * na**3 * CA_OUT - outward * NA_OUT**3 * ca)
    current /= bound
    return current


def channel_currents(y: Array) -> tuple[Array, Array, Array]:
    """Calcium, sodium, both [2, cells], and potassium through the L-type calcium channel."""
    v = y[V]
    na, ca = y[NA_J : NA_SL + 1], y[CA_J : CA_SL + 1]
    once, twice = exp(v * PER_VOLT), exp(2 * v * PER_VOLT)
    open_channels = CAL_SHARE * 0.45 * y[D] * y[F] * (1 - y[FCA_J : FCA_SL + 1]) * v * FARADAY * PER_VOLT
    calcium = open_channels * 5.4e-4 * 4 * 0.341 * (ca * twice - CA_OUT) / (twice - 1)
    sodium = open_channels * 1.5e-8 * 0.75 * (na * once - NA_OUT) / (once - 1)
    potassium = open_channels.sum(axis=0) * 2.7e-7 * 0.75 * (y[K_I] * once - K_OUT) / (once - 1)
    return calcium, sodium, potassium


def reticulum(y: Array) -> tuple[Array, Array, Array, Array]:
    """Rates of the receptor's states, [3, cells], and calcium released, taken up and leaked, in mM / ms."""
    ca, store = y[CA_J], y[CA_SR]
    load = 15 - 14 / (1 + (0.45 / store) ** 2.5)
    resting, opened, inactive = y[RYR_R : RYR_I + 1]
    inhibited = 1 - resting - opened - inactive
    to_open = 10 / load * ca**2 * resting - 0.06 * opened
    to_inactive = 0.5 * load * ca * opened - 0.005 * inactive
    to_inhibited = 0.06 * inactive - 10 / load * ca**2 * inhibited
    to_resting = 0.005 * inhibited - 0.5 * load * ca * resting
    states = np.stack([to_resting - to_open, to_open - to_inactive, to_inactive - to_inhibited])
    forward, backward = (y[CA_I] / 0.246e-3) ** 1.787, (store / 1.7) ** 1.787
    uptake = 2.86e-4 * (forward - backward) / (1 + forward + backward)
    return states, 25 * opened * (store - ca), uptake, 5.348e-6 * (store - ca)


def buffer_rates(y: Array, rate: Array) -> tuple[Array, Array]:
    """Fills in the rates of all buffers; what binds in the cytosol, and in the two outer spaces, in mM / ms."""
    na, ca = y[NA_J : NA_SL + 1], y[CA_J : CA_SL + 1]
    rate[NAB_J : NAB_SL + 1] = 1e-4 * na * (NA_BUFFER - y[NAB_J : NAB_SL + 1]) - 1e-3 * y[NAB_J : NAB_SL + 1]
    free_troponin, free_myosin = 0.14 - y[TNCHC] - y[TNCHM], 0.14 - y[MYOC] - y[MYOM]
    rate[TNCL] = 32.7 * y[CA_I] * (0.07 - y[TNCL]) - 0.0196 * y[TNCL]
    rate[TNCHC] = 2.37 * y[CA_I] * free_troponin - 3.2e-5 * y[TNCHC]
    rate[TNCHM] = 3e-3 * free_troponin - 3.33e-3 * y[TNCHM]
    rate[MYOC] = 13.8 * y[CA_I] * free_myosin - 4.6e-4 * y[MYOC]
    rate[MYOM] = 0.0157 * free_myosin - 5.7e-5 * y[MYOM]
    rate[SRB] = 100 * y[CA_I] * (0.0171 - y[SRB]) - 0.06 * y[SRB]
    slow, fast = y[SLL_J : SLL_SL + 1], y[SLH_J : SLH_SL + 1]
    rate[SLL_J : SLL_SL + 1] = 100 * ca * (SLOW_BUFFER - slow) - 1.3 * slow
    rate[SLH_J : SLH_SL + 1] = 100 * ca * (FAST_BUFFER - fast) - 0.03 * fast
    rate[CSQN] = 100 * y[CA_SR] * (2.7 - y[CSQN]) - 65 * y[CSQN]
    return rate[TNCL : SRB + 1].sum(axis=0), rate[SLL_J : SLL_SL + 1] + rate[SLH_J : SLH_SL + 1]


def membrane_rates(time: float, y: Array, rate: Array, period: Array) -> None:
    """Fills in the first 46 rates; ``period`` is the time from one 5 ms pulse of current to the next, [cells]."""
    v, na, ca = y[V], y[NA_J : NA_SL + 1], y[CA_J : CA_SL + 1]
    opening, closing = sodium_gates(v)
    rate[M : J + 1] = opening * (1 - y[M : J + 1]) - closing * y[M : J + 1]
    steady, constants = other_gates(v)
    rate[list(GATES)] = (steady - y[list(GATES)]) / constants
    rate[FCA_J : FCA_SL + 1] = 1.7 * ca * (1 - y[FCA_J : FCA_SL + 1]) - 0.0119 * y[FCA_J : FCA_SL + 1]
    rate[RYR_R : RYR_I + 1], release, uptake, leak = reticulum(y)
    bound, bound_outside = buffer_rates(y, rate)

    drive = v - log(NA_OUT / na) / PER_VOLT
    fast = SHARE * (16 * y[M] ** 3 * y[H] * y[J] + 0.297e-3) * drive
    sigma = (np.exp(NA_OUT / 67.3) - 1) / 7
    turn = 1 / (1 + 0.1245 * exp(-0.1 * v * PER_VOLT) + 0.0365 * sigma * exp(-v * PER_VOLT))
    pump = SHARE * 1.90719 * turn * K_OUT / (1 + (11 / na) ** 4) / (K_OUT + 1.5)
    ca_l, na_l, k_l = channel_currents(y)
    exchanged = exchanger_current(y)
    expelled = SHARE * 0.0673 * ca**1.6 / (0.5e-3**1.6 + ca**1.6)
    background = SHARE * 2.513e-4 * (v - log(CA_OUT / ca) / PER_VOLT / 2)
    chloride = ((SHARE * 0.109625 / (1 + 0.1 / ca)).sum(axis=0) + 9e-3) * (v - np.log(CL_IN / CL_OUT) / PER_VOLT)

    sodium = fast + 3 * exchanged + 3 * pump + na_l
    calcium = ca_l + background + expelled - 2 * exchanged
    potassium = potassium_current(y) - 2 * pump.sum(axis=0) + k_l
    pulse = np.where(np.fmod(time, period) <= 5, 9.5, 0)
    rate[V] = pulse - (sodium.sum(axis=0) + chloride + calcium.sum(axis=0) + potassium)

    to_mm = CAPACITY / (MYOPLASM * 2 * FARADAY) * 1e3
    sums = [current.sum(axis=0) for current in (-ca_l, -expelled, 2 * exchanged, -background)]
    rate[CA_L : CA_LEAKED + 1] = to_mm * np.stack(sums)

    rate[CA_SR] = (uptake - leak) * MYOPLASM / RETICULUM - release - rate[CSQN]
    rate[NA_J : NA_SL + 1] = -sodium * CAPACITY / (OUTER * FARADAY) - rate[NAB_J : NAB_SL + 1]
    rate[CA_J : CA_SL + 1] = -calcium * CAPACITY / (OUTER * 2 * FARADAY) - bound_outside
    rate[CA_J] += (release * RETICULUM + leak * MYOPLASM) / OUTER[0]
    rate[CA_I] = -uptake - bound
    for species, inner, outer in ((NA_J, 3 / 1.6382e14, 3 / 1.8308e12), (CA_J, 1 / 1.2134e12, 1 / 2.68510e11)):
        cytosol = NA_I if species == NA_J else CA_I
        inwards, onwards = inner * (y[species] - y[species + 1]), outer * (y[species + 1] - y[cytosol])
        rate[species] -= inwards / OUTER[0]
        rate[species + 1] += (inwards - onwards) / OUTER[1]
        rate[cytosol] += onwards / MYOPLASM


def calmodulin_rates(y: Array, rate: Array, parameters: Array, ca: Array) -> Array:
    """Fills in the 15 rates of a compartment with ``ca`` uM of calcium; the calcium it gives, in uM / ms.

    ``parameters``: totals of buffer, kinase, calcineurin and phosphatase, [4, cells].
    """
    free, half, full, free_b, half_b, full_b, p_b2, p_b, p_t, p_t2, p_a, can, can0, can2, can4 = y
    buffer, kinase, calcineurin, phosphatase = parameters
    k02 = 10 / (0.0025 * (1 + 135 / 0.94 - 1 / 0.012) * (1 + 135 / 8.1 + 1 / 0.022)) * ca**2
    k24 = 500 / (0.128 * (1 + 135 / 0.64 + 1 / 0.0014) * (1 + 135 / 13 - 1 / 0.153)) * ca**2
    b = buffer - free_b - half_b - full_b
    r02, r24 = k02 * free - 10 * half, k24 * half - 500 * full
    r02b, r24b = k02 * free_b - 0.1 * half_b, k24 * half_b - 500 * full_b
    r0b, r2b, r4b = (
        0.007 * c * b - off * cb
        for c, cb, off in ((free, free_b, 0.0014), (half, half_b, 0.000014), (full, full_b, 0.000014))
    )
    can_free = calcineurin - can - can0 - can2 - can4
    r_can = 2 * ca**2 * can_free - can
    r02c, r24c = k02 * can0 - 10 / 165 * can2, k24 * can2 - 10 / 2508 * can4
    r0c, r2c, r4c = (
        46 * c * can - off * cc
        for c, cc, off in ((free, can0, 0.0013 * 2508 * 165), (half, can2, 0.0013 * 2508), (full, can4, 0.0013))
    )

    on = 2.2 / 33.5e-3
    idle = 1 - p_b2 - p_b - p_t - p_t2 - p_a
    active = p_b + p_t + p_t2 + p_a
    r_ib2, r_ib = on * half * idle - 5 * on * p_b2, on * full * idle - 2.2 * p_b
    r_b2b = k24 * p_b2 - 500 * 33.5e-3 / 5 * p_b
    loss_t, loss_t2, loss_a = (1.72 * phosphatase * p / (11.5 + kinase * p) for p in (p_t, p_t2, p_a))
    r_bt = (0.055 * active + 0.0074 * active**2 + 0.015 * active**3) * p_b - loss_t
    r_tt2 = 500 * 33.5e-6 / 5 * p_t - k24 * p_t2
    r_ta, r_t2a = 2.2e-3 * p_t - on * full * p_a, 5 * on * p_t2 - on * half * p_a

    rate[:] = 1e-3 * np.stack(
        [
            -r02 - r0b - r0c,
            r02 - r24 - r2b - r2c + kinase * (r_t2a - r_ib2),
            r24 - r4b - r4c + kinase * (r_ta - r_ib),
            r0b - r02b,
            r02b + r2b - r24b,
            r24b + r4b,
            r_ib2 - r_b2b + loss_t2,
            r_ib + r_b2b - r_bt,
            r_bt - r_ta - r_tt2,
            r_tt2 - r_t2a - loss_t2,
            r_ta + r_t2a - loss_a,
            r_can - r0c - r2c - r4c,
            r0c - r02c,
            r2c + r02c - r24c,
            r4c + r24c,
        ]
    )
    given: Array = 2e-3 * (kinase * (r_tt2 - r_b2b) - (r02 + r24 + r02b + r24b + r_can + r02c + r24c))
    return given


def rates(time: float, y: Array, parameters: Array) -> Array:
    """The rates of change of all states per ms: float64[91, cells], of states [91, cells], parameters [16, cells]."""
    rate = np.zeros_like(y)
    membrane_rates(time, y, rate, parameters[0])
    for number, (first, ca) in enumerate(((DYAD, CA_J), (SARCOLEMMA, CA_SL), (CYTOSOL, CA_I))):
        part = slice(first, first + COMPARTMENT)
        totals = parameters[5 * number + 2 : 5 * number + 6]
        rate[ca] += 1e-3 * calmodulin_rates(y[part], rate[part], totals, 1e3 * y[ca])

    dyad = y[DYAD:SARCOLEMMA]
    total = dyad[:6].sum(axis=0) + parameters[3] * dyad[6:10].sum(axis=0) + dyad[12:].sum(axis=0)
    near, far = y[SARCOLEMMA : SARCOLEMMA + 3], y[CYTOSOL : CYTOSOL + 3]
    off = np.array([[0.0014], [0.000014], [0.000014]])
    inner = 1e-3 * (off * dyad[:3] - 0.007 * (parameters[2] - total) * near)
    outer = 8.587e-15 * (near - far)
    rate[DYAD : DYAD + 3] -= inner
    rate[SARCOLEMMA : SARCOLEMMA + 3] += inner * 1.7790e-14 / 6.6013e-13 - outer / 6.6013e-13
    rate[CYTOSOL : CYTOSOL + 3] += outer / 2.1454e-11
    return rate
