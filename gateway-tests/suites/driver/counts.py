"""What the suites counted last: a table that people read, and runs are compared with."""

import re
import time

ROW = re.compile(r"\| (\S+) \| (\d{4}-\d\d-\d\d) \| (\d+) \| (\d+) \| (\d+) \|")
ACCEPTED = re.compile(r"- `([^`]+)` `([^`]+)`: (.+)")
UNEXPLAINED = "not explained yet"


class Outcome:
    """What a suite counted. Failures are told by case: what is wrong with it."""

    def __init__(self, passed=0, warnings=0, failures=None):
        self.passed = passed
        self.warnings = warnings
        self.failures = dict(failures or {})

    @property
    def total(self):
        return self.passed + self.warnings + len(self.failures)

    def fail(self, case, what):
        case = base = " ".join(case.replace("`", "'").split())
        again = 1
        while case in self.failures:
            again += 1
            case = f"{base} ({again})"
        self.failures[case] = what

    def __str__(self):
        return words(self.passed, self.warnings, len(self.failures))


def words(passed, warnings, failed):
    return f"{passed + warnings + failed} cases: {passed} passed, {warnings} warnings, {failed} failed"


class Last:
    """A row of the table."""

    def __init__(self, date, passed, warnings, failed):
        self.date = date
        self.passed = int(passed)
        self.warnings = int(warnings)
        self.failed = int(failed)

    @property
    def total(self):
        return self.passed + self.warnings + self.failed

    def __str__(self):
        return f"{words(self.passed, self.warnings, self.failed)} ({self.date})"


class Table:
    """The file: a row for each suite, and a line with the reason for each failure that is accepted."""

    def __init__(self, file):
        self.file = file
        with open(file) as lines:
            self.lines = lines.read().splitlines()
        self.rows = {}
        self.accepted = {}
        for line in self.lines:
            if row := ROW.fullmatch(line):
                self.rows[row[1]] = Last(*row.groups()[1:])
            elif accepted := ACCEPTED.fullmatch(line):
                self.accepted[accepted[1], accepted[2]] = accepted[3]

    def last(self, suite):
        return self.rows.get(suite)

    def reason(self, suite, case):
        return self.accepted.get((suite, case))

    def complaints(self, suite, now):
        """What is worse now than it was; nothing if nothing is."""
        last = self.last(suite)
        if not last:
            return ["there are no last counts to compare with: look at each failure, then --update"]
        found = []
        if now.total != last.total:
            found.append(f"{now.total} cases ran, {last.total} did last time: if the suite has changed, --update")
        if now.passed < last.passed:
            found.append(f"{now.passed} passed, {last.passed} did last time")
        if len(now.failures) > last.failed:
            found.append(f"{len(now.failures)} failed, {last.failed} did last time")
        found += [f"{case} fails, which last-counts.md does not accept" for case in sorted(now.failures)
                  if not self.reason(suite, case)]
        return found

    def healed(self, suite, now):
        return sorted(case for of, case in self.accepted if of == suite and case not in now.failures)

    def update(self, suite, now):
        """Takes over what was counted. Who adds a failure writes the reason by hand."""
        self.rows[suite] = Last(time.strftime("%Y-%m-%d"), now.passed, now.warnings, len(now.failures))
        for case in self.healed(suite, now):
            del self.accepted[suite, case]
        for case in sorted(now.failures):
            self.accepted.setdefault((suite, case), UNEXPLAINED)

    def write(self):
        rows = [f"| {suite} | {r.date} | {r.passed} | {r.warnings} | {r.failed} |" for suite, r in sorted(self.rows.items())]
        accepted = [f"- `{suite}` `{case}`: {reason}" for (suite, case), reason in sorted(self.accepted.items())]
        kept = [line for line in self.lines if not ROW.fullmatch(line) and not ACCEPTED.fullmatch(line)]
        after = kept.index(next(line for line in kept if line.startswith("|---"))) + 1
        while kept and not kept[-1]:
            kept.pop()
        self.lines = [*kept[:after], *rows, *kept[after:], "", *accepted]
        with open(self.file, "w") as out:
            out.write("\n".join(self.lines).rstrip() + "\n")
