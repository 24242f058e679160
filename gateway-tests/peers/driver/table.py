"""The table of answers, the reasons for differences, and the page that shows both."""

import collections
import os
import re

from . import kinds

HERE = os.path.dirname(os.path.abspath(__file__))
ANSWERS = os.path.join(HERE, "..", "answers.tsv")
REASONS = os.path.join(HERE, "..", "reasons.txt")
PAGE = os.path.join(HERE, "..", "..", "..", "docs", "compatibility.md")

GATEWAY = "gateway"
ORDER = (GATEWAY, "nginx", "haproxy", "envoy")
NAMES = {"nginx": "nginx", "haproxy": "HAProxy", "envoy": "Envoy"}


# Words and numbers with a meaning of their own: another one in their place makes another kind of message.
MEANING = re.compile(r"(HTTP/1\.[01]\b|\b(?:chunked|gzip|identity|timeout)\b|\b(?:1\d\d|204|205|304)\b|(?<![\w.])0+|[a-z]{100,})")


def key(case):
    return case.kind, case.title


def form(sent):
    """Returns a message without its values: each other word is a letter, upper or lower as it was, and each other number a digit."""
    parts = MEANING.split(sent.decode("latin-1"))
    parts[::2] = [re.sub("[0-9]+", "9", re.sub("[A-Z]+", "A", re.sub("[a-z]+", "a", each))) for each in parts[::2]]
    return "".join(parts)


class Answers:
    """What each proxy answered to each case, and the peers' versions."""

    def __init__(self):
        self.versions = {}
        self.rows = {}

    @classmethod
    def read(cls):
        self = cls()
        if not os.path.exists(ANSWERS):
            return self
        with open(ANSWERS, encoding="utf-8") as file:
            _, _, *heads = file.readline().rstrip("\n").split("\t")
            for head in heads:
                name, _, version = head.partition(" ")
                self.versions[name] = version
            for line in file:
                kind, title, *answers = line.rstrip("\n").split("\t")
                self.rows[kind, title] = dict(zip(self.versions, answers))
        return self

    def write(self, cases):
        names = [name for name in ORDER if name in self.versions]
        with open(ANSWERS, "w", encoding="utf-8") as file:
            file.write("\t".join(["kind", "case", *(f"{n} {self.versions[n]}".strip() for n in names)]) + "\n")
            for case in cases:
                row = self.rows[key(case)]
                file.write("\t".join([*key(case), *(row.get(n, "") for n in names)]) + "\n")

    def of_peers(self, case_key):
        """Returns the answers of those peers that can play a case."""
        return [answer for name, answer in self.rows[case_key].items() if name != GATEWAY and answer]

    def shared(self, case_key):
        """Returns the answer that two peers or more share, or None."""
        counts = collections.Counter(self.of_peers(case_key))
        answer, count = counts.most_common(1)[0] if counts else (None, 0)
        return answer if count > 1 else None

    def outvoted(self):
        """Returns the cases in which two peers or more share another answer than the gateway's."""
        return [each for each in self.rows if self.shared(each) not in (None, self.rows[each].get(GATEWAY))]

    def alone(self):
        """Returns the other cases in which no peer gives the gateway's answer, nor any two the same."""
        return [each for each in self.rows if self.of_peers(each) and not self.shared(each) and self.rows[each][GATEWAY] not in self.of_peers(each)]

    def differences(self):
        return [*self.outvoted(), *self.alone()]

    def divided(self):
        """Returns the cases in which a peer gives another answer, and another peer the gateway's. These are no differences."""
        differences = set(self.differences())
        found = [each for each in self.rows if set(self.of_peers(each)) - {self.rows[each].get(GATEWAY)}]
        return [each for each in found if each not in differences]


class Reason:
    def __init__(self, title):
        self.title = title
        self.text = []
        self.cases = []


def reasons():
    found = []
    with open(REASONS, encoding="utf-8") as file:
        for line in (each.rstrip("\n") for each in file):
            word, _, rest = line.partition(" ")
            if word == "=":
                found.append(Reason(rest))
            elif word in kinds.NAMED:
                found[-1].cases.append((word, rest))
            elif line and word != "#":
                found[-1].text.append(line)
    return found


