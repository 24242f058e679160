"""What works with each application, and the page that shows it."""

import os

from cases import ALL

from . import stage

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, "..", "results.tsv")
PAGE = os.path.join(HERE, "..", "..", "..", "docs", "applications.md")
HEAD = ("application", "version", "action", "result", "first", "note")


class Results:
    """The result of each action, now and at the first try, and the versions of the applications. The file has a line for each."""

    def __init__(self):
        self.versions = {}
        self.rows = {}
        self.first = {}
        self.notes = {}

    @classmethod
    def read(cls):
        self = cls()
        if os.path.exists(RESULTS):
            with open(RESULTS, encoding="utf-8") as file:
                next(file)
                for text in file:
                    application, version, action, result, first, note = text.rstrip("\n").split("\t")
                    self.versions[application] = version
                    self.rows[application, action] = result
                    self.first[application, action] = first
                    self.notes[application, action] = note
        return self

    def record(self, application, action, result):
        """Records a result. What came of the first try stays."""
        self.rows[application, action] = result
        self.first.setdefault((application, action), result)

    def write(self):
        with open(RESULTS, "w", encoding="utf-8") as file:
            file.write("\t".join(HEAD) + "\n")
            self.notes = {(application.name, action.title): action.note for application, action in pairs()}
            for key, note in self.notes.items():
                if key in self.rows:
                    file.write("\t".join((key[0], self.versions[key[0]], key[1], self.rows[key], self.first[key], note)) + "\n")


def pairs():
    return [(application, action) for application in ALL for action in application.actions()]


def expected(action):
    return stage.FAILS if action.fails else f"needs {action.needs}" if action.needs else stage.WORKS


def complete(results):
    """Returns whether each action has a result. Otherwise there is no page."""
    return all((application.name, action.title) in results.rows for application, action in pairs())


def faults(results):
    """Returns what is wrong with the results and the page, a line each."""
    known = {(application.name, action.title): action for application, action in pairs()}
    found = [f"no result of {name}, {action}: run with --update" for name, action in known.keys() - results.rows.keys()]
    found += [f"a result of {name}, {action}, which is gone: run with --update" for name, action in results.rows.keys() - known]
    for key in known.keys() & results.rows.keys():
        if results.rows[key] != expected(known[key]):
            found.append(f"{key[0]}, {key[1]}: it {results.rows[key]}")
        if results.notes[key] != known[key].note:
            found.append(f"{key[0]}, {key[1]}: the note is another one: run with --update")
    if not found:
        with open(PAGE, encoding="utf-8") as file:
            if file.read() != page(results):
                found.append("docs/applications.md is not the page of these results: run with --page")
    return sorted(found)


# --- The page --------------------------------------------------------------------------------------------------------


def page(results):
    lines = [INTRODUCTION, "| application | version | with defaults | with a key | does not work | at the first try |", "|---|---|---|---|---|---|"]
    for application in ALL:
        played = [results.rows[application.name, action.title] for action in application.actions()]
        needs = list(dict.fromkeys(result.removeprefix("needs ") for result in played if result.startswith("needs ")))
        works, fails = played.count(stage.WORKS), played.count(stage.FAILS)
        keyed = f"{len(played) - works - fails}: {', '.join(needs)}" if needs else "–"
        version = results.versions[application.name]
        first = [results.first[application.name, action.title] for action in application.actions()]
        worked = f"{len(first) - first.count(stage.FAILS)} of {len(first)}"
        lines.append(
            f"| [{application.name}](#{anchor(application.name)}) | {version} | {works} of {len(played)} | {keyed} | {fails or '–'} | {worked} |")
    keyed = [each for each in ALL if each.has_recipe()]
    lines += ["", *KEYS, "", "| application | the listener | the rule | the upstream |", "|---|---|---|---|"]
    for each in keyed:
        lines.append("| " + " | ".join([each.name, *(keys(text) for text in (each.listener, each.rule, each.upstream))]) + " |")
    for application in ALL:
        lines += ["", f"## {application.name}", "", application.how, "", "| action | result | first try | note |", "|---|---|---|---|"]
        for action in application.actions():
            key = application.name, action.title
            first = "the same" if results.first[key] == results.rows[key] else results.first[key]
            row = action.title, results.rows[key], first, action.note or "–"
            lines.append("| " + " | ".join(text.replace("|", "\\|") for text in row) + " |")
    return "\n".join(lines) + "\n"


def anchor(heading):
    return "".join(letter for letter in heading.lower().replace(" ", "-") if letter.isalnum() or letter in "-_")


def keys(text):
    return ", ".join(f"`{line}`" for line in text.splitlines()) or "–"


INTRODUCTION = """\
# Applications behind the gateway

A test runs applications that other people wrote behind the gateway, with clients that others wrote as well. Each does its real work:
somebody logs in, uploads and downloads something large, and reads streams. The gateway reloads during a download or a stream, and
the application is killed during one. `results.tsv` in `gateway-tests/applications` has all results.

<!-- gateway-tests/applications/run writes this page -->

The configuration is an HTTP listener and an HTTPS listener, a route, and an upstream, as in [getting started](getting-started.md).
Each action runs with defaults. If an application has keys of its own, each action runs with these as well. An action that needs no key
may run with defaults alone.

Most versions are pinned. Those of nats-server, etcd-server, nginx and dockerd are Debian 12's, which change with its updates. The test
prints a version that is not the recorded one, and goes on.

The first try is the first run of an action behind the gateway, with defaults or with a key. Docker, S3, gRPC, Spring Boot and event
streams first ran by hand, on 28 November 2026. S3 was SeaweedFS then, and the event stream that of another application. What failed
was repaired. The record of all other actions begins with this test.
"""

KEYS = """\
## The keys

These keys make work what does not with defaults. [Paths that are signed](routing.md#paths-that-are-signed) explains those for S3,
[HTTP/2 in cleartext](upstreams.md#protocols) that for gRPC and etcd, and
[other upgrades](tunnels.md#websockets-and-other-upgrades) those for Docker and Kubernetes.
A client that reaches Docker's API is root. So use these keys on loopback only, or with `clientAuth`.
""".splitlines()
