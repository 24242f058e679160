"""Brings the programs of the suites, in the versions that the counts are of, and keeps them."""

import os
import shlex
import shutil
import subprocess
import sys

CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "gateway", "suites")


class Unavailable(Exception):
    """A suite that this machine lacks something for."""


def find(name, hint):
    """A program of this machine."""
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/go/bin:{os.path.expanduser('~/.cargo/bin')}")
    if not found:
        raise Unavailable(f"{name} is not installed ({hint})")
    return found


def named(variable, what):
    """A command that whoever runs the suite names in the environment, because no package client brings it."""
    command = shlex.split(os.environ.get(variable, ""))
    if not command:
        raise Unavailable(f"{variable} does not name the command that starts {what}")
    return command


def call(what, command, **options):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode:
        raise Unavailable(f"{what} failed: {' '.join(command)}\n{done.stdout[-2000:]}")


def kept(name, make):
    """A directory of the cache, made once: what is made halfway is made again."""
    directory = os.path.join(CACHE, name)
    if not os.path.exists(os.path.join(directory, ".whole")):
        print(f"bringing {name}", file=sys.stderr, flush=True)
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
        make(directory)
        with open(os.path.join(directory, ".whole"), "w"):
            pass
    return directory


def go_program(package, version):
    """A program that 'go install' builds."""
    name = package.rsplit("/", 1)[1]
    return os.path.join(kept(f"{name}-{version}", lambda directory: call(
        "go install", [find("go", "Debian: golang-go"), "install", f"{package}@{version}"],
        env={**os.environ, "GOBIN": directory})), name)


def cargo_program(name, version):
    """A program that 'cargo install' builds of a registry's crate."""
    return os.path.join(kept(f"{name}-{version}", lambda directory: call(
        "cargo install", [find("cargo", "Debian: cargo"), "install", "--quiet", "--locked", "--root", directory,
                          "--version", version, name])), "bin", name)


def checkout(name, url, commit):
    """A repository's files at a commit."""
    def make(directory):
        call("git clone", ["git", "clone", "--quiet", "--no-checkout", url, directory])
        call("git checkout", ["git", "-C", directory, "checkout", "--quiet", commit])
    return kept(f"{name}-{commit[:12]}", make)


def virtual_environment(name, *packages):
    """The Python of an environment with these packages of PyPI."""
    def make(directory):
        call("python3 -m venv", [sys.executable, "-m", "venv", directory])
        call("pip install", [f"{directory}/bin/pip", "-q", "install", "--disable-pip-version-check", *packages])
    return os.path.join(kept(name, make), "bin", "python")
