"""Tells what was measured: lines while it goes on, a table in Markdown, and results as JSON that later runs add to."""

import json
import os
import platform
import re
import subprocess

from . import charts, measure
from .workloads import WORKLOADS

NAMES = ("gateway", "nginx", "haproxy", "envoy", "squid", "tinyproxy")


def figure(value):
    if value is None:
        return "–"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def bound(target, samples, value):
    """The figure that a target allows, or None if no peer was measured without errors."""
    if not target.peers:
        return target.factor
    figures = [m for m in (measure.valid_median(samples.get(p, []), value) for p in target.peers) if m is not None]
    return target.factor * min(figures) if figures else None


def ours(samples, row):
    """The proxies that targets are for: all that are no peers, but not those that targets compare with."""
    compared = {p for t in row.targets for p in t.peers}
    return [name for name in samples if not measure.is_peer(name) and name not in compared]


def verdict(target, samples, row, name):
    limit = bound(target, samples, row.value)
    value = measure.median(samples[name], row.value)
    if measure.errors(samples[name]) or value is None:
        return "invalid"
    if limit is None or limit <= 0:  # by noise, a direct connection may seem slower than one through a proxy
        return "–"
    return "met" if value <= limit else f"missed ({figure(value / limit)} ×)"


def lines(workload, samples):
    """What to print of one workload."""
    for row in workload.rows:
        base = measure.valid_median(samples.get("nginx", []), row.value)
        for name, taken in samples.items():
            value, bad = measure.median(taken, row.value), measure.errors(taken)
            if value is None:
                yield f"{workload.name:18} {name:21} invalid: {'; '.join(bad)}"
                continue
            low, high = measure.spread(taken, row.value)
            ratio = f"{value / base:6.2f}" if base else "     –"
            text = f"{workload.name:18} {name:21} {figure(value):>8} {row.unit:20} {figure(low):>7}–{figure(high):<7} {ratio}"
            for key, unit in (("rate", "/s"), ("p50", "ms"), ("p99", "ms"), ("rss", "MiB")):
                got = measure.median(taken, key)
                text += f" {figure(got):>8} {unit}" if row is workload.rows[0] and got is not None else ""
            yield text + (f"  INVALID: {'; '.join(bad)}" if bad else "")
        for target in row.targets:
            for name in ours(samples, row):
                yield f"{'':18} {name:21} {target}: {verdict(target, samples, row, name)}"


def cell(samples, name, row):
    taken = samples.get(name)
    if not taken:
        return ""
    if measure.errors(taken) or measure.median(taken, row.value) is None:
        return "invalid"
    low, high = measure.spread(taken, row.value)
    return figure(measure.median(taken, row.value)) + (f" ({figure(low)}–{figure(high)})" if low != high else "")


def table(results):
    yield "| workload | unit | gateway | nginx | HAProxy | Envoy | squid, tinyproxy | ratio to nginx | target | |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for workload in WORKLOADS.values():
        samples = results["workloads"].get(workload.name, {}).get("samples")
        if not samples or workload.name == "scale" or "gateway" not in samples:
            continue
        for row in workload.rows:
            base = measure.valid_median(samples.get("nginx", []), row.value)
            value = measure.valid_median(samples["gateway"], row.value)
            ratio = f"{value / base:.2f}" if base and value is not None and "added" not in row.value else ""
            targets = ", ".join(str(t) for t in row.targets)
            verdicts = ", ".join(verdict(t, samples, row, "gateway") for t in row.targets)
            others = ", ".join(filter(None, (cell(samples, n, row) for n in ("squid", "tinyproxy"))))
            cells = [cell(samples, n, row) for n in NAMES[:4]]
            yield f"| {workload.name} | {row.unit} | {' | '.join(cells)} | {others} | {ratio} | {targets} | {verdicts} |"
    scale = results["workloads"].get("scale", {}).get("samples")
    if scale:
        row = WORKLOADS["scale"].rows[0]
        yield ""
        yield "| size | CPU, µs per request | ratio to the first of the same proxy | target | |"
        yield "|---|---|---|---|---|"
        for name in scale:
            first = measure.valid_median(scale[next(n for n in scale if measure.is_peer(n) == measure.is_peer(name))], row.value)
            value = measure.valid_median(scale[name], row.value)
            ratio = f"{value / first:.2f}" if value and first else ""
            wanted = name in ours(scale, row)
            yield (f"| {name} | {cell(scale, name, row)} | {ratio} | {row.targets[0] if wanted else ''} "
                   f"| {verdict(row.targets[0], scale, row, name) if wanted else ''} |")


def invalid(results):
    for name, workload in results["workloads"].items():
        for proxy, taken in workload["samples"].items():
            for error in measure.errors(taken):
                yield f"- {name}, {proxy}: {error}"


def machine_facts():
    model = re.search(r"model name\s*: (.*)", open("/proc/cpuinfo").read())
    versions = []
    for name, command in (("nginx", ["nginx", "-v"]), ("haproxy", ["haproxy", "-v"]),
                          ("envoy", [os.environ.get("ENVOY", "envoy"), "--version"]), ("squid", ["squid", "-v"])):
        try:
            out = subprocess.run(command, capture_output=True, text=True)
            found = re.search(r"\d+\.\d+\.\d+", out.stdout + out.stderr)
            versions += [f"{name} {found[0]}"] if found else []
        except OSError:
            pass
    return f"{os.cpu_count()} × {model[1].strip() if model else platform.machine()}, Linux {platform.release()}, {', '.join(versions)}"


def java_version():
    java = os.path.join(os.environ["JAVA_HOME"], "bin", "java") if os.environ.get("JAVA_HOME") else "java"
    out = subprocess.run([java, "-version"], capture_output=True, text=True).stderr
    found = re.search(r'version "([^"]+)"', out)
    return f"Java {found[1]}" if found else "an unknown JVM"


class Results:
    """What has been measured, in a directory that further runs add to."""

    def __init__(self, directory):
        self.directory = directory
        self.all = {"machine": machine_facts(), "workloads": {}}
        if directory:
            os.makedirs(directory, exist_ok=True)
            if os.path.exists(self.path("results.json")):
                self.all["workloads"] = json.load(open(self.path("results.json")))["workloads"]

    def path(self, name):
        return os.path.join(self.directory, name)

    def add(self, workload, samples, settings):
        self.all["workloads"][workload.name] = {"settings": settings, "samples": samples}
        self.write()

    def write(self):
        if not self.directory:
            return
        with open(self.path("results.json"), "w") as out:
            json.dump(self.all, out, indent=1)
        settings = sorted({w["settings"] for w in self.all["workloads"].values()})
        with open(self.path("report.md"), "w") as out:
            out.write(f"{self.all['machine']}\n\n" + "".join(f"- {s}\n" for s in settings) + "\n")
            out.write("\n".join(table(self.all)) + "\n")
            bad = list(invalid(self.all))
            if bad:
                out.write("\nInvalid for what went wrong under load:\n\n" + "\n".join(bad) + "\n")
        for name, picture in charts.draw(self.all["workloads"]).items():
            with open(self.path(f"{name}.svg"), "w") as out:
                out.write(picture)
