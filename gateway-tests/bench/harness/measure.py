"""Runs a workload: each proxy is warmed up, then they take turns, round by round."""

import statistics

PEER_NAMES = ("nginx", "haproxy", "envoy", "squid", "tinyproxy")


def rounds_of(workload, machine, contestants, upstreams, options):
    """The samples of each proxy by its name."""
    workload.prepare(machine, contestants, options.duration)
    for proxy in contestants:
        jvm = proxy.name not in PEER_NAMES
        workload.warm_up(machine, proxy, options.warmup if jvm else min(2, options.warmup))
    samples = {proxy.name: [] for proxy in contestants}
    for _ in range(workload.rounds or options.rounds):
        if hasattr(workload, "begin_round"):
            workload.begin_round(machine, upstreams, options.duration)
        for proxy in contestants:
            samples[proxy.name].append(workload.sample(machine, proxy, options.duration))
    return samples


def median(samples, value):
    figures = [s[value] for s in samples if value in s]
    return statistics.median(figures) if figures else None


def valid_median(samples, value):
    """The median, or None if something went wrong: others are not to be compared with what only seems to be one."""
    return None if errors(samples) else median(samples, value)


def spread(samples, value):
    figures = [s[value] for s in samples if value in s]
    return (min(figures), max(figures)) if figures else None


def errors(samples):
    return sorted({e for s in samples for e in s["errors"]})
