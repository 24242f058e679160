"""The tools: how each is set up to use the proxy, and what it is to fetch."""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from . import mirror, place

CURL_OPTION = "CURL_OPTION"  # curl has no variable that makes it tell more


class Run:
    """One start of a tool: in which situation, with what credentials, in a directory of its own."""

    def __init__(self, directory, proxy, login, situation, ca):
        self.directory = directory
        self.proxy = proxy
        self.user, self.password, self.quoted = login
        self.host = situation.host
        self.base = f"{situation.scheme}://{situation.host}"
        self.ca = ca
        self.plainly = situation.variable is not None
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": directory, "LANG": "C.UTF-8", "TERM": "dumb", "COLUMNS": "400",
            "JAVA_HOME": os.environ.get("JAVA_HOME", ""),
            "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", os.path.expanduser("~/.rustup")),
        }
        if self.plainly:
            self.set(**{situation.variable: self.url()})

    def url(self):
        return f"http://{self.user}:{self.quoted}@{self.proxy}:{place.PORT}"

    def set(self, **variables):
        self.environment.update(variables)

    def file(self, name, text):
        path = os.path.join(self.directory, name)
        mirror.write(path, text)
        return path

    def start(self, *command):
        """Returns whether the command succeeded, and what was on the screen."""
        with tempfile.TemporaryFile() as screen:  # no pipe, which a child of the command could keep open
            try:
                ok = subprocess.run(
                    command, cwd=self.directory, env=self.environment, stdin=subprocess.DEVNULL, stdout=screen, stderr=screen,
                    timeout=120, check=False).returncode == 0
                end = ""
            except subprocess.TimeoutExpired:
                ok, end = False, "\nit hangs"
            screen.seek(0)
            return ok, screen.read().decode("utf-8", "replace") + end


