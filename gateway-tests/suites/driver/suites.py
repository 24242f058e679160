"""The suites: what each is, how it is driven, how its verdicts are counted."""

import csv
import json
import os
import re
import shutil
import sys
import xml.etree.ElementTree as ElementTree

from harness import machine as machines

from . import gateway, tools
from .counts import Outcome

HOUR = 3600


class Suite:
    what = ""
    pin = ""

    def install(self):
        """Brings the suite's programs; returns what run needs of them."""
        return None

    def run(self, machine, tool, start):
        """Runs it; start(port) starts the gateway before an upstream. Returns what it counted."""
        raise NotImplementedError


class H2spec(Suite):
    what = "h2spec, strict: HTTP/2 framing, states and HPACK, cleartext and TLS; a warning is a skipped case"
    package, version = "github.com/summerwind/h2spec/cmd/h2spec", "v2.2.1+incompatible"
    pin = f"go install {package}@{version}"

    def install(self):
        return tools.go_program(self.package, self.version)

    def run(self, machine, tool, start):
        ports = start(machine.origin())
        outcome = Outcome()
        for kind, port, options in ("cleartext", ports.clear, []), ("TLS", ports.secure, ["-t", "-k"]):
            report = machine.path(f"h2spec-{kind}.xml")
            machine.run([tool, "-h", "127.0.0.1", "-p", str(port), "-S", "-P", "/", "-j", report, *options,
                         "generic", "http2", "hpack"], f"h2spec-{kind}", HOUR / 4)
            for case in ElementTree.parse(report).getroot().iter("testcase"):
                wrong = case.find("failure") if case.find("failure") is not None else case.find("error")
                if wrong is not None:
                    outcome.fail(f"{kind}: {case.get('package')}: {case.get('classname')}", " ".join((wrong.text or "").split()))
                elif case.find("skipped") is not None:
                    outcome.warnings += 1
                else:
                    outcome.passed += 1
        return outcome


class Autobahn(Suite):
    what = "Autobahn's fuzzing WebSocket client, all 517 cases over ws and wss; a warning is informational or not strict"
    pin = "gateway-tests/autobahn/install, which wants Python 2.7; an hour"

    def install(self):
        here = os.path.join(machines.ROOT, "gateway-tests", "autobahn")
        directory = os.environ.get("AUTOBAHN") or os.path.join(os.path.dirname(tools.CACHE), "autobahn")
        tools.call("autobahn/install", [os.path.join(here, "install"), directory])
        return os.path.join(directory, "bin"), os.path.join(here, "echo_server.py")

    def run(self, machine, tool, start):
        programs, echo = tool
        machine.serve([f"{programs}/python", echo], "echo", [])
        ports = start(int(gateway.await_line(machine, "echo")))
        clients = {}
        for agent, port in ("ws", ports.clear), ("wss", ports.secure):
            server = {"agent": agent, "url": f"{agent}://127.0.0.1:{port}/", "options": {"version": 18}}
            spec = machine.write(f"{agent}.json", json.dumps({
                "outdir": machine.path(agent), "servers": [server], "cases": ["*"], "exclude-cases": [], "exclude-agent-cases": {}}))
            clients[agent] = machine.serve([f"{programs}/wstest", "-m", "fuzzingclient", "-s", spec], f"wstest-{agent}", [])
        outcome = Outcome()
        for agent, client in clients.items():
            machine.finish(client, f"wstest-{agent}", 2 * HOUR)
            with open(machine.path(f"{agent}/index.json")) as index:
                self.count(agent, json.load(index)[agent], outcome)
        return outcome

    @staticmethod
    def count(agent, cases, outcome):
        for name, case in cases.items():
            verdicts = {case["behavior"], case["behaviorClose"]}
            if verdicts == {"OK"}:
                outcome.passed += 1
            elif verdicts <= {"OK", "NON-STRICT", "INFORMATIONAL", "UNIMPLEMENTED"}:
                outcome.warnings += 1
            else:
                outcome.fail(f"{agent}: {name}", f"{case['behavior']}, close {case['behaviorClose']}")


