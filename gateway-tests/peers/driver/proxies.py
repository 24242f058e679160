"""The proxies: the gateway and its peers, each with a minimal configuration and as many lanes as are asked for.

A lane is a port of the proxy that leads to one upstream, so that cases do not meet.
"""

import os
import re
import shutil
import socket
import subprocess
import time

from . import tls


def held_port():
    """Returns a socket that keeps a port from everybody but a program that listens with SO_REUSEADDR, as proxies do."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    return held


pem = tls.Certificates.path


class Proxy:
    name = ""

    def __init__(self, directory, leads):
        """The leads are, for each lane, its setup and the port of its upstream."""
        self.directory = os.path.join(directory, self.name)
        os.makedirs(self.directory)
        self.leads = leads
        self.held = [held_port() for _ in leads]
        self.ports = [each.getsockname()[1] for each in self.held]
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
        with open(os.path.join(self.directory, "log"), "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(self.command(), stdout=log, stderr=log, cwd=self.directory)
        if not self.listens():
            self.stop()
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
        for each in self.held:
            each.close()


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
            of_listener = of_rule = of_upstream = ""
            if setup.limited:
                of_listener = ", timeouts: {requestHeaders: 1s, requestBodyIdle: 1s, idle: 1s, responseWriteIdle: 1s}, limits: {minBodyRate: 0}"
                of_rule = ", timeouts: {streamIdle: 1s}, webSocket: {idle: 1s}"
                of_upstream = ", timeouts: {connect: 1s, responseHeaders: 1s, idle: 1s}"
            if setup.whole:
                of_listener, of_rule = ", limits: {minBodyRate: 0}", ", timeouts: {request: 1s}"
            if setup.tokens:
                of_rule += ", upgrades: [websocket, tcp]"
            if setup.tls:
                shown = ", ".join(f"{{certFile: {pem(name + '.crt')}, keyFile: {pem('key.pem')}}}" for name in ("a.test", "b.test"))
                asks = f", clientAuth: required, caFile: {pem('ca.crt')}" if setup.asks else ""
                of_listener += f", tls: {{certificateRefs: [{shown}]{asks}}}"
            if setup.upstream_tls:
                of_upstream += f", tls: {{serverName: up.test, caFile: {pem('ca.crt')}}}"
            spoken = "HTTPS" if setup.tls else "HTTP"
            listeners.append(f"  - {{name: {name}, address: 127.0.0.1, port: {port}, protocol: {spoken}{of_listener}}}")
            routes.append(f"  - {{parentRefs: [{{name: {name}}}], rules: [{{backendRefs: [{{name: {name}}}]{of_rule}}}]}}")
            upstreams.append(f"  - {{name: {name}, protocol: {protocol}, endpoints: [{{host: 127.0.0.1, port: {to}}}]{of_upstream}}}")
        path = self.write("\n".join(
            ["listeners:", *listeners, "routes:", *routes, "upstreams:", *upstreams, "workers: 1", "drain: {timeout: 1s}",
             "admin: {address: 127.0.0.1, port: 0}", ""]))
        return [self.java, "-jar", os.path.abspath(self.jar), "run", path]


class Nginx(Proxy):
    name = "nginx"
    version_option = ["-v"]

    @classmethod
    def can(cls, setup):
        return setup.upstream == "http1" and not setup.whole

    def command(self):
        servers = "\n".join(self.server(*lane) for lane in self.lanes())
        return [self.program(), "-p", self.directory, "-c", self.write(
            "user root; daemon off; pid nginx.pid; error_log error.log; events { worker_connections 4096; } http { access_log off;"
            " client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;"
            f" map $http_upgrade $connection_upgrade {{ default upgrade; '' ''; }}\n{servers}\n}}\n")]

    @staticmethod
    def server(port, setup, to):
        listen = f"127.0.0.1:{port}{' http2' if setup.downstream == 'http2' else ''}"
        more = ""
        if setup.limited:
            more = "".join(f"{name}_timeout 1s; " for name in (
                "client_header", "client_body", "keepalive", "send", "proxy_connect", "proxy_read", "proxy_send"))
        if setup.upstream_tls:
            more += (f"proxy_ssl_verify on; proxy_ssl_trusted_certificate {pem('ca.crt')}; proxy_ssl_name up.test; proxy_ssl_server_name on; ")
        named = [""]
        if setup.tls:
            listen += " ssl http2"
            asks = f"ssl_verify_client on; ssl_client_certificate {pem('ca.crt')}; " if setup.asks else ""
            named = [f"server_name {name}; ssl_certificate {pem(name + '.crt')}; ssl_certificate_key {pem('key.pem')}; {asks}"
                     for name in ("a.test", "b.test")]
        connection = "$connection_upgrade; proxy_set_header Upgrade $http_upgrade" if setup.upgrades else '""'
        scheme = "https" if setup.upstream_tls else "http"
        return (f"upstream u{port} {{ server 127.0.0.1:{to}; keepalive 1; {'keepalive_timeout 1s; ' if setup.limited else ''}}}"
                + "".join(f" server {{ listen {listen}; {name}{more}location / {{ proxy_pass {scheme}://u{port}; proxy_http_version 1.1;"
                          f" proxy_set_header Host $http_host; proxy_set_header Connection {connection}; }} }}" for name in named))


class Haproxy(Proxy):
    name = "haproxy"
    version_option = ["-v"]

    def command(self):
        lanes = "\n".join(self.lane(*lane) for lane in self.lanes())
        return [self.program(), "-db", "-f", self.write(
            "defaults\n  mode http\n  timeout connect 5s\n  timeout client 20s\n  timeout server 20s\n"
            f"  http-reuse always\n{lanes}\n")]

    @staticmethod
    def lane(port, setup, to):
        front, back = [f"bind 127.0.0.1:{port}", f"default_backend b{port}"], []
        if setup.tls:
            front[0] += f" ssl crt {pem('a.test.pem')} crt {pem('b.test.pem')} alpn h2,http/1.1"
            front[0] += f" ca-file {pem('ca.crt')} verify required" if setup.asks else ""
        if setup.limited:
            front += ["timeout client 1s", "timeout http-request 1s", "timeout http-keep-alive 1s"]
            back += ["timeout connect 1s", "timeout server 1s", "timeout tunnel 1s"]
        if setup.whole:
            front += ["timeout http-request 1s", "option http-buffer-request"]
        back.append(f"server s 127.0.0.1:{to}{' proto h2' if setup.upstream == 'http2' else ''}"
                    f"{' pool-purge-delay 1s' if setup.limited else ''}")
        if setup.upstream_tls:
            back[-1] += f" ssl verify required ca-file {pem('ca.crt')} verifyhost up.test sni str(up.test)"
        return "\n  ".join([f"frontend f{port}", *front]) + "\n" + "\n  ".join([f"backend b{port}", *back])


class Envoy(Proxy):
    name = "envoy"
    version_option = ["--version"]

    @classmethod
    def program(cls):
        return os.environ.get("ENVOY") or shutil.which("envoy")

    def command(self):
        lanes = self.lanes()
        text = ("static_resources:\n  listeners:\n" + "".join(self.listener(port, setup) for port, setup, _ in lanes) + "  clusters:\n"
                + "".join(self.cluster(*lane) for lane in lanes))
        path = self.write(text)
        os.rename(path, path + ".yaml")
        return [self.program(), "-c", path + ".yaml", "--concurrency", "1", "--use-dynamic-base-id", "-l", "error"]

    @staticmethod
    def listener(port, setup):
        more, of_route = "", ""
        if setup.upgrades:
            more += f"          upgrade_configs: [{{upgrade_type: websocket}}{', {upgrade_type: tcp}' if setup.tokens else ''}]\n"
        if setup.limited:
            more += ("          request_headers_timeout: 1s\n          stream_idle_timeout: 1s\n"
                     "          common_http_protocol_options: {idle_timeout: 1s}\n")
            of_route = ", timeout: 0s"
        if setup.whole:
            more += "          request_timeout: 1s\n"
        socket = ""
        if setup.tls:
            shown = ", ".join(f"{{certificate_chain: {{filename: {pem(name + '.crt')}}}, private_key: {{filename: {pem('key.pem')}}}}}"
                              for name in ("a.test", "b.test"))
            trusted = f", validation_context: {{trusted_ca: {{filename: {pem('ca.crt')}}}}}" if setup.asks else ""
            socket = f"""      transport_socket:
        name: tls
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext
          require_client_certificate: {"true" if setup.asks else "false"}
          common_tls_context: {{alpn_protocols: [h2, http/1.1], tls_certificates: [{shown}]{trusted}}}