def twins(cases, answers):
    """Returns pairs of cases whose messages differ in values alone, and which all proxies answer alike."""
    found, first = [], {}
    for case in cases:
        if case.sent and key(case) in answers.rows:
            # The status of a response is one of its values.
            told = tuple(re.sub(r"^[1-9]\d\d\b", "status" if case.kind == "responses" else r"\g<0>", each) for each in answers.rows[key(case)].values())
            other = first.setdefault((case.kind, case.method, case.upstream[1:], form(case.sent), told), case)
            if other is not case:
                found.append((other, case))
    return found


def faults(cases, answers):
    """Returns what is wrong with the table and the reasons, a line each."""
    found = []
    known = {key(case) for case in cases}
    found += [f"no answers to {kind} case '{title}': run with --update" for kind, title in known - answers.rows.keys()]
    found += [f"answers to {kind} case '{title}', which is gone: run with --update" for kind, title in answers.rows.keys() - known]
    differences = set(answers.differences())
    explained = collections.Counter(each for reason in reasons() for each in reason.cases)
    found += [f"no reason for the difference of {kind} case '{title}'" for kind, title in differences - explained.keys()]
    found += [f"{case.kind} case '{case.title}' differs from '{other.title}' in a value alone: remove it, or mark it with \"near\""
              for other, case in twins(cases, answers)]
    same = {each for each, row in answers.rows.items() if len(set(row.values()) - {""}) == 1}
    unknown = explained.keys() - answers.rows.keys()
    found += [f"a reason for {kind} case '{title}', which is no difference" for kind, title in explained.keys() & same | unknown]
    found += [f"{count} reasons for {kind} case '{title}'" for (kind, title), count in explained.items() if count > 1]
    with open(PAGE, encoding="utf-8") as file:
        if not found and file.read() != page(cases, answers):
            found.append("docs/compatibility.md is not the page of these answers and reasons: run with --page")
    return sorted(found)


def cell(text):
    return "`" + text.replace("|", "\\|") + "`" if text else "–"


def page(cases, answers):
    count = collections.Counter(case.kind for case in cases)
    peers = [name for name in ORDER if name in answers.versions and name != GATEWAY]
    versions = [f"{NAMES[name]} {answers.versions[name]}" for name in peers]
    lines = [
        "# Compatibility",
        "",
        f"A test plays the same {len(cases)} cases through the gateway, {', '.join(versions[:-1])} and {versions[-1]}. Each has a minimal",
        f"configuration. Most of these messages are odd. In {len(answers.outvoted())} cases two of the others or more share an answer that",
        f"the gateway does not give. In {len(answers.alone())} more, no two of the others agree, and none gives the gateway's answer. This page has all",
        "of them, and for each the reason.",
        "",
        f"In {len(answers.divided())} further cases some of the others give the gateway's answer, and no two agree on another one. These do not count as",
        "differences: there the others differ among themselves. `gateway-tests/peers/answers.tsv` has all cases:",
        "",
        *(f"- {count[kind.name]} {kind.plural}" for kind in kinds.KINDS),
        "",
        "<!-- gateway-tests/peers/run writes this page -->",
        "",
        "How to read an answer:",
        "",
        "- of a request: what the upstream got, as method, host, target and body. A status alone is what the client got instead.",
        "- of a response: what the client got. Then whether the upstream connection was kept or closed.",
        "- of a connection: both, and then whether the client's connection was kept or closed.",
        "- of HTTP/2, `RST` is the end of the stream, and `GOAWAY` that of the connection, each with its error code.",
        "- `upstream closed` and the like say how the upstream's connection ended while it had not answered. `stays`: not in four seconds.",
        "- `takes` says what a side got through a tunnel.",
        "- Limits of time are a second for all, and the gateway has no `minBodyRate`.",
        "- of TLS, an alert, or what the server has chosen: version, certificate and protocol. `cut` is an end without close_notify.",
        "- A dash means that no answer was taken. Most often the proxy cannot play the case: nginx speaks HTTP/1 to its upstreams.",
    ]
    for reason in reasons():
        lines += ["", f"## {reason.title}", "", *reason.text, "", "| case | gateway | " + " | ".join(NAMES[p] for p in peers) + " |"]
        lines.append("|---" * (2 + len(peers)) + "|")
        for each in reason.cases:
            row = answers.rows[each]
            lines.append("| " + " | ".join([f"{kinds.NAMED[each[0]].singular}: {each[1]}", *(cell(row[n]) for n in (GATEWAY, *peers))]) + " |")
    return "\n".join(lines) + "\n"
