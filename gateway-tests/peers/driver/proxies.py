"""The proxies: the gateway and its peers, each with a minimal configuration and as many lanes as are asked for.

A lane is a port of the proxy that leads to one upstream, so that cases do not meet.
"""

import os
import re
import shutil
import socket
import subprocess
import time


def free_ports(count):
    opened = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in opened]
    for each in opened:
        each.close()
    return ports


class Proxy:
    name = ""

    def __init__(self, directory, leads):
        """The leads are, for each lane, its setup and the port of its upstream."""
        self.directory = os.path.join(directory, self.name)
        os.makedirs(self.directory)
        self.leads = leads
        self.ports = []
        self.process = None

    @classmethod
    def program(cls):
        return shutil.which(cls.name)

    @classmethod
    def can(cls, _):
        """Whether it can be set up so."""
        return True

    @classmethod
    def version(cls):
        told = subprocess.run([cls.program(), *cls.version_option], capture_output=True, text=True, check=False)
        return re.search(r"\d+\.\d+\.\d+", told.stdout + told.stderr).group()

    def write(self, text):
        path = os.path.join(self.directory, self.name + ".conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def lanes(self):
        """Returns the port of each lane, its setup, and the port of its upstream."""
        return [(port, *lead) for port, lead in zip(self.ports, self.leads)]

    def start(self):
        for _ in range(5):
            self.ports = free_ports(len(self.leads))
            with open(os.path.join(self.directory, "log"), "a", encoding="utf-8") as log:
                self.process = subprocess.Popen(self.command(), stdout=log, stderr=log, cwd=self.directory)
            if self.listens():
                return
            self.stop()  # another process may have taken a port meanwhile
        raise SystemExit(f"{self.name} does not start; its log is in {self.directory}")

    def listens(self):
        deadline = time.monotonic() + 60
        for port in self.ports:
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except OSError:
                    if time.monotonic() > deadline or self.process.poll() is not None:
                        return False
                    time.sleep(0.1)
        return self.process.poll() is None

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait()


class Gateway(Proxy):
    name = "gateway"
    jar = ""
    java = "java"

    @classmethod
    def program(cls):
        return cls.java

    @classmethod
    def version(cls):
        return ""  # that of this clone

    def command(self):
        listeners, routes, upstreams = [], [], []
        for port, setup, to in self.lanes():
            name, protocol = f"lane{port}", {"http1": "http1", "http2": "h2c"}[setup.upstream]
            listeners.append(f"  - {{name: {name}, address: 127.0.0.1, port: {port}, protocol: HTTP}}")
            routes.append(f"  - {{parentRefs: [{{name: {name}}}], rules: [{{backendRefs: [{{name: {name}}}]}}]}}")
            upstreams.append(f"  - {{name: {name}, protocol: {protocol}, endpoints: [{{host: 127.0.0.1, port: {to}}}]}}")
        path = self.write("\n".join(
            ["listeners:", *listeners, "routes:", *routes, "upstreams:", *upstreams, "workers: 1", "drain: {timeout: 1s}",
             "admin: {address: 127.0.0.1, port: 0}", ""]))
        return [self.java, "-jar", os.path.abspath(self.jar), "run", path]


class Nginx(Proxy):
    name = "nginx"
    version_option = ["-v"]

    @classmethod
    def can(cls, setup):
        return setup.upstream == "http1"

    def command(self):
        servers = "\n".join(
            f"upstream u{port} {{ server 127.0.0.1:{to}; keepalive 1; }} server {{ listen 127.0.0.1:{port}{' http2' if setup.downstream == 'http2' else ''}; location / {{ "
            f"proxy_pass http://u{port}; proxy_http_version 1.1; proxy_set_header Host $http_host; proxy_set_header Connection \"\"; }} }}"
            for port, setup, to in self.lanes())
        return [self.program(), "-p", self.directory, "-c", self.write(
            "user root; daemon off; pid nginx.pid; error_log error.log; events {} http { access_log off; client_body_temp_path b;"
            f" proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;\n{servers}\n}}\n")]


class Haproxy(Proxy):
    name = "haproxy"
    version_option = ["-v"]

    def command(self):
        lanes = "\n".join(
            f"frontend f{port}\n  bind 127.0.0.1:{port}\n  default_backend b{port}\nbackend b{port}\n  server s 127.0.0.1:{to}{' proto h2' if setup.upstream == 'http2' else ''}"
            for port, setup, to in self.lanes())
        return [self.program(), "-db", "-f", self.write(
            "defaults\n  mode http\n  timeout connect 5s\n  timeout client 20s\n  timeout server 20s\n"
            f"  http-reuse always\n{lanes}\n")]


class Envoy(Proxy):
    name = "envoy"
    version_option = ["--version"]

    @classmethod
    def program(cls):
        return os.environ.get("ENVOY") or shutil.which("envoy")

    def command(self):
        def listener(port):
            return f"""  - address: {{socket_address: {{address: 127.0.0.1, port_value: {port}}}}}
    filter_chains:
    - filters:
      - name: http
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: s
          route_config: {{virtual_hosts: [{{name: v, domains: ["*"], routes: [{{match: {{prefix: "/"}}, route: {{cluster: c{port}}}}}]}}]}}
          http_filters: [{{name: r, typed_config: {{"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}}}]
"""

        def cluster(port, setup, to):
            http2 = """    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
        explicit_http_config: {http2_protocol_options: {}}
"""
            return f"""  - name: c{port}
{http2 if setup.upstream == "http2" else ""}    load_assignment: {{cluster_name: c{port}, endpoints: [{{lb_endpoints: [{{endpoint: {{address: {{socket_address: {{address: 127.0.0.1, port_value: {to}}}}}}}}}]}}]}}
"""

        text = ("static_resources:\n  listeners:\n" + "".join(map(listener, self.ports)) + "  clusters:\n"
                + "".join(cluster(*lane) for lane in self.lanes()))
        path = self.write(text)
        os.rename(path, path + ".yaml")
        return [self.program(), "-c", path + ".yaml", "--concurrency", "1", "--use-dynamic-base-id", "-l", "error"]


PEERS = (Nginx, Haproxy, Envoy)
