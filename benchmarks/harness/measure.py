"""Runs a workload: each proxy is warmed up, then they take turns, round by round."""

import statistics

PEER_NAMES = ("nginx", "haproxy", "envoy", "squid", "tinyproxy")


def is_peer(name):
    """Whether somebody else's proxy is called so, be it with a size."""
    return name.partition(",")[0] in PEER_NAMES


def rounds_of(workload, machine, contestants, options):
    """The samples of each proxy by its name."""
    workload.prepare(machine, contestants, options.duration)
    for proxy in contestants:
        several = getattr(options, "spells", 3)
        warmup = options.warmup if several == 1 or not is_peer(proxy.name) else min(2, options.warmup)
        for seconds in spells(warmup, several):
            workload.warm_up(machine, proxy, seconds)
    samples = {proxy.name: [] for proxy in contestants}
    for _ in range(workload.rounds or options.rounds):
        if hasattr(workload, "begin_round"):
            workload.begin_round(machine, options.duration)
        for proxy in contestants:
            samples[proxy.name].append(workload.sample(machine, proxy, options.duration))
    return samples


def spells(seconds, count=3):
    """Parts of a warm-up. When a load ends, its connections do, which a JVM has not seen before and compiles anew for."""
    return [part for i in range(count) if (part := seconds // count + (seconds % count > i))]


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
