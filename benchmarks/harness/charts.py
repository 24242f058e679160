"""Charts of the results as SVG: bars side by side for each workload."""

from xml.sax.saxutils import escape

from . import measure

COLORS = {"gateway": "#1f6feb", "nginx": "#8b949e", "haproxy": "#e3a008", "envoy": "#b083f0", "squid": "#57ab5a",
           "tinyproxy": "#c9716b"}
WIDTH, LABELS, BAR, GAP, TOP = 900, 170, 11, 10, 62


def bars(title, unit, groups, most=None, line=None):
    """groups: [(label, [(proxy, figure)])]; bars longer than 'most' are cut, with their figure beside them."""
    most = most or max(figure for _, group in groups for _, figure in group) * 1.1
    scale = (WIDTH - LABELS - 90) / most
    height = TOP + sum(len(group) * BAR + GAP for _, group in groups) + 8
    used = [name for name in COLORS if any(name == proxy for _, group in groups for proxy, _ in group)]
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
           'font-family="sans-serif" font-size="11">', f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
           f'<text x="12" y="22" font-size="15" font-weight="bold" fill="#1c2128">{escape(title)}</text>',
           f'<text x="12" y="44" fill="#57606a">{escape(unit)}</text>']
    at = WIDTH - 90 * len(used)
    for name in used:
        out.append(f'<rect x="{at}" y="35" width="11" height="11" fill="{COLORS[name]}"/>'
                   f'<text x="{at + 16}" y="45" fill="#1c2128">{name}</text>')
        at += 90
    y = TOP
    for label, group in groups:
        middle = y + len(group) * BAR / 2 + 4
        out.append(f'<text x="{LABELS - 10}" y="{middle:.0f}" text-anchor="end" fill="#1c2128">{escape(label)}</text>')
        for proxy, figure in group:
            length = max(1.0, min(figure, most) * scale)
            out.append(f'<rect x="{LABELS}" y="{y}" width="{length:.1f}" height="{BAR - 1}" fill="{COLORS[proxy]}"/>'
                       f'<text x="{LABELS + length + 4:.1f}" y="{y + 9}" font-size="9" fill="#57606a">{figure:.3g}</text>')
            y += BAR
        y += GAP
    if line:
        x = LABELS + line * scale
        out.append(f'<line x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{height - 8}" stroke="#1c2128" stroke-dasharray="3 3"/>')
    return "\n".join([*out, "</svg>", ""])


def valid(samples, value):
    """Medians of the proxies that have no errors."""
    medians = {name: measure.median(taken, value) for name, taken in samples.items()
               if name in COLORS and not measure.errors(taken)}
    return {name: medians[name] for name in COLORS if medians.get(name) is not None}


def draw(workloads):
    """The charts there is something for, by their name."""
    ratios, others, memory, latency = [], [], [], []
    for name, workload in workloads.items():
        cost = valid(workload["samples"], "cost")
        if name.startswith("idle"):
            memory += [(name, list(cost.items()))] if cost else []
        elif name == "latency":
            for key, label in (("added50", "p50"), ("added99", "p99"), ("added999", "p99.9")):
                figures = valid(workload["samples"], key)
                latency += [(label, [(p, max(0, f)) for p, f in figures.items()])] if figures else []
        elif "nginx" in cost:
            ratios.append((name, [(p, f / cost["nginx"]) for p, f in cost.items() if p != "nginx"]))
        elif "envoy" in cost:
            others.append((name, [(p, f / cost["envoy"]) for p, f in cost.items() if p != "envoy"]))
    charts = {}
    if any(group for _, group in ratios):
        charts["cpu"] = bars("CPU time for the same work", "as a ratio to nginx in the same run; shorter is better", ratios, 3.5, 1)
    if any(group for _, group in others):
        charts["cpu-envoy"] = bars("CPU time where nginx does not take part", "as a ratio to Envoy in the same run; shorter is better",
                                   others, None, 1)
    if memory:
        charts["memory"] = bars("Resident memory of an idle connection", "KiB; shorter is better", memory)
    if latency:
        charts["latency"] = bars("Latency added to a direct connection", "µs, at half of nginx's highest rate; shorter is better",
                                 latency)
    return charts
