"""Waiting times that theory gives, and intervals around simulated means."""

import math

import numpy as np


def pollaczek_khinchine(rate_per_s, service_s, weights):
    """Mean wait of M/G/1 with that mixture of service times."""
    service, share = np.asarray(service_s), np.asarray(weights)
    load = rate_per_s * (service * share).sum()
    return rate_per_s * (service**2 * share).sum() / (2 * (1 - load))


def erlang_d1(phases, rate_per_s, service_s):
    """Mean wait of E_k/D/1 by Spitzer's identity, which is also M/D/k with one queue (Crommelin).

    E[W] = Σ (1/n)·E[(n·S − A_n)+], A_n the sum of n gaps: Gamma with n·k phases.
    """
    beta = phases * rate_per_s
    wait, n = 0.0, 1
    while True:
        shape, x = n * phases, n * service_s * beta
        # Poisson probabilities of fewer than `shape` and of `shape` events give the incomplete gammas.
        factorials = np.array([math.lgamma(events + 1) for events in range(shape + 1)])
        below = np.exp(np.arange(shape + 1) * math.log(x) - x - factorials).cumsum()
        term = n * service_s * (1 - below[shape - 1]) - shape / beta * (1 - below[shape])
        wait += term / n
        if term / n < 1e-10 * wait or n > 400:
            return wait
        n += 1


def mean_and_halfwidth(means):
    """Mean over seeds, and half a 99.9% interval (Student's t for 10 seeds)."""
    means = np.asarray(means)
    assert len(means) == 10
    return means.mean(), 4.78 * means.std(ddof=1) / math.sqrt(len(means))
