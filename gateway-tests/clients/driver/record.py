"""What each tool did in each situation, and the page that shows it."""

import os

from . import proxy, situations, tools

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, "..", "results.tsv")
PAGE = os.path.join(HERE, "..", "..", "..", "docs", "clients.md")
HEAD = ("tool", "version", "situation", "outcome", "cause", "shows", "line")


class Results:
    """Rows by tool and situation: outcome, cause, shows, line; and the versions of the tools."""

    def __init__(self):
        self.versions = {}
        self.rows = {}

    @classmethod
    def read(cls):
        self = cls()
        if os.path.exists(RESULTS):
            with open(RESULTS, encoding="utf-8") as file:
                next(file)
                for text in file:
                    tool, version, situation, *row = text.rstrip("\n").split("\t")
                    self.versions[tool] = version
                    self.rows[tool, situation] = situations.Result(*row)
        return self

    def write(self):
        with open(RESULTS, "w", encoding="utf-8") as file:
            file.write("\t".join(HEAD) + "\n")
            for tool, situation in pairs():
                row = self.rows.get((tool.name, situation.name))
                if row:
                    file.write("\t".join((tool.name, self.versions[tool.name], situation.name, *row)) + "\n")


def pairs():
    return [(tool, situation) for tool in tools.ALL for situation in situations.ALL if situation.suits(tool)]


def faults(results):
    """Returns what is wrong with the results and the page, a line each."""
    known = {(tool.name, situation.name): situation for tool, situation in pairs()}
    found = [f"no result of {tool}, {situation}: run with --update" for tool, situation in known.keys() - results.rows.keys()]
    found += [f"a result of {tool}, {situation}, which is gone: run with --update" for tool, situation in results.rows.keys() - known]
    for key in known.keys() & results.rows.keys():
        situation, row = known[key], results.rows[key]
        if situation.outcome and row.outcome != situation.outcome:
            found.append(f"{key[0]}, {key[1]}: it {row.outcome}")
        if row.cause != (situation.cause or ""):
            found.append(f"{key[0]}, {key[1]}: the gateway's cause is '{row.cause}'")
    if not found:
        with open(PAGE, encoding="utf-8") as file:
            if file.read() != page(results):
                found.append("docs/clients.md is not the page of these results: run with --page")
    return sorted(found)


# --- The page --------------------------------------------------------------------------------------------------------


def cell(text):
    quotes = "``" if "`" in text else "`"
    return quotes + text.replace("|", "\\|") + quotes


def variable(results, tool):
    for situation, name in (("variable", "`HTTPS_PROXY`"), ("lower case", "`https_proxy`")):
        if results.rows[tool.name, situation].outcome == situations.WORKS:
            return name
    return "none"


def page(results):
    lines = [INTRODUCTION.replace("CONFIGURATION", proxy.recipe())]
    lines += ["| tool | version | variable that suffices | or its own setting |", "|---|---|---|---|"]
    for tool in tools.ALL:
        lines.append(f"| {tool.name} | {results.versions[tool.name]} | {variable(results, tool)} | {tool.setting or 'none'} |")
    lines += ["", *NOTES]
    shown = [each for each in situations.ALL if each.title]
    refusals = [each for each in shown if each.cause and each.suits(tools.ALL[0]) and not each.reveals]
    lines += ["| tool | " + " | ".join(f"`{each.cause}`" for each in refusals) + " |", "|---" * (1 + len(refusals)) + "|"]
    for tool in tools.ALL:
        cells = [results.rows[tool.name, each.name].shows if each.suits(tool) else "" for each in refusals]
        lines.append("| " + " | ".join([tool.name, *cells]) + " |")
    lines += ["", *HIDDEN]
    for each in shown:
        lines += ["", f"### {each.title}", "", *each.text, "", "| tool | on the screen |", "|---|---|"]
        lines += [f"| {tool.name} | {cell(results.rows[tool.name, each.name].line)} |" for tool in tools.ALL if each.suits(tool)]
    return "\n".join(lines) + "\n"


INTRODUCTION = """\
# Tools behind the forward proxy

A test runs each of these tools through the gateway. It records whether the tool works, and what its user reads if the gateway
refuses. `gateway-tests/clients/results.tsv` has all results.

<!-- gateway-tests/clients/run writes this page -->

The configuration is the recipe of a [sandbox](tunnels.md#a-sandbox) with [users](tunnels.md#users-and-policies):

```yaml
CONFIGURATION
```

Only the gateway leads to the mirrors, and only it can look up their names. So no tool can pass it by.

## How to set them up

The URL of the proxy is `http://USER:PASSWORD@gateway:3128`. In a URL, write odd characters of the password as `%40` and the like. In
the settings of Maven, write them as they are. The password of the test is `open@sesame/1`.
"""

NOTES = """\
- Docker: set the variable for the daemon, not for the command `docker`. With systemd, add a line
  `Environment=HTTPS_PROXY=…` to a drop-in of `docker.service`.
- Maven needs `<host>`, `<port>`, `<username>` and `<password>` in `<proxies>`. It needs no `<protocol>`.
- git sends its password only when the gateway has asked for it. So the access log has a `proxy_auth` before each of its tunnels.
- For `http://` URLs, set `HTTP_PROXY` or `http_proxy` as well, and add 80 to `allowedPorts`. Debian's usual sources of apt are
  `http://` URLs.
- Gradle reads no variables. `systemProp.https.proxyHost`, `proxyPort`, `proxyUser` and `proxyPassword` in
  `~/.gradle/gradle.properties` set it up. No test runs it, since Debian has only version 4.4.

## What the user reads

The gateway tells the cause in the reason phrase, in the header and in the body. Tools show different parts of these: the cause, only
the status, or neither.

""".split("\n")[:-1]

HIDDEN = """\
curl, git and cargo use libcurl, which shows only the status. These commands show the cause. A test runs them, too:

- `curl -v …`
- `GIT_CURL_VERBOSE=1 git …`
- `CARGO_HTTP_DEBUG=true CARGO_LOG=network=debug cargo …`

The access log of the gateway has each refusal with its cause.
""".splitlines()
