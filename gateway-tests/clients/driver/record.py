"""What each tool did in each situation, and the page that shows it."""

import os
import typing

from . import early, proxy, reverse, situations, tools

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, "..", "results.tsv")
PAGE = os.path.join(HERE, "..", "..", "..", "docs", "clients.md")
ANSWERS = os.path.join(HERE, "..", "reverse.tsv")
UNKNOWN = "not recorded"  # what came of a first try
COUNTS = os.path.join(HERE, "..", "early.tsv")


class Rows:
    """What each program did in each case, and the versions of the programs. A file has a line for each."""

    def __init__(self):
        self.versions = {}
        self.rows = {}

    @classmethod
    def read(cls):
        self = cls()
        if os.path.exists(cls.PATH):
            with open(cls.PATH, encoding="utf-8") as file:
                next(file)
                for text in file:
                    program, version, case, *row = text.rstrip("\n").split("\t")
                    self.versions[program] = version
                    self.rows[program, case] = self.row(*row)
        return self

    def write(self):
        with open(self.PATH, "w", encoding="utf-8") as file:
            file.write("\t".join(self.HEAD) + "\n")
            for program, case in self.keys():
                if (program, case) in self.rows:
                    row = self.cells(self.rows[program, case])
                    file.write("\t".join((program, self.versions[program], case, *row)) + "\n")


class Results(Rows):
    """Outcome, cause, shows and line by tool and situation."""

    PATH = RESULTS
    HEAD = ("tool", "version", "situation", "outcome", "cause", "shows", "line")

    @staticmethod
    def keys():
        return [(tool.name, situation.name) for tool, situation in pairs()]

    @staticmethod
    def row(*cells):
        return situations.Result(*cells)

    @staticmethod
    def cells(row):
        return row


class Answer(typing.NamedTuple):
    """What an HTTP client was answered to an action, now and at the first try."""

    now: str
    first: str


class Answers(Rows):
    """What each HTTP client was answered to each action."""

    PATH = ANSWERS
    HEAD = ("client", "version", "action", "answer", "first")

    @staticmethod
    def keys():
        return [(client.name, action) for client in reverse.ALL for action in reverse.ACTIONS]

    @staticmethod
    def row(*cells):
        return Answer(*cells)

    @staticmethod
    def cells(row):
        return row

    def record(self, client, action, answer):
        """Records an answer. What came of the first try stays."""
        self.rows[client, action] = self.rows.get((client, action), Answer(answer, answer))._replace(now=answer)


class Seen(typing.NamedTuple):
    """How often a client saw an early answer behind each proxy."""

    tries: int
    megabytes: int
    gateway: int
    nginx: int
    haproxy: int
    haproxy_tries: int  # fewer, as a client may wait for a minute each time

    def always(self):
        return self.gateway == self.tries

    def seldom(self):
        """Whether a peer did better."""
        return self.gateway < max(self.nginx, self.haproxy / self.haproxy_tries * self.tries)

    def seen_behind_haproxy(self):
        return str(self.haproxy) if self.haproxy_tries == self.tries else f"{self.haproxy} of {self.haproxy_tries}"


class Counts(Rows):
    """How often each client saw each early answer."""

    PATH = COUNTS
    HEAD = ("client", "version", "sender and answer", *Seen._fields)

    @staticmethod
    def keys():
        return [(client.name, f"{sender}: {answer}") for client in early.ALL for sender in early.SENDERS for answer in early.ANSWERS
                if early.suits(client, sender)]

    @staticmethod
    def row(*cells):
        return Seen(*map(int, cells))

    @staticmethod
    def cells(row):
        return map(str, row)


def pairs():
    return [(tool, situation) for tool in tools.ALL for situation in situations.ALL if situation.suits(tool)]


def complete(results, answers):
    """Returns whether each tool and client has each result. Otherwise there is no page."""
    return (all((tool.name, situation.name) in results.rows for tool, situation in pairs())
            and all(key in answers.rows for key in Answers.keys()))


def faults(results, answers, counts):
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
    played = {(client.name, action): expected for client in reverse.ALL for action, (expected, _) in reverse.ACTIONS.items()}
    found += [f"no result of {client}, {action}: run with --update" for client, action in played.keys() - answers.rows.keys()]
    found += [f"a result of {client}, {action}, which is gone: run with --update" for client, action in answers.rows.keys() - played]
    found += [f"{key[0]}, {key[1]}: {row.now}" for key, row in answers.rows.items() if key in played and row.now != played[key]]
    found += [f"a count of {client}, {case}, which is gone: run with --early --update"
              for client, case in counts.rows.keys() - set(counts.keys())]
    found += [f"{client}, {case}: seen less often than behind a peer" for (client, case), row in counts.rows.items() if row.seldom()]
    if not found:
        with open(PAGE, encoding="utf-8") as file:
            if file.read() != page(results, answers, counts):
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


def first_tries(answers, client):
    """Returns how many actions of a client worked at the first try, which failed, and of which that is not known."""
    worked, failed, unknown = 0, [], []
    for action, (expected, title) in reverse.ACTIONS.items():
        first = answers.rows[client.name, action].first
        if first == expected:
            worked += 1
        else:
            (unknown if first == UNKNOWN else failed).append(title)
    return f"{worked} of {len(reverse.ACTIONS)}", ", ".join(failed) or "–", ", ".join(unknown) or "–"


