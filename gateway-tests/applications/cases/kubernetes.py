"""The streams of Kubernetes' API, with kubectl: exec, attach, cp, port-forward and logs, by SPDY and by WebSocket."""

import contextlib
import hashlib
import os
import re
import subprocess

from play import install
from play.rig import mirror
from play.stage import SIZE, Application, action, check, end, until, until_newer, wait

NEEDS = "`upgrades: [websocket, spdy/3.1]`"
KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: gateway
contexts: [{{name: gateway, context: {{cluster: gateway, user: ci}}}}]
clusters: [{{name: gateway, cluster: {{server: "{url}", certificate-authority: {ca}}}}}]
users: [{{name: ci, user: {{token: secret}}}}]
"""
INPUT = "x" * 20_000_000


class Kubernetes(Application):
    name = "Kubernetes"
    how = ("The API server's own handlers of streams, and those of container runtimes. The pod is a stand-in. The client is kubectl, over TLS. "
           "`KUBECTL_REMOTE_COMMAND_WEBSOCKETS=false` and `KUBECTL_PORT_FORWARD_WEBSOCKETS=false` let it use SPDY.")
    rule = "upgrades: [websocket, spdy/3.1]"

    def version(self):
        return install.go_version("kubernetes", "k8s.io/kubectl")

    def install(self):
        install.go("kubernetes", {"pod": ".", "kubectl": "./kubectl"})

    def prepare(self, stage):
        stage.big_file()

    def command(self, stage):
        return [
            os.path.join(stage.cache, "kubernetes", "pod"), "-address", f"127.0.0.1:{stage.application_port}",
            "-inside", f"127.0.0.1:{stage.more_ports[0]}", "-root", stage.directory]

    def line(self, via, *arguments):
        config = os.path.join(via.stage.directory, f"kubeconfig-{via.secure_port}")
        mirror.write(config, KUBECONFIG.format(url=via.secure, ca=via.stage.ca))
        program = os.path.join(via.stage.cache, "kubernetes", "kubectl")
        return [program, "--kubeconfig", config, "--cache-dir", os.path.join(via.stage.directory, "kube-cache"), *arguments]

    def kubectl(self, via, spdy, *arguments, **more):
        return via.stage.run(*self.line(via, *arguments), environment=environment(spdy), **{"timeout": 60, **more})

    def started(self, via, spdy, *arguments):
        return via.stage.popen(*self.line(via, *arguments), environment=environment(spdy))

    def exec_(self, via, spdy):
        check(self.kubectl(via, spdy, "exec", "shell", "--", "echo", "inside"), "inside\n")
        said = self.kubectl(via, spdy, "exec", "-i", "shell", "--", "sh", "-c", "cat; sleep 1; echo end; echo error >&2", stdin="through\n")
        check(sorted(said.split()), ["end", "error", "through"])
        said = self.kubectl(via, spdy, "exec", "shell", "--", "sh", "-c", "exit 3", fails=True)
        check("exit code 3" in said, True, said)
        said = self.kubectl(via, spdy, "exec", "-i", "shell", "--", "sha256sum", stdin=INPUT)
        check(said.split()[0], hashlib.sha256(INPUT.encode()).hexdigest())
        said = self.kubectl(via, spdy, "exec", "shell", "--", "head", "-c", "50000000", "/dev/zero")
        check(len(said), 50_000_000)

    def copy(self, via, spdy):
        file, digest = via.stage.big_file()
        home = os.path.join(via.stage.directory, f"in-{via.secure_port}-{spdy}")
        os.mkdir(home)
        self.kubectl(via, spdy, "cp", file, f"default/shell:{home}/big", timeout=150)
        self.kubectl(via, spdy, "cp", f"default/shell:{home}/big", os.path.join(home, "out"), timeout=150)
        for name in ("big", "out"):
            with open(os.path.join(home, name), "rb") as copied:
                check(hashlib.file_digest(copied, "sha256").hexdigest(), digest)
            os.remove(os.path.join(home, name))

    @contextlib.contextmanager
    def forwarded(self, via, spdy):
        """Forwards a port, and returns the client and the URL."""
        client = self.started(via, spdy, "port-forward", "shell", f":{via.stage.more_ports[0]}")
        try:
            said = until(client, " ->")
            yield client, "http://127.0.0.1:" + re.search(r"127\.0\.0\.1:(\d+)", said).group(1)
        finally:
            end(client)

    def forward(self, via, spdy):
        file, digest = via.stage.big_file()
        with self.forwarded(via, spdy) as (_, url):
            at_once = [["curl", "-sS", "--fail", url + "/big", "-o", "/dev/null", "-w", "%{size_download}"]] * 3 + [
                ["curl", "-sS", "--fail", url + "/", "-T", file]] * 2
            running = [subprocess.Popen(each, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for each in at_once]
            try:
                said = [each.communicate(timeout=150)[0] for each in running]
            finally:
                for each in running:
                    each.kill()
            check(said, [str(SIZE)] * 3 + [digest] * 2)

    def attach(self, via, spdy):
        """Attaches with an input that stays open. The caller kills what answers, which ends the client."""
        client = subprocess.Popen(
            self.line(via, "attach", "-i", "shell"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0,
            cwd=via.stage.directory, env={**os.environ, **environment(spdy)})
        try:
            until(client, "tick", 15)
            client.stdin.write(b"before\n")
            until(client, "read before", 15)
            via.stage.reload()
            until_newer(client, "tick", 15)
            client.stdin.write(b"after\n")
            until(client, "read after", 15)
            via.stage.kill()
            wait(lambda: client.poll() is not None, 30, "the client does not end")
            if not spdy:
                check(client.returncode != 0, True, "the client's code")
        finally:
            client.stdin.close()
            end(client)
            via.stage.start()

    def lost(self, via, spdy):
        with self.forwarded(via, spdy) as (client, url):
            check(via.stage.run("curl", "-sS", url + "/big", "-r", "0-999", "-o", "/dev/null", "-w", "%{size_download}"), "1000")
            via.stage.kill()
            until(client, "lost connection to pod", 30)
            wait(lambda: client.poll() is not None, 30, "the client does not end")
        via.stage.start()

    @action("read a pod's log, and follow it across a reload (`kubectl logs -f`)")
    def logs(self, via):
        check("tick" in self.kubectl(via, False, "logs", "shell"), True)
        client = self.started(via, False, "logs", "-f", "shell")
        try:
            until(client, "tick")
            via.stage.reload()
            until_newer(client, "tick")
            via.stage.kill()
            wait(lambda: client.poll() is not None, 30, "the client does not end")
        finally:
            end(client)
            via.stage.start()

    @action("by WebSocket: run commands, with 20 MB of input and 50 MB of output (`kubectl exec -i`)")
    def exec_websocket(self, via):
        self.exec_(via, False)

    @action("by WebSocket: copy 150 MB into a pod, and out of it (`kubectl cp`)")
    def copy_websocket(self, via):
        self.copy(via, False)

    @action("by WebSocket: attach to a pod, across a reload, and notice that the server was killed (`kubectl attach -i`)")
    def attach_websocket(self, via):
        self.attach(via, False)

    @action("by WebSocket: three downloads and two uploads of 150 MB at once through a port (`kubectl port-forward`)")
    def forward_websocket(self, via):
        self.forward(via, False)

    @action("by WebSocket: notice that the server of a forwarded port was killed")
    def lost_websocket(self, via):
        self.lost(via, False)

    @action("by SPDY: run commands, with 20 MB of input and 50 MB of output (`kubectl exec -i`)", needs=NEEDS)
    def exec_spdy(self, via):
        self.exec_(via, True)

    @action("by SPDY: copy 150 MB into a pod, and out of it (`kubectl cp`)", needs=NEEDS)
    def copy_spdy(self, via):
        self.copy(via, True)

    @action("by SPDY: attach to a pod, across a reload, and notice that the server was killed (`kubectl attach -i`)", needs=NEEDS,
            note="kubectl ends with the code 0, also without the gateway")
    def attach_spdy(self, via):
        self.attach(via, True)

    @action("by SPDY: three downloads and two uploads of 150 MB at once through a port (`kubectl port-forward`)", needs=NEEDS)
    def forward_spdy(self, via):
        self.forward(via, True)

    @action("by SPDY: notice that the server of a forwarded port was killed", needs=NEEDS)
    def lost_spdy(self, via):
        self.lost(via, True)

    @action("go on after its restart")
    def restart(self, via):
        via.stage.kill()
        via.stage.start()
        check(self.kubectl(via, False, "exec", "shell", "--", "echo", "inside"), "inside\n")


def environment(spdy):
    wanted = "false" if spdy else "true"
    return {"KUBECTL_REMOTE_COMMAND_WEBSOCKETS": wanted, "KUBECTL_PORT_FORWARD_WEBSOCKETS": wanted}
