"""Puts pinned versions of applications and their clients into the cache.

The pins are requirements.txt, package-lock.json, a go.mod for each of Go's, and a pom.xml for each application of Maven Central. What Debian
packages is unpacked, not installed: no service starts, and the rest of the system stays as it is.
"""

import glob
import os
import re
import shutil
import subprocess

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "gateway", "applications")
DEPENDENCIES = "org.apache.maven.plugins:maven-dependency-plugin:3.11.0:copy-dependencies"


class Lacking(Exception):
    """Something cannot be installed."""


def run(*command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more)
    if done.returncode:
        raise Lacking(f"{' '.join(command)}:\n{done.stdout[-3000:]}")
    return done.stdout


def read(*path):
    with open(os.path.join(HERE, *path), encoding="utf-8") as file:
        return file.read()


def place(name, pins, fill):
    """Returns a directory of the cache. Fills it if it was made with other pins."""
    directory = os.path.join(CACHE, name)
    mark = os.path.join(directory, "installed-pins")
    if not os.path.exists(mark) or open(mark, encoding="utf-8").read() != pins:
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
        fill(directory)
        with open(mark, "w", encoding="utf-8") as file:
            file.write(pins)
    return directory


def npm():
    def fill(directory):
        for name in ("package.json", "package-lock.json"):
            shutil.copy(os.path.join(HERE, name), directory)
        run("npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", directory)

    return place("npm", read("package-lock.json"), fill)


def npm_version(package):
    return found(rf'"{re.escape(package)}": "([\d.]+)"', read("package.json"))


def python():
    def fill(directory):
        run("python3", "-m", "venv", "--clear", directory)
        run(os.path.join(directory, "bin", "pip"), "-q", "install", "--disable-pip-version-check", "--require-hashes",
            "--only-binary", ":all:", "-r", os.path.join(HERE, "requirements.txt"))

    return place("python", read("requirements.txt"), fill)


def python_version(package):
    return found(rf"(?m)^{re.escape(package)}==([\d.]+)", read("requirements.txt"))


def go(name, programs):
    """Returns the directory with programs that are built of packages, by what a go.mod names."""
    home = os.path.join(HERE, name)
    sources = sorted(glob.glob("**/*.go", root_dir=home, recursive=True))

    def fill(directory):
        for program, package in programs.items():
            run("go", "build", "-o", os.path.join(directory, program), package, cwd=home)

    return place(name, "".join(read(name, each) for each in ("go.sum", *sources)), fill)


def go_version(name, module):
    return found(rf"(?m)^\s*(?:require )?{re.escape(module)} v([\d.]+)", read(name, "go.mod"))


def maven(name):
    """Returns the directory with what a pom.xml names. An archive is unpacked there as "home"."""

    def fill(directory):
        run("mvn", "-q", "-B", "--strict-checksums", "-f", os.path.join(HERE, name, "pom.xml"), DEPENDENCIES, f"-DoutputDirectory={directory}")
        for archive in glob.glob(os.path.join(directory, "*.tar.gz")):
            run("tar", "-xzf", archive, "-C", directory)
            top, = (path for path in glob.glob(os.path.join(directory, "*")) if os.path.isdir(path))
            os.rename(top, os.path.join(directory, "home"))
            os.remove(archive)

    return place(name, read(name, "pom.xml"), fill)


def maven_version(name):
    return found(r"<dependency>[\s\S]*?<version>(.+?)</version>", read(name, "pom.xml"))


def debian(*packages):
    """Returns the directory in which packages of Debian are unpacked."""
    name = "debian-" + "-".join(packages)
    pins = " ".join(f"{each}={debian_version(each)}" for each in packages)

    def fill(directory):
        run("apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", *pins.split(), cwd=directory)
        for file in glob.glob(os.path.join(directory, "*.deb")):
            run("dpkg", "-x", file, directory)
            os.remove(file)

    return place(name, pins, fill)


def debian_version(package):
    """Returns the version that this Debian offers. An image may lack the lists of packages, so they are fetched then."""
    if not offered(package):
        run("apt-get", "-q", "-o", "APT::Sandbox::User=root", "update")
    version = offered(package)
    if not version:
        raise Lacking(f"Debian offers no package {package}")
    return version


def offered(package):
    """Returns the version of a package that can be downloaded, or None. One that is merely installed cannot."""
    policy = run("apt-cache", "policy", package)
    candidate = re.search(r"Candidate: (?!\(none\))(\S+)", policy)
    return candidate.group(1) if candidate and " Packages\n" in policy else None


def found(pattern, text):
    match = re.search(pattern, text)
    if not match:
        raise Lacking(f"no {pattern}")
    return match.group(1)