def page(results, answers, counts):
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
    lines += ["", *REVERSE, ""]
    titles = [title for _, title in reverse.ACTIONS.values()]
    lines += ["| client | version | " + " | ".join(titles) + " |", "|---" * (2 + len(titles)) + "|"]
    for client in reverse.ALL:
        row = [answers.rows[client.name, action].now for action in reverse.ACTIONS]
        told = ["yes" if answer == expected else f"`{answer}`" for answer, (expected, _) in zip(row, reverse.ACTIONS.values())]
        lines.append("| " + " | ".join([client.name, answers.versions[client.name], *told]) + " |")
    lines += ["", *FIRST, "", "| client | worked | failed | not recorded |", "|---|---|---|---|"]
    lines += ["| " + " | ".join([client.name, *first_tries(answers, client)]) + " |" for client in reverse.ALL]
    lines += ["", *EARLY] if counts.rows else []
    for answer in (each for each in early.ANSWERS if any(case.endswith(each) for _, case in counts.rows)):
        lines += ["", f"#### {answer}", ""]
        lines += ["| client | sender | MB | tries | gateway | nginx | HAProxy |", "|---|---|--:|--:|--:|--:|--:|"]
        for client, case in counts.keys():
            sender, shown = case.split(": ")
            if shown == answer and (client, case) in counts.rows:
                row = counts.rows[client, case]
                cells = (client, sender, row.megabytes, row.tries, row.gateway, row.nginx, row.seen_behind_haproxy())
                lines.append("| " + " | ".join(map(str, cells)) + " |")
    lines += ["", *ENGINE]
    return "\n".join(lines) + "\n"


INTRODUCTION = """\
# Tools and HTTP clients

A test runs tools such as git behind the forward proxy. It records whether the tool works, and what its user reads if the gateway
refuses. It also runs [HTTP clients](#http-clients-of-a-reverse-proxy) behind a reverse proxy. `results.tsv` and `reverse.tsv` in
`gateway-tests/clients` have all results.

<!-- gateway-tests/clients/run writes this page -->

For the tools, the configuration is the recipe of a [sandbox](tunnels.md#a-sandbox) with [users](tunnels.md#users-and-policies):

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
- Gradle reads no variables. It needs `systemProp.https.proxyHost` in its file, and likewise `proxyPort`, `proxyUser` and
  `proxyPassword`. The test runs Debian's version, which is old, as no registry of packages has a newer one.

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

ENGINE = """\
### Docker

A test runs the command `docker` through the gateway, by the [recipe for Docker](tunnels.md#websockets-and-other-upgrades): `run`,
`run -i`, `exec`, `exec -i`, `attach`, `start -ai` and `build`. They also get output that comes after the end of their input. It runs
each night with what Debian 12 has: 20.10 of the engine and of the command, which also builds with BuildKit. It runs each other `docker`
on the path as well. By hand, this was 28.2 of the command, without the plugin buildx that its BuildKit needs. With `--silence 600`,
`gateway-tests/clients/engine` lets three of the commands be silent for ten minutes.
""".splitlines()

FIRST = """\
### At the first try

This is what came of each action when it first ran behind the gateway. A first round by hand, on 28 November 2026, reports its failures
only: early answers of the application, and uploads by HTTP/2 of httpx. Where it may have met others of the kind, nothing is recorded. All
else first ran in this test. There, Java lost one of six early answers of the gateway over TLS. Nobody noted which, so both kinds count as failed. What failed was repaired.

All tools of the first section reached their host at the first try. Afterwards, the gateway began to tell the cause of refused `http://`
requests in the reason phrase, and in the field that Maven 3.9 shows.
""".splitlines()

EARLY = """\
### Answers before the end of an upload

An application or a proxy may answer before it has the whole upload. The tables show how often clients then saw the status, behind each
proxy. Who follows a redirect has seen it. The application reads on for as long as the proxy sends. The versions of nginx and HAProxy are
those of [Compatibility](compatibility.md).

Behind HAProxy, which loses many of its own answers, some rows have fewer tries: a client may wait for a minute each time. Slow senders have
fewer tries, too. One that reads its answer last takes 8 s with 10 MB, and 80 s with 100 MB. nginx reads on for 30 s by
default. So a client that sends for 80 s, and reads last, sees no answer behind it. A unit test shows the gateway's limit of two minutes.

Some clients see nothing behind a peer. Over HTTP/2, httpx waits behind nginx until its own timeout. So does libcurl behind HAProxy after
a 307. nginx ends most connections on which Apache HttpClient follows a redirect.
""".splitlines()

REVERSE = """\
## HTTP clients of a reverse proxy

These clients use an HTTPS listener in front of an application that speaks HTTP/1.1. "yes" means that the client got the answer that it
should get. Uploads and downloads have 50 MB.

- An application and the gateway (`BasicAuth`, `BodyLimit`) refuse uploads before they have ended. The client must get the status.
- The gateway reloads between two requests on the same connection.
- The application closes the connection in the middle of a download. The client must report an error.
- The application ends in the middle of a download, and comes back after a second. The client must report an error. Its next request, sent
  at once, must get the answer of the new process: the gateway [waits](upstreams.md#while-no-endpoint-can-be-reached) for it.
- httpx copies what is left of a body for each frame of HTTP/2. With one large piece of bytes, an upload of 50 MB takes minutes. Give it
  a file or pieces.
""".splitlines()