class Http11Probe(Suite):
    what = "Http11Probe: HTTP/1.1 compliance, smuggling, malformed requests; a warning is lenient where the RFC permits it"
    pin = "wants HTTP11PROBE, the command that starts Http11Probe.Cli of github.com/MDA2AV/Http11Probe at 95bc6a991b2a (.NET 10)"

    def install(self):
        return tools.named("HTTP11PROBE", "Http11Probe.Cli")

    def run(self, machine, tool, start):
        ports = start(machine.origin())
        report = machine.path("http11probe.json")
        machine.run([*tool, "--host", "localhost", "--port", str(ports.clear), "--output", report], "http11probe", HOUR)
        outcome = Outcome()
        with open(report, encoding="utf-8-sig") as results:
            for case in json.load(results)["results"]:
                if case["verdict"] == "Pass":
                    outcome.passed += 1
                elif case["verdict"] == "Warn":
                    outcome.warnings += 1
                else:
                    got = case.get("statusCode") or case.get("error") or case["connectionState"]
                    outcome.fail(case["id"], f"{case['verdict']}: wanted {case['expected']}, got {got}")
        return outcome


class Smuggler(Suite):
    what = "smuggler: 1,768 disguises of Transfer-Encoding over HTTP/1.1, cleartext and TLS; a warning is no answer"
    url, commit = "https://github.com/defparam/smuggler", "2be871e6151ce85167a277fab21c74c851d8b20b"
    pin = f"{url} at {commit[:12]}"

    def install(self):
        return tools.checkout("smuggler", self.url, self.commit)

    def run(self, machine, tool, start):
        ports = start(machine.origin())
        payloads = machine.path("smuggler")  # it writes what it finds beside itself
        shutil.copytree(tool, payloads, ignore=shutil.ignore_patterns(".git"))
        runs = {f"{scheme}-{mutations}": (f"{scheme}://127.0.0.1:{port}/", f"{mutations}.py")
                for scheme, port in (("http", ports.clear), ("https", ports.secure))
                for mutations in ("default", "doubles", "exhaustive")}
        started = {name: machine.serve([sys.executable, f"{payloads}/smuggler.py", "--no-color", "-u", url, "-c", mutations,
                                        "-l", machine.path(f"{name}.txt")], name, []) for name, (url, mutations) in runs.items()}
        outcome = Outcome()
        for name, process in started.items():
            machine.finish(process, name, HOUR)
            with open(machine.path(f"{name}.txt")) as log:
                self.count(name, log, outcome)
        return outcome

    @staticmethod
    def count(name, log, outcome):
        for line in log:
            verdict = re.fullmatch(r"\[(.+?)\] *: (.*)", line.strip())
            if not verdict or verdict[1] == "CRITICAL":  # which repeats what was found
                continue
            if verdict[2].startswith("OK"):
                outcome.passed += 1
            elif "Issue Found" in verdict[2]:
                outcome.fail(f"{name}: {verdict[1]}", verdict[2])
            else:
                outcome.warnings += 1


class Smugglex(Suite):
    what = "smugglex: request smuggling over HTTP/1.1, h2c and HTTP/2, cleartext and TLS; a case for each of its checks"
    version = "0.4.0"
    pin = f"cargo install smugglex --version {version}"
    checks = "cl-te,te-cl,te-te,h2c,h2,cl-edge,cl-0,0-cl,parser-discrepancy"

    def install(self):
        return tools.cargo_program("smugglex", self.version)

    def run(self, machine, tool, start):
        ports = start(machine.origin())
        outcome = Outcome()
        for scheme, port, checks in ("http", ports.clear, self.checks), ("https", ports.secure, f"{self.checks},h2-downgrade"):
            report = machine.path(f"smugglex-{scheme}.json")
            machine.run([tool, "--insecure", "--checks", checks, "-o", report, f"{scheme}://127.0.0.1:{port}/"],
                        f"smugglex-{scheme}", HOUR)
            with open(report) as results:
                for check in json.load(results)["checks"]:
                    if check["vulnerable"] or check["normal_status"] == "CHECK_FAILED":
                        outcome.fail(f"{scheme}: {check['check_type']}", f"{check['normal_status']}, then {check['attack_status']}")
                    else:
                        outcome.passed += 1
        return outcome


