"""What a tool meets: a host that is allowed, one that is not, a wrong password, and so on."""

import collections
import re

from . import mirror, proxy

WORKS, FAILS = "works", "fails"
CAUSE, STATUS, NOTHING = "cause", "status", "neither"
Result = collections.namedtuple("Result", ["outcome", "cause", "shows", "line"])
WIDTH = 150
WHEN = re.compile(r"^(\d{4}-\d\d-\d\d )?\d+[:.][\d:.]+s? +(http\.c:\d+ +)?")  # the time, which some tools print


class Situation:
    def __init__(self, name, host, outcome, cause=None, status=None, title=None, text=(), **options):
        self.name = name
        self.host = host
        self.outcome = outcome  # None: whatever is recorded
        self.cause = cause  # what the gateway logs
        self.status = status
        self.title = title  # of the page, None if that has no lines of it
        self.text = text
        self.variable = options.get("variable")  # which one alone says where the proxy is, instead of the tool's setting
        self.password = options.get("password")
        self.scheme = options.get("scheme", "https")
        self.reveals = options.get("reveals", False)

    def suits(self, tool):
        return (self.scheme == "https" or tool.http) and (not self.reveals or tool.hides)

    def judge(self, ok, said, cause):
        """Makes the result of a run that printed this."""
        said = re.sub(r"\b[0-9a-f]{32}\b", "…", re.sub(r"\x1b\[[0-9;]*m", "", said))  # colors, and request IDs
        outcome = WORKS if ok else FAILS
        if not self.title or (ok and not self.cause):
            return Result(outcome, cause, "", "")
        lines = [WHEN.sub("", line.strip()) for line in said.splitlines() if line.strip()]
        words = [(CAUSE, rf"\b{self.cause}"), (STATUS, rf"\b{self.status}\b")] if self.cause else [(CAUSE, "(?i)certificat|x509")]
        for shows, word in words:
            for line in lines:
                found = re.search(word, line)
                if found:
                    return Result(outcome, cause, shows, shorten(line, found.end()))
        return Result(outcome, cause, NOTHING, shorten(lines[-1] if lines else "", 0))


def shorten(line, place):
    """Returns the part of a line that ends with the word at a place, without tabs. A short line is returned whole."""
    line = line.replace("\t", " ")
    if len(line) <= WIDTH:
        return line
    end = line.find(" ", max(place, WIDTH // 2))
    end = len(line) if end < 0 else end
    begin = line.find(" ", end - WIDTH) + 1 if end > WIDTH else 0
    return ("… " if begin else "") + line[begin:end] + (" …" if end < len(line) else "")


ALL = (
    Situation("variable", mirror.GOOD, None, variable="HTTPS_PROXY"),
    Situation("lower case", mirror.GOOD, None, variable="https_proxy"),
    Situation("allowed", mirror.GOOD, WORKS),
    Situation(
        "wrong password", mirror.GOOD, FAILS, "proxy_auth", 407, "A wrong password", ["The gateway answers 407, `proxy_auth`."],
        password=proxy.WRONG),
    Situation(
        "refused host", mirror.REFUSED, FAILS, "policy_host", 403, "A host that is not allowed", ["The gateway answers 403, `policy_host`."]),
    Situation(
        "private address", mirror.PRIVATE, FAILS, "policy_address", 403, "A name that leads to a private address",
        ["The gateway answers 403, `policy_address`."]),
    Situation(
        "closed port", mirror.CLOSED, FAILS, "connect_failed", 502, "A destination that refuses connections",
        ["The gateway answers 502, `connect_failed`."]),
    Situation(
        "unknown name", mirror.MISSING, FAILS, "dns_failed", 502, "A name that does not exist", ["The gateway answers 502, `dns_failed`."]),
    Situation(
        "http", mirror.GOOD, None, "policy_port", 403, "An `http://` URL",
        ["The recipe allows port 443 alone. The gateway answers 403, `policy_port`. curl prints the body of the answer.",
         "Tools that are missing here use no `http://` URLs unless told to."],
        scheme="http"),
    Situation(
        "untrusted certificate", mirror.UNTRUSTED, FAILS, None, None, "A destination whose certificate the tool does not trust",
        ["The tunnel is open, and the tool ends it. The message is the tool's own."]),
    Situation(
        "revealed", mirror.REFUSED, FAILS, "policy_host", 403, "A host that is not allowed, with the commands that show more",
        ["The gateway answers 403, `policy_host`."], reveals=True),
)
