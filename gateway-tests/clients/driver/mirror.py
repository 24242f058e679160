"""The mirrors: one HTTPS server with a package for each tool, and a name server that knows where the hosts are."""

import gzip
import hashlib
import http.server
import io
import json
import os
import socket
import ssl
import subprocess
import tarfile
import threading
import zipfile

from . import place

GOOD = "pkg.mirror.example"
REFUSED = "other.example"
CLOSED = "closed.mirror.example"
MISSING = "missing.mirror.example"
PRIVATE = "private.mirror.example"
UNTRUSTED = "untrusted.mirror.example"
ADDRESSES = {
    GOOD: place.MIRROR,
    REFUSED: place.MIRROR,
    CLOSED: place.NOBODY,
    PRIVATE: place.PRIVATE,
    UNTRUSTED: place.MIRROR,
}
TEXT = "from the mirror"
MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"


# --- Certificates ----------------------------------------------------------------------------------------------------


def openssl(*arguments):
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)


def certificate(directory, name, host):
    """Makes an authority, and a certificate of it for a host; returns the paths of the authority's, the host's and its key."""
    ca, ca_key, cert, key, request, extensions = (
        os.path.join(directory, name + end) for end in ("-ca.pem", "-ca.key", ".pem", ".key", ".csr", ".ext"))
    new_key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl("req", "-x509", *new_key, "-subj", f"/CN={name} authority", "-days", "2", "-keyout", ca_key, "-out", ca,
            "-addext", "keyUsage=critical,keyCertSign,cRLSign")
    openssl("req", *new_key, "-subj", f"/CN={host}", "-keyout", key, "-out", request)
    write(extensions, f"subjectAltName=DNS:{host}\nextendedKeyUsage=serverAuth\nkeyUsage=digitalSignature\nbasicConstraints=CA:FALSE\n")
    openssl("x509", "-req", "-in", request, "-CA", ca, "-CAkey", ca_key, "-CAcreateserial", "-days", "2", "-extfile", extensions, "-out", cert)
    return ca, cert, key


# --- Packages --------------------------------------------------------------------------------------------------------


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())


def tar(files):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()