class Http2smugl(Suite):
    what = "http2smugl: disguised framing fields over HTTP/2 that the upstream might believe"
    pin = "wants HTTP2SMUGL, the command that starts http2smugl of github.com/neex/http2smugl at ccdf77278776"

    def install(self):
        return tools.named("HTTP2SMUGL", "http2smugl")

    def run(self, machine, tool, start):
        ports = start(machine.origin())
        report = machine.path("http2smugl.csv")
        _, said = machine.run([*tool, "detect", "--threads", "10", "--csv-log", report, f"https://127.0.0.1:{ports.secure}/"],
                              "http2smugl", HOUR)
        outcome = Outcome()
        with open(report, newline="") as rows:
            for row in csv.DictReader(rows):
                if row["result"] == "indistinguishable":
                    outcome.passed += 1
                else:
                    case = ", ".join(row[key] for key in ("http_method", "detect_method", "padding_method", "smuggling_method",
                                                          "smuggling_variant"))
                    outcome.fail(case, row["result"])
        # Three cases overrun the flow-control window, which ends their connections. More would tell nothing of the rest.
        if said.count("error:") > outcome.total / 10:
            raise gateway.Broken(f"most requests failed:\n{said[-2000:]}")
        return outcome


class H2csmuggler(Suite):
    what = "h2csmuggler: does a client reach the upstream past the gateway by 'Upgrade: h2c'"
    url, commit, library = "https://github.com/BishopFox/h2csmuggler", "7ea573a9b13bfce6d0f5d4a96a82e637a9dafe2e", "h2==4.1.0"
    pin = f"{url} at {commit[:12]}, {library}"

    # Python has no ssl.wrap_socket since 3.12.
    START = """
import runpy, ssl, sys
def wrap_socket(sock, **_):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context.wrap_socket(sock)
ssl.wrap_socket = wrap_socket
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""

    def install(self):
        return tools.virtual_environment("h2csmuggler-python", self.library), tools.checkout("h2csmuggler", self.url, self.commit)

    def run(self, machine, tool, start):
        python, checkout = tool

        def reaches(name, url, *options):
            code, said = machine.run([python, "-c", self.START, f"{checkout}/h2csmuggler.py", "-x", url, "--test", *options], name, 60)
            if code == 0 and "can be used for tunneling" in said:
                return True
            if code == 1 and "Failed to upgrade" in said:
                return False
            raise gateway.Broken(f"no verdict on {url}: {said[-500:]}")

        upstream = machine.origin()
        if not reaches("control", f"http://127.0.0.1:{upstream}/"):
            raise gateway.Broken("the upstream itself refuses h2c, so this would show nothing")
        ports = start(upstream)
        outcome = Outcome()
        for scheme, port in ("http", ports.clear), ("https", ports.secure):
            for form, options in ("", []), (", without HTTP2-Settings in Connection", ["--upgrade-only"]):
                if reaches(f"{scheme}{len(options)}", f"{scheme}://127.0.0.1:{port}/", *options):
                    outcome.fail(scheme + form, "the upstream is reached")
                else:
                    outcome.passed += 1
        return outcome


class Testssl(Suite):
    what = "testssl.sh: TLS versions, ciphers, known attacks; findings on the test's own certificate are left out"
    pin = "Debian's testssl.sh 3.0.8"

    def install(self):
        return tools.find("testssl", "Debian: testssl.sh") if shutil.which("testssl") else tools.find("testssl.sh", "Debian: testssl.sh")

    def run(self, machine, tool, start):
        ports = start(machine.origin())
        report = machine.path("testssl.json")
        machine.run([tool, "--quiet", "--color", "0", "--warnings", "off", "--add-ca", machine.path("cert.pem"), "--ip", "127.0.0.1",
                     "--jsonfile", report, f"localhost:{ports.secure}"], "testssl", HOUR)
        outcome = Outcome()
        with open(report) as findings:
            for finding in json.load(findings):
                name, severity = finding["id"], finding["severity"]
                if name.startswith("cert"):
                    continue
                if severity in ("OK", "INFO"):
                    outcome.passed += 1
                elif severity in ("LOW", "WARN"):
                    outcome.warnings += 1
                else:
                    outcome.fail(name, f"{severity}: {finding['finding']}")
        return outcome


SUITES = {"autobahn": Autobahn(), "h2csmuggler": H2csmuggler(), "h2spec": H2spec(), "http11probe": Http11Probe(),
          "http2smugl": Http2smugl(), "smuggler": Smuggler(), "smugglex": Smugglex(), "testssl": Testssl()}