"""
        return f"""  - address: {{socket_address: {{address: 127.0.0.1, port_value: {port}}}}}
    filter_chains:
    -
{socket}      filters:
      - name: http
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: s
{more}          route_config: {{virtual_hosts: [{{name: v, domains: ["*"], routes: [{{match: {{prefix: "/"}}, route: {{cluster: c{port}{of_route}}}}}]}}]}}
          http_filters: [{{name: r, typed_config: {{"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}}}]
"""

    @staticmethod
    def cluster(port, setup, to):
        more = ""
        if setup.upstream == "http2" or setup.limited:
            more = f"""    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
        explicit_http_config: {{{"http2_protocol_options" if setup.upstream == "http2" else "http_protocol_options"}: {{}}}}
"""
        if setup.limited:
            more += "        common_http_protocol_options: {idle_timeout: 1s}\n    connect_timeout: 1s\n"
        if setup.upstream_tls:
            more += f"""    transport_socket:
      name: tls
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
        sni: up.test
        common_tls_context:
          validation_context:
            trusted_ca: {{filename: {pem("ca.crt")}}}
            match_typed_subject_alt_names: [{{san_type: DNS, matcher: {{exact: up.test}}}}]
"""
        return f"""  - name: c{port}
{more}    load_assignment: {{cluster_name: c{port}, endpoints: [{{lb_endpoints: [{{endpoint: {{address: {{socket_address: {{address: 127.0.0.1, port_value: {to}}}}}}}}}]}}]}}
"""


PEERS = (Nginx, Haproxy, Envoy)