def zipped(files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def fill(root, scratch):
    """Writes a package named hello for each tool below the root of the server."""
    write(f"{root}/hello.txt", TEXT)
    fill_git(root, scratch)
    fill_apt(root, scratch)

    wheel = zipped({
        "hello.py": f"TEXT = '{TEXT}'\n",
        "hello-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: hello\nVersion: 1.0\n",
        "hello-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "hello-1.0.dist-info/RECORD": "",
    })
    write(f"{root}/pip/hello/hello-1.0-py3-none-any.whl", wheel)
    write(f"{root}/pip/hello/index.html", '<a href="hello-1.0-py3-none-any.whl">hello</a>')

    packed = tar({"package/package.json": '{"name": "hello", "version": "1.0.0"}', "package/index.js": f"// {TEXT}\n"})
    write(f"{root}/npm-files/hello-1.0.0.tgz", packed)
    dist = {"tarball": f"https://{GOOD}/npm-files/hello-1.0.0.tgz", "shasum": hashlib.sha1(packed).hexdigest()}
    versions = {"1.0.0": {"name": "hello", "version": "1.0.0", "dist": dist}}
    write(f"{root}/npm/hello", json.dumps({"name": "hello", "dist-tags": {"latest": "1.0.0"}, "versions": versions}))

    crate = tar({
        "hello-1.0.0/Cargo.toml": '[package]\nname = "hello"\nversion = "1.0.0"\nedition = "2021"\n',
        "hello-1.0.0/src/lib.rs": f"// {TEXT}\n",
    })
    write(f"{root}/cargo-files/hello-1.0.0.crate", crate)
    write(f"{root}/cargo/config.json", json.dumps({"dl": f"https://{GOOD}/cargo-files/{{crate}}-{{version}}.crate"}))
    line = {"name": "hello", "vers": "1.0.0", "deps": [], "cksum": sha256(crate), "features": {}, "yanked": False}
    write(f"{root}/cargo/he/ll/hello", json.dumps(line) + "\n")

    module = "module example.org/hello\n"
    versions = f"{root}/go/example.org/hello/@v"
    write(f"{versions}/list", "v1.0.0\n")
    write(f"{versions}/v1.0.0.info", '{"Version": "v1.0.0", "Time": "2026-01-01T00:00:00Z"}')
    write(f"{versions}/v1.0.0.mod", module)
    write(f"{versions}/v1.0.0.zip", zipped({
        "example.org/hello@v1.0.0/go.mod": module,
        "example.org/hello@v1.0.0/hello.go": f"// {TEXT}\npackage hello\n",
    }))

    pom = ("<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId><artifactId>hello</artifactId>"
           "<version>1</version><packaging>pom</packaging></project>")
    write(f"{root}/maven/org/example/hello/1/hello-1.pom", pom)
    write(f"{root}/maven/org/example/hello/1/hello-1.pom.sha1", hashlib.sha1(pom.encode()).hexdigest())

    layer = tar({"hello.txt": TEXT})
    plain = hashlib.sha256(gzip.decompress(layer)).hexdigest()
    image = json.dumps({
        "architecture": "amd64", "os": "linux", "config": {}, "rootfs": {"type": "layers", "diff_ids": ["sha256:" + plain]},
        "history": [{"created_by": "test"}]}).encode()
    manifest = json.dumps({
        "schemaVersion": 2, "mediaType": MANIFEST,
        "config": {"mediaType": "application/vnd.docker.container.image.v1+json", "size": len(image), "digest": "sha256:" + sha256(image)},
        "layers": [{"mediaType": "application/vnd.docker.image.rootfs.diff.tar.gzip", "size": len(layer),
                    "digest": "sha256:" + sha256(layer)}]}).encode()
    for blob in (image, layer):
        write(f"{root}/v2/hello/blobs/sha256:{sha256(blob)}", blob)
    write(f"{root}/v2/index.html", "{}")
    write(f"{root}/v2/hello/manifests/1", manifest)
    write(f"{root}/v2/hello/manifests/sha256:{sha256(manifest)}", manifest)


def fill_git(root, scratch):
    work, bare = f"{scratch}/git", f"{root}/hello.git"
    write(f"{work}/hello", TEXT)
    author = ("-c", "user.name=a", "-c", "user.email=a@b.example")
    for line in (("init", "-q", "-b", "main"), ("add", "hello"), (*author, "commit", "-q", "-m", "hello"), ("clone", "-q", "--bare", ".", bare),
                 ("-C", bare, "update-server-info")):
        subprocess.run(["git", *line], cwd=work, check=True)


def fill_apt(root, scratch):
    write(f"{scratch}/deb/DEBIAN/control", "Package: hello-mirror\nVersion: 1\nArchitecture: all\nMaintainer: a <a@b.example>\nDescription: hello\n")
    os.makedirs(f"{root}/apt")
    subprocess.run(["dpkg-deb", "-b", "--root-owner-group", f"{scratch}/deb", f"{root}/apt/hello.deb"], check=True, capture_output=True)
    with open(f"{root}/apt/hello.deb", "rb") as file:
        deb = file.read()
    packages = ("Package: hello-mirror\nVersion: 1\nArchitecture: all\nMaintainer: a <a@b.example>\nDescription: hello\n"
                f"Filename: ./hello.deb\nSize: {len(deb)}\nSHA256: {sha256(deb)}\n\n")
    write(f"{root}/apt/Packages", packages)
    write(f"{root}/apt/Release", f"Suite: test\nDate: Thu, 01 Jan 2026 00:00:00 UTC\nSHA256:\n {sha256(packages.encode())} {len(packages)} Packages\n")


# --- Servers ---------------------------------------------------------------------------------------------------------


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def guess_type(self, path):
        if "/manifests/" in path:
            return MANIFEST
        return "application/json" if "/npm/" in path else super().guess_type(path)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address, root, contexts):
        self.root = root
        self.contexts = contexts
        super().__init__(address, Handler)

    def finish_request(self, request, client_address):
        request.settimeout(60)
        try:
            with self.contexts.wrap_socket(request, server_side=True) as encrypted:
                Handler(encrypted, client_address, self, directory=self.root)
        except OSError:
            pass  # the client does not trust the certificate, or has gone


def context(pair):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(*pair)
    return made


def serve(root, trusted, untrusted):
    """Serves HTTPS, with the certificate of another authority for the host that is not to be trusted."""
    usual, other = context(trusted), context(untrusted)

    def choose(connection, name, _):
        connection.context = other if name == UNTRUSTED else usual

    usual.sni_callback = choose
    threading.Thread(target=Server((place.MIRROR, 443), root, usual).serve_forever, daemon=True).start()


def answer_names():
    """Answers questions for names, and returns the port."""
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 0))

    def run():
        while True:
            question, client = server.recvfrom(4096)
            end, labels = 12, []
            while question[end]:
                labels.append(question[end + 1:end + 1 + question[end]].decode())
                end += 1 + question[end]
            address = ADDRESSES.get(".".join(labels).lower())
            asked = question[12:end + 5]
            found = address and asked[-4:-2] == b"\0\1"
            code = b"\x81\x80" if address else b"\x81\x83"
            reply = question[:2] + code + b"\0\1" + (b"\0\1" if found else b"\0\0") + b"\0\0\0\0" + asked
            if found:
                reply += b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + socket.inet_aton(address)
            server.sendto(reply, client)

    threading.Thread(target=run, daemon=True).start()
    return server.getsockname()[1]