class Tool:
    name = ""
    program = ""
    version_command = ("--version",)
    setting = ""  # its own one, beside HTTPS_PROXY
    http = True  # whether it fetches http:// URLs
    hides = {}  # variables with which it shows a cause that it hides otherwise

    def path(self):
        return shutil.which(self.program or self.name)

    def version(self):
        done = subprocess.run([self.path(), *self.version_command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return re.search(r"\d+\.\d+(\.\d+)*", done.stdout).group()

    def configure(self, run):
        """Sets the proxy by the tool's own setting, or by variables if it has none."""
        run.set(HTTPS_PROXY=run.url(), HTTP_PROXY=run.url())

    def fetch(self, run):
        raise NotImplementedError


class Curl(Tool):
    name = "curl"
    setting = "`curl -x http://USER:PASSWORD@gateway:3128 …`, or a line `proxy = \"…\"` in `~/.curlrc`"
    hides = {CURL_OPTION: "-v"}

    def configure(self, run):
        run.file(".curlrc", f'proxy = "{run.url()}"\n')

    def fetch(self, run):
        options = [run.environment[CURL_OPTION]] if CURL_OPTION in run.environment else []
        return run.start("curl", "-sS", *options, "--cacert", run.ca, f"{run.base}/hello.txt")


class Wget(Tool):
    name = "wget"
    setting = "`https_proxy` (lower case), or `https_proxy = …` in `~/.wgetrc`"

    def configure(self, run):
        run.file(".wgetrc", f"https_proxy = {run.url()}\nhttp_proxy = {run.url()}\n")

    def fetch(self, run):
        return run.start("wget", "-nv", "--tries=1", f"--ca-certificate={run.ca}", f"{run.base}/hello.txt")


class Git(Tool):
    name = "git"
    hides = {"GIT_CURL_VERBOSE": "1"}
    setting = "`git config --global http.proxy http://USER:PASSWORD@gateway:3128`"

    def configure(self, run):
        run.start("git", "config", "--global", "http.proxy", run.url())

    def fetch(self, run):
        run.set(GIT_SSL_CAINFO=run.ca, GIT_TERMINAL_PROMPT="0")
        return run.start("git", "clone", f"{run.base}/hello.git")


class Apt(Tool):
    name = "apt"
    setting = "`Acquire::https::Proxy \"http://USER:PASSWORD@gateway:3128\";` in a file of `/etc/apt/apt.conf.d`"

    def configure(self, run):
        run.file("apt.conf", f'Acquire::https::Proxy "{run.url()}";\nAcquire::http::Proxy "{run.url()}";\n')

    def fetch(self, run):
        for directory in ("lists/partial", "cache/archives/partial", "parts"):
            os.makedirs(os.path.join(run.directory, directory))
        run.file("status", "")
        run.file("sources.list", f"deb [trusted=yes] {run.base}/apt ./\n")
        options = {
            "Dir::Etc::sourcelist": "sources.list", "Dir::Etc::sourceparts": "parts", "Dir::State::lists": "lists", "Dir::Cache": "cache",
            "Dir::State::status": "status", "Dir::Etc::parts": "parts",
        }
        line = [f"-o{key}={os.path.join(run.directory, value)}" for key, value in options.items()]
        line += ["-oAPT::Sandbox::User=root", "-oAcquire::Retries=0", f"-oAcquire::https::CAInfo={run.ca}", "-oAPT::Update::Error-Mode=any"]
        if not run.plainly:
            line.append("-c" + os.path.join(run.directory, "apt.conf"))
        ok, said = run.start("apt-get", *line, "update")
        if not ok:
            return ok, said
        ok, more = run.start("apt-get", *line, "download", "hello-mirror")
        return ok, said + more


class Pip(Tool):
    name = "pip"
    setting = "`pip config set global.proxy http://USER:PASSWORD@gateway:3128`, or `--proxy`"

    def path(self):
        own = os.path.join(os.environ.get("CLIENTS", ""), "bin", "python")
        return own if os.access(own, os.X_OK) else sys.executable

    version_command = ("-m", "pip", "--version")

    def configure(self, run):
        run.file(".config/pip/pip.conf", f"[global]\nproxy = {run.url()}\n")

    def trust(self, run):
        """pip ignores an index of http:// unless its host is to be trusted."""
        return [f"--trusted-host={run.host}"] if run.base.startswith("http:") else []

    def fetch(self, run):
        run.set(PIP_DISABLE_PIP_VERSION_CHECK="1")
        return run.start(
            self.path(), "-m", "pip", "download", "--no-cache-dir", "--no-deps", "--retries=1", f"--cert={run.ca}", *self.trust(run),
            f"--index-url={run.base}/pip", "hello")


class Npm(Tool):
    name = "npm"
    setting = "`npm config set https-proxy http://USER:PASSWORD@gateway:3128`"

    def configure(self, run):
        run.file(".npmrc", f"https-proxy={run.url()}\nproxy={run.url()}\n")

    def fetch(self, run):
        run.file("package.json", "{}")
        return run.start(
            "npm", "install", "hello", f"--registry={run.base}/npm/", "--fetch-retries=0", f"--cafile={run.ca}", "--no-audit", "--no-fund", "--no-progress",
            "--no-update-notifier")


class Cargo(Tool):
    name = "cargo"
    hides = {"CARGO_HTTP_DEBUG": "true", "CARGO_LOG": "network=debug"}
    setting = "`[http]` with `proxy = \"http://USER:PASSWORD@gateway:3128\"` in `~/.cargo/config.toml`"

    def configure(self, run):
        run.file(".cargo/config.toml", f'[http]\nproxy = "{run.url()}"\n')

    def fetch(self, run):
        run.set(CARGO_HTTP_CAINFO=run.ca, CARGO_NET_RETRY="0")
        run.file("src/lib.rs", "")
        run.file("Cargo.toml", '[package]\nname = "user"\nversion = "1.0.0"\nedition = "2021"\n[dependencies]\nhello = "1"\n')
        source = f'[source.crates-io]\nreplace-with = "m"\n[source.m]\nregistry = "sparse+{run.base}/cargo/"\n'
        config = os.path.join(run.directory, ".cargo/config.toml")
        given = open(config, encoding="utf-8").read() if os.path.exists(config) else ""
        run.file(".cargo/config.toml", given + source)
        return run.start("cargo", "fetch")


class Go(Tool):
    name = "go"
    version_command = ("version",)
    setting = ""

    def fetch(self, run):
        run.set(
            SSL_CERT_FILE=run.ca, GOPROXY=f"{run.base}/go", GOSUMDB="off", GOTOOLCHAIN="local", GOFLAGS="-modcacherw",
            GOPATH=os.path.join(run.directory, "go"))
        run.file("go.mod", "module user\n\ngo 1.20\n")
        return run.start("go", "mod", "download", "example.org/hello@v1.0.0")


def trusted(run):
    """Makes a store of what Java is to trust, and returns the system properties that name it."""
    store = os.path.join(run.directory, "trusted.p12")
    subprocess.run(["keytool", "-importcert", "-noprompt", "-storetype", "PKCS12", "-storepass", "changeit", "-alias", "ca",
                    "-file", run.ca, "-keystore", store], check=True, capture_output=True)
    return {"javax.net.ssl.trustStore": store, "javax.net.ssl.trustStorePassword": "changeit"}


class Maven(Tool):
    name = "Maven"
    http = False
    program = "mvn"
    setting = "`<proxies>` in `~/.m2/settings.xml`"

    def configure(self, run):
        """The file of settings does it."""

    def settings(self, run):
        proxies = "" if run.plainly else (
            f"<proxies><proxy><host>{run.proxy}</host><port>{place.PORT}</port>"
            f"<username>{run.user}</username><password>{run.password}</password></proxy></proxies>")
        return (f"<settings>{proxies}<mirrors><mirror><id>mirror</id><mirrorOf>*</mirrorOf><url>{run.base}/maven</url></mirror>"
                "</mirrors></settings>")

    def fetch(self, run):
        run.set(MAVEN_OPTS=" ".join(f"-D{key}={value}" for key, value in trusted(run).items()) + " -XX:TieredStopAtLevel=1")
        settings = run.file("settings.xml", self.settings(run))
        parent = "<parent><groupId>org.example</groupId><artifactId>hello</artifactId><version>1</version><relativePath/></parent>"
        run.file("pom.xml", f"<project><modelVersion>4.0.0</modelVersion>{parent}<artifactId>user</artifactId><packaging>pom</packaging></project>")
        return run.start(self.path(), "-B", "-s", settings, f"-Dmaven.repo.local={run.directory}/repository", "validate")


class NewMaven(Maven):
    """The Maven that mvnw downloads. It has another HTTP client than that of Debian."""

    name = "Maven by mvnw"

    def path(self):
        found = glob.glob(os.path.expanduser("~/.m2/wrapper/dists/apache-maven-*/*/bin/mvn"))
        return max(found, default=None)


class Gradle(Tool):
    """Debian's Gradle, which needs a Java of its age."""

    name = "Gradle"
    http = False
    program = "gradle"
    setting = "`systemProp.https.proxyHost` and others in `~/.gradle/gradle.properties`"

    def version(self):
        said = subprocess.run([self.path(), "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=self.java(), check=False).stdout
        return re.search(r"(?m)^Gradle (\S+)", said).group(1)

    @staticmethod
    def java():
        return {**os.environ, "JAVA_HOME": max(glob.glob("/usr/lib/jvm/java-17-openjdk-*"), default="")}

    def configure(self, run):
        values = {"proxyHost": run.proxy, "proxyPort": place.PORT, "proxyUser": run.user, "proxyPassword": run.password}
        run.file(".gradle/gradle.properties", "".join(f"systemProp.https.{key}={value}\n" for key, value in values.items()))

    def fetch(self, run):
        run.set(JAVA_HOME=self.java()["JAVA_HOME"])
        run.file("build.gradle", (
            f"repositories {{ maven {{ url '{run.base}/maven' }} }}\n"
            "configurations { wanted }\n"
            "dependencies { wanted 'org.example:hello:1@pom' }\n"
            "task fetch { doLast { configurations.wanted.files } }\n"))
        run.file("settings.gradle", "")
        options = [f"-D{key}={value}" for key, value in trusted(run).items()]
        return run.start("gradle", "--no-daemon", "-g", os.path.join(run.directory, ".gradle"), *options, "fetch")


class Skopeo(Tool):
    name = "skopeo"
    http = False

    def fetch(self, run):
        run.set(SSL_CERT_FILE=run.ca)
        os.makedirs(os.path.join(run.directory, "image"))
        return run.start("skopeo", "--insecure-policy", "copy", f"docker://{run.host}/hello:1", f"dir:{run.directory}/image")


class Docker(Tool):
    name = "Docker"
    http = False
    program = "dockerd"

    def path(self):
        return shutil.which("dockerd") if shutil.which("docker") and os.access("/", os.W_OK) else None

    def fetch(self, run):
        run.set(SSL_CERT_FILE=run.ca)
        home = run.directory
        socket = f"unix://{home}/s"
        with open(f"{home}/log", "wb") as log:
            daemon = subprocess.Popen(
                ["dockerd", "--data-root", f"{home}/data", "--exec-root", f"{home}/exec", "--pidfile", f"{home}/pid", "-H", socket,
                 "-s", "vfs", "--bridge=none", "--iptables=false", "--ip6tables=false"],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=run.environment)
        try:
            deadline = time.monotonic() + 30
            while not run.start("docker", "-H", socket, "version")[0]:
                if daemon.poll() is not None or time.monotonic() > deadline:
                    return False, open(f"{home}/log", encoding="utf-8").read()
                time.sleep(0.1)
            return run.start("docker", "-H", socket, "pull", f"{run.host}/hello:1")
        finally:
            daemon.terminate()
            daemon.wait()


ALL = (Curl(), Wget(), Git(), Apt(), Pip(), Npm(), Cargo(), Go(), Maven(), NewMaven(), Gradle(), Skopeo(), Docker())
