"""The API of Docker's engine, with its command line."""

import contextlib
import glob
import os
import signal
import subprocess
import tarfile

from play import install
from play.stage import SIZE, Application, action, check, end, until, until_newer, wait

NEEDS = "`upgrades: [tcp, h2c]`"
IMAGE = "busybox:local"
COMMANDS = ("sh", "cat", "echo", "wc", "sleep", "head")


class Docker(Application):
    name = "Docker engine"
    how = ("Debian's `dockerd` listens on loopback. The client is its command line, without TLS. Builds are of the older kind; those by"
           " BuildKit run in [another test](clients.md#docker).")
    rule = "upgrades: [tcp, h2c]"

    def version(self):
        return install.found(r"(\d+\.\d+\.\d+)", install.run("dockerd", "--version"))

    def install(self):
        install.debian("busybox-static")

    def prepare(self, stage):
        with tarfile.open(os.path.join(stage.directory, "busybox.tar"), "w") as tar:
            tar.add(os.path.join(stage.cache, "debian-busybox-static", "bin", "busybox"), "bin/busybox")
            for name in COMMANDS:
                link = tarfile.TarInfo(f"bin/{name}")
                link.type, link.linkname = tarfile.SYMTYPE, "busybox"
                tar.addfile(link)
        stage.big_file()

    def command(self, stage):
        home = stage.directory
        return [
            "dockerd", "--data-root", f"{home}/data", "--exec-root", f"{home}/exec", "--pidfile", f"{home}/pid", "-s", "vfs",
            "-H", f"tcp://127.0.0.1:{stage.application_port}", "--tls=false", "--bridge=none", "--iptables=false", "--ip6tables=false",
            "--log-level=warn"]

    def environment(self, stage):
        return {"DOCKER_TLS_VERIFY": "", "DOCKER_RAMDISK": "true"}

    def ready(self, stage):
        try:
            return stage.direct.ask("GET", "/_ping")[0] == 200
        except OSError:
            return False

    def finish(self, stage):
        """Ends containerd and the containers, which have groups of their own, and outlive an engine that was killed."""
        try:
            for shim in processes(stage.directory, "containerd"):
                try:
                    with open(f"/proc/{shim}/task/{shim}/children", encoding="utf-8") as file:
                        children = [int(number) for number in file.read().split()]
                except OSError:
                    continue  # it has ended
                for number in (shim, *children):
                    try:
                        os.kill(number, signal.SIGKILL)
                    except ProcessLookupError:
                        pass
            wait(lambda: not processes(stage.directory, "containerd"), 20, "containerd does not end")
        finally:
            # By this file, the engine would wait for a containerd that is dead, but whose parent has not noticed yet.
            with contextlib.suppress(FileNotFoundError):
                os.remove(os.path.join(stage.directory, "exec", "containerd", "containerd.pid"))
            with open("/proc/mounts", encoding="utf-8") as file:
                mounts = [line.split()[1] for line in file]
            for each in reversed([path for path in mounts if path.startswith(stage.directory)]):
                subprocess.run(["umount", "-l", each], check=False)  # it may have gone with another one

    def line(self, via, *arguments):
        return ["docker", "-H", f"tcp://127.0.0.1:{via.port}", *arguments]

    def docker(self, via, *arguments, **more):
        return via.stage.run(*self.line(via, *arguments), environment={"DOCKER_BUILDKIT": "0"}, **{"timeout": 60, **more})

    def container(self, via, *command):
        """Starts a container without a network, and returns its number."""
        return self.docker(via, "run", "-d", "--net=none", IMAGE, *command).strip().splitlines()[-1]

    @action("import an image, and save it")
    def images(self, via):
        self.docker(via, "import", "busybox.tar", IMAGE)
        self.docker(via, "save", "-o", "saved.tar", IMAGE)
        check(os.path.getsize(os.path.join(via.stage.directory, "saved.tar")) > 1_000_000, True)

    @action("build an image, by `DOCKER_BUILDKIT=0`")
    def build(self, via):
        text = f"FROM {IMAGE}\nRUN echo built >/built\nCMD cat /built\n"
        said = self.docker(via, "build", "--network=none", "-q", "-", stdin=text)
        check("sha256:" in said, True, said)

    @action("run a container, and read its log")
    def detached(self, via):
        number = self.container(via, "echo", "hello")
        check(self.docker(via, "wait", number).strip(), "0")
        check(self.docker(via, "logs", number).strip(), "hello")

    @action("copy 150 MB into a container, and out of it")
    def copy(self, via):
        number = self.container(via, "sleep", "600")
        self.docker(via, "cp", "big", f"{number}:/big", timeout=120)
        self.docker(via, "cp", f"{number}:/big", "copy", timeout=120)
        check(os.path.getsize(os.path.join(via.stage.directory, "copy")), SIZE)
        self.docker(via, "rm", "-f", number)

    @action("run a container, and read its output (`docker run`)", needs=NEEDS, note="with defaults, it hangs")
    def run(self, via):
        said = self.docker(via, "run", "--rm", "--net=none", IMAGE, "echo", "hello", timeout=15)
        check(said.strip(), "hello")

    @action("send 20 MB to a command, and read its output after the end of its input (`docker run -i`)", needs=NEEDS)
    def interactive(self, via):
        said = self.docker(via, "run", "-i", "--rm", "--net=none", IMAGE, "sh", "-c", "wc -c; echo end", stdin="x" * 20_000_000, timeout=20)
        check(said.split(), ["20000000", "end"])

    @action("run a command in a container (`docker exec`)", needs=NEEDS, note="with defaults, `unable to upgrade to tcp, received 200`")
    def exec(self, via):
        number = self.container(via, "sleep", "600")
        try:
            check(self.docker(via, "exec", number, "echo", "inside", timeout=15).strip(), "inside")
            said = self.docker(via, "exec", "-i", number, "sh", "-c", "cat; echo end", stdin="through\n", timeout=15)
            check(said.split(), ["through", "end"])
            self.docker(via, "exec", number, "sh", "-c", "exit 3", timeout=15, fails=True)
            said = self.docker(via, "exec", number, "head", "-c", "50000000", "/dev/zero", timeout=60)
            check(len(said), 50_000_000)
        finally:
            self.docker(via, "rm", "-f", number)

    @action("attach to a container, across a reload of the gateway, and notice that the engine was killed", needs=NEEDS)
    def attach(self, via):
        number = self.container(via, "sh", "-c", "while sleep 0.2; do echo tick; done")
        client = via.stage.popen(*self.line(via, "attach", "--no-stdin", number))
        try:
            until(client, "tick", 15)
            via.stage.reload()
            until_newer(client, "tick", 15)
            via.stage.kill()
            wait(lambda: client.poll() is not None, 30, "the client does not end")
        finally:
            end(client)

    @action("go on after its restart")
    def restart(self, via):
        via.stage.start()
        check("busybox" in self.docker(via, "images"), True)
        for number in self.docker(via, "ps", "-aq").split():
            self.docker(via, "rm", "-f", number)


def processes(directory, name):
    """Returns the numbers of processes of a name, whose command line has a directory."""
    found = []
    for path in glob.glob("/proc/[0-9]*"):
        try:
            with open(f"{path}/comm", encoding="utf-8") as comm, open(f"{path}/cmdline", "rb") as line:
                if comm.read().startswith(name) and directory.encode() in line.read():
                    found.append(int(os.path.basename(path)))
        except OSError:
            pass  # it has ended
    return found
