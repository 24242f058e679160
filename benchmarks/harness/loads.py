"""Load generators. Each returns what was done in how many seconds, how long it took, and what went wrong."""

import contextlib
import json
import os
import re
import subprocess
import threading
from dataclasses import dataclass, field

from . import upstreams


@dataclass
class Outcome:
    done: int = 0
    seconds: float = 0
    p50: float = 0  # seconds, as all quantiles
    p99: float = 0
    p999: float = 0
    errors: list = field(default_factory=list)
    more: dict = field(default_factory=dict)  # other figures, by name


def duration(text):
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s|m|h)", text).groups()
    return float(number) * {"us": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}[unit]


def wrk(machine, url, seconds, connections=64, fields=(), script=None):
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "--timeout", "10s"]
    for line in fields:
        command += ["-H", line]
    if script:
        command += ["-s", machine.write("load.lua", script)]
    code, text, errors = machine.load([*command, url], seconds)
    done = re.search(r"(\d+) requests in ([\d.]+\w+),", text)
    if code != 0 or not done:
        return Outcome(errors=[f"wrk: {(text + errors).strip()[-300:]}"])
    bad = re.findall(r"Non-2xx.*|Socket errors.*", text)
    quantile = lambda p: duration(re.search(rf"^\s+{p}%\s+(\S+)", text, re.M)[1])
    return Outcome(int(done[1]), duration(done[2]), quantile(50), quantile(99), 0, bad)


def wrk_real(machine, url, seconds):
    return wrk(machine, url, seconds, fields=upstreams.REAL_REQUEST)


def wrk_pipelined(machine, url, seconds):
    return wrk(machine, url, seconds, script="init = function() local r = {}; for i = 1, 16 do r[i] = wrk.format() end; "
               "batch = table.concat(r) end; request = function() return batch end")


def wrk_download(machine, url, seconds):
    return wrk(machine, url, seconds, connections=4)


def wrk_upload(machine, url, seconds):
    size = upstreams.SIZES["/upload"]
    return wrk(machine, url, seconds, connections=4, script=f'wrk.method = "POST"; wrk.body = string.rep("x", {size})')


def wrk_chunked(machine, url, seconds):
    size = upstreams.SIZES["/upload"]
    return wrk(machine, url, seconds, connections=4, script=f"""init = function()
  local path = wrk.path
  local chunk = string.format("%x\\r\\n%s\\r\\n", 16000, string.rep("x", 16000))
  local last = {size} % 16000
  local rest = last > 0 and string.format("%x\\r\\n%s\\r\\n", last, string.rep("x", last)) or ""
  whole = "POST " .. path .. " HTTP/1.1\\r\\nHost: localhost\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n"
    .. string.rep(chunk, math.floor({size} / 16000)) .. rest .. "0\\r\\n\\r\\n"
end
request = function() return whole end""")


def wrk_routes(machine, url, seconds, routes):
    """Goes round over the prefixes /r/0 to /r/n."""
    return wrk(machine, url, seconds, script=f"""local all, next = {{}}, 0
init = function() for i = 0, {routes - 1} do all[i] = wrk.format("GET", "/r/" .. (i * 7919 % {routes}) .. "/item") end end
request = function() next = (next + 1) % {routes}; return all[next] end""")


def h2load(machine, url, seconds, connections=16, streams=100, window=None, http1=False):
    log = machine.path("h2load.log")
    with contextlib.suppress(FileNotFoundError):
        os.remove(log)
    command = ["h2load", "-t1", f"-c{connections}", f"-m{streams}", "-D", str(seconds), "--log-file", log]
    if window:
        command += [f"-w{window}", f"-W{window + 4}"]
    if http1:
        command.append("--h1")
    code, text, errors = machine.load([*command, url], seconds)
    done = re.search(r"finished in ([\d.]+\w+), .*\nrequests: .* (\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout", text)
    statuses = re.search(r"status codes: (\d+) 2xx, (.*)", text)
    if code != 0 or not done or not statuses or int(done[2]) == 0:
        return Outcome(errors=[f"h2load: {(text + errors).strip()[-300:]}"])
    bad = [done[0].split("\n")[1]] if any(int(done[i]) for i in (3, 4, 5)) else []
    if re.search(r"[1-9]\d* [345]xx", statuses[2]):
        bad.append(statuses[0])
    times = sorted(int(line.split("\t")[2]) for line in open(log))
    at = lambda p: times[min(len(times) - 1, int(len(times) * p))] / 1e6 if times else 0
    heads = re.search(r"headers \(space savings ([\d.]+)%\)", text)
    more = {"heads": 100 - float(heads[1])} if heads else {}
    return Outcome(int(done[2]), duration(done[1]), at(0.50), at(0.99), at(0.999), bad, more)


def h2load_direct(machine, url, seconds):
    return h2load(machine, url, seconds, streams=1000)


def h1load_direct(machine, url, seconds):
    """As many requests in one pipeline as HTTP/2 has streams."""
    return h2load(machine, url, seconds, streams=1000, http1=True)


def h2_download(machine, url, seconds):
    return h2load(machine, url, seconds, connections=4, streams=1, window=24)  # windows that do not limit


def peer(machine, seconds, *arguments):
    """A mode of our own program, benchmarks/peer."""
    code, text, errors = machine.load([machine.peer(), *map(str, arguments)], seconds)
    if code != 0:
        return Outcome(errors=[f"peer {arguments[0]}: {errors.strip()[-300:]}"])
    said = json.loads(text)
    said["errors"] = [f"{len(said['errors'])} clients failed: {said['errors'][0]}"] if said["errors"] else []
    return Outcome(**said)


@contextlib.contextmanager
def held(machine, kind, address, target, count):
    """Holds idle connections open; yields how many there are."""
    holder = subprocess.Popen(
        ["taskset", "-c", machine.load_core, machine.peer(), "idle", kind, address, target, str(count)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    patience = threading.Timer(60, holder.kill)
    patience.start()
    try:
        said = holder.stdout.readline().strip()
        patience.cancel()
        yield int(said or 0)
    finally:
        holder.stdin.close()
        holder.wait(60)
