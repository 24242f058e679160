"""The proxies that are compared: how each is configured, started and told apart."""

import os
import shlex
import shutil
import sys

from . import machine as machines
from . import upstreams as servers

# Where a client enters: protocol of the client, TLS, the upstream it leads to, and that one's protocol.
DOORS = {
    "h1": ("h1", False, "app", "h1"),
    "h2c": ("h2", False, "app", "h1"),
    "h1tls": ("h1", True, "app", "h1"),
    "h2tls": ("h2", True, "app", "h1"),
    "h2h2": ("h2", False, "app2", "h2"),
    "grpc": ("h2", False, "grpc", "h2"),
    "page1": ("h1", False, "page", "h1"),
    "page2": ("h2", False, "page", "h1"),
    "direct1": ("h1", False, "direct", "h1"),
    "direct2": ("h2", False, "direct", "h1"),
}
DIRECT = "direct"  # no upstream: the proxy answers by itself, with a body of 11 bytes
ANSWER = "hello world"
STREAMS = 256  # concurrent ones, of a connection


def endpoint_hosts(count):
    return [f"127.0.{i // 250}.{i % 250 + 1}" for i in range(count)]


class Proxy:
    """One process under test. It has a port for each of its doors whose upstream runs; 'connect' is the one for CONNECT."""

    name = ""
    doors = tuple(DOORS)
    asked = True  # whether a CONNECT is needed, or it relays by itself

    def __init__(self, machine, upstreams):
        self.machine = machine
        self.upstreams = upstreams
        doors = [d for d in self.doors if (d == "connect" and "tunnel" in upstreams) or (d in DOORS and DOORS[d][2] in (*upstreams, DIRECT))]
        self.ports = dict(zip(doors, machines.free_ports(len(doors))))
        self.process = None

    @classmethod
    def command(cls):
        """Its program, or None if it is not installed."""
        return shutil.which(cls.name)

    def start(self):
        self.process = self.machine.start(self.core(), self.arguments(), self.name, self.ports.values(), self.environment())

    def core(self):
        return self.machine.proxy_core

    def environment(self):
        return {}

    def arguments(self):
        raise NotImplementedError

    @property
    def pid(self):
        return self.process.pid

    def url(self, door, path):
        return f"http{'s' if door.endswith('tls') else ''}://127.0.0.1:{self.ports[door]}{path}"

    def address(self, door):
        return f"127.0.0.1:{self.ports[door]}"

    def tunnel_target(self):
        return f"127.0.0.1:{self.upstreams['tunnel']}" if self.asked else "-"

    def wanted(self):
        """Its doors but for CONNECT: name and what DOORS says."""
        return [(name, DOORS[name]) for name in self.ports if name in DOORS]


class Gateway(Proxy):
    doors = (*DOORS, "connect")

    def __init__(self, machine, upstreams, command, name="gateway", transport="auto", access_log=False):
        super().__init__(machine, upstreams)
        self.name = name
        self.launcher = command
        self.transport = transport
        self.access_log = access_log

    def arguments(self):
        conf = self.machine.write(f"{self.name}.yaml", self.configuration())
        return [a.replace("{config}", conf) for a in shlex.split(self.launcher)]

    def configuration(self):
        m = self.machine
        listeners = "".join(f"  - {{name: {name}, address: 127.0.0.1, port: {self.ports[name]}, "
                            f"protocol: {'HTTPS' if tls else 'HTTP'}, limits: {{maxConnections: 0}}, timeouts: {{idle: 1h}}"
                            + (f", tls: {{certificateRefs: [{{certFile: {m.path('cert.pem')}, keyFile: {m.path('key.pem')}}}]}}"
                               if tls else "") + "}\n" for name, (_, tls, _, _) in self.wanted())
        connect = ""
        if "connect" in self.ports:
            listeners += (f"  - {{name: egress, address: 127.0.0.1, port: {self.ports['connect']}, protocol: HTTP, "
                          "limits: {maxConnections: 0}}\n")
            connect = """connect:
  - parentRefs: [{name: egress}]
    allow: ["*"]
    allowedPorts: [1-65535]
    trustedDestinations: [127.0.0.0/8]
    limits: {maxTunnels: 0, maxTunnelsPerClient: 0}
"""
        used = {upstream: protocol for _, (_, _, upstream, protocol) in self.wanted()}
        routes = "".join(f"  - parentRefs: [{', '.join(f'{{name: {n}}}' for n, d in self.wanted() if d[2] == upstream)}]\n"
                         f"    rules:\n{self.rules(upstream)}" for upstream in used)
        upstreams = "".join(f"  - name: {upstream}\n    protocol: {'h2c' if protocol == 'h2' else 'http1'}\n"
                            f"    endpoints: [{self.endpoints(upstream)}]\n" for upstream, protocol in used.items() if upstream != DIRECT)
        log = "" if self.access_log else 'accessLog: {format: "off"}\n'
        return (f"listeners:\n{listeners}routes:\n{routes}upstreams:\n{upstreams}{connect}"
                f"transport: {self.transport}\n{log}")

    def rules(self, upstream):
        if upstream == DIRECT:
            return f"      - filters: [{{type: DirectResponse, directResponse: {{body: {ANSWER}}}}}]\n"
        return f"      - backendRefs: [{{name: {upstream}}}]\n"

    def endpoints(self, upstream):
        return f"{{host: 127.0.0.1, port: {self.upstreams[upstream]}}}"


class ScaledGateway(Gateway):
    """One with a table of routes, many endpoints or more event loops, entered by h1 alone."""

    doors = ("h1",)

    def __init__(self, machine, upstreams, command, name, routes=10, endpoints=1, loops=1):
        super().__init__(machine, {"app": upstreams["app"]}, command, name)
        self.routes = routes
        self.count = endpoints
        self.loops = loops

    def core(self):
        """As many as it has event loops; that of the load generator only if there is no other."""
        first, load = int(self.machine.proxy_core), int(self.machine.load_core)
        free = sorted(os.sched_getaffinity(0) - {first}, key=lambda core: (core == load, core))
        return ",".join(str(core) for core in [first, *free][:self.loops])

    def configuration(self):
        return super().configuration() + f"workers: {self.loops}\n"

    def rules(self, upstream):
        return "".join(f"      - {{matches: [{{path: {{type: PathPrefix, value: /r/{i}}}}}], backendRefs: [{{name: {upstream}}}]}}\n"
                       for i in range(self.routes))

    def endpoints(self, upstream):
        port = self.upstreams[upstream]
        return ", ".join(f"{{host: {host}, port: {port}}}" for host in endpoint_hosts(self.count))


class Nginx(Proxy):
    name = "nginx"
    doors = ("h1", "h2c", "h1tls", "h2tls", "page1", "page2", "direct1", "direct2")  # no HTTP/2 towards upstreams, no CONNECT

    def arguments(self):
        m = self.machine
        tls = f"ssl_certificate {m.path('cert.pem')}; ssl_certificate_key {m.path('key.pem')}; ssl_protocols TLSv1.2 TLSv1.3; " \
              "ssl_session_cache shared:bench:10m;"
        upstreams = {d[2] for _, d in self.wanted()} - {DIRECT}
        body = "".join(f"  upstream {u} {{ {self.servers(self.upstreams[u])} keepalive 1024; keepalive_requests 1000000000; }}\n"
                       for u in upstreams)
        body += '  map $http_upgrade $connection_upgrade { default upgrade; "" ""; }\n'
        for name, (protocol, secure, upstream, _) in self.wanted():
            words = ("ssl " if secure else "") + ("http2 " if protocol == "h2" else "")
            body += f"""  server {{ listen 127.0.0.1:{self.ports[name]} {words}backlog=4096; {tls if secure else ""}
    location / {{ {self.answer(upstream)} }} }}
"""
        return [self.command(), "-c", servers.nginx_config(m, self.name.replace(", ", "-").replace(" ", "-"), body)]

    def answer(self, upstream):
        if upstream == DIRECT:
            return f'return 200 "{ANSWER}";'
        # Without the limit of 0, nginx writes to disk what a slow client has not read.
        return f"""proxy_pass http://{upstream}; proxy_http_version 1.1; proxy_request_buffering off; proxy_max_temp_file_size 0;
      proxy_set_header Connection $connection_upgrade; proxy_set_header Upgrade $http_upgrade;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header Host $http_host;"""

    def servers(self, port):
        return f"server 127.0.0.1:{port};"


class ScaledNginx(Nginx):
    """One with many endpoints, entered by h1 alone."""

    doors = ("h1",)
    routes = 10

    def __init__(self, machine, upstreams, name, count):
        super().__init__(machine, {"app": upstreams["app"]})
        self.name = name
        self.count = count

    def servers(self, port):
        return " ".join(f"server {host}:{port};" for host in endpoint_hosts(self.count))


class Haproxy(Proxy):
    name = "haproxy"
    doors = (*DOORS, "connect")
    asked = False

    def arguments(self):
        m = self.machine
        text = f"""global
  nbthread 1
  maxconn {machines.open_files() // 2 - 200}
  tune.h2.max-concurrent-streams {STREAMS}
  ssl-default-bind-options ssl-min-ver TLSv1.2
defaults
  mode http
  option http-keep-alive
  http-reuse always
  timeout connect 5s
  timeout client 1h
  timeout server 1h
  timeout tunnel 1h
"""
        for name, (protocol, secure, upstream, behind) in self.wanted():
            alpn = "h2" if protocol == "h2" else "http/1.1"
            words = f"ssl crt {m.path('both.pem')} alpn {alpn}" if secure else "proto h2" if protocol == "h2" else ""
            text += f"listen {name}\n  bind 127.0.0.1:{self.ports[name]} {words} backlog 4096\n"
            if upstream == DIRECT:
                text += f'  http-request return status 200 content-type text/plain string "{ANSWER}"\n'
                continue
            text += f"""  option forwardfor
  http-request set-header X-Forwarded-Proto {"https" if secure else "http"}
  server up 127.0.0.1:{self.upstreams[upstream]} pool-max-conn 1024 {"proto h2" if behind == "h2" else ""}
"""
        if "connect" in self.ports:
            text += f"""listen connect
  mode tcp
  bind 127.0.0.1:{self.ports['connect']} backlog 4096
  server up 127.0.0.1:{self.upstreams['tunnel']}
"""
        return [self.command(), "-db", "-f", m.write("haproxy.cfg", text)]


class Envoy(Proxy):
    name = "envoy"
    doors = (*DOORS, "connect")

    @classmethod
    def command(cls):
        return os.environ.get("ENVOY") or shutil.which("envoy")

    def arguments(self):
        m = self.machine
        entries = dict(self.wanted())
        if "connect" in self.ports:
            entries["connect"] = ("h1", False, "tunnel", "h1")
        listeners = "".join(self.listener(name, *entry) for name, entry in entries.items())
        clusters = "".join(self.cluster(u, b) for u, b in {d[2]: d[3] for d in entries.values()}.items() if u != DIRECT)
        conf = m.write("envoy.yaml", f"""static_resources:
  listeners:
{listeners}  clusters:
{clusters}overload_manager:
  resource_monitors:
  - name: envoy.resource_monitors.global_downstream_max_connections
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig
      max_active_downstream_connections: 1000000
""")
        return [self.command(), "--concurrency", "1", "-c", conf, "--disable-hot-restart", "--log-level", "error"]

    def listener(self, name, protocol, secure, upstream, _):
        m = self.machine
        connect = name == "connect"
        match = "connect_matcher: {}" if connect else 'prefix: "/"'
        upgrade = "{upgrade_type: CONNECT, connect_config: {}}" if connect else "{upgrade_type: websocket}"
        action = (f'direct_response: {{status: 200, body: {{inline_string: "{ANSWER}"}}}}' if upstream == DIRECT else
                  f"route: {{cluster: {upstream}, timeout: 0s, upgrade_configs: [{upgrade}]}}")
        tls = f"""
      transport_socket:
        name: envoy.transport_sockets.tls
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext
          common_tls_context:
            alpn_protocols: [{"h2" if protocol == "h2" else "http/1.1"}]
            tls_params: {{tls_minimum_protocol_version: TLSv1_2, tls_maximum_protocol_version: TLSv1_3}}
            tls_certificates:
            - {{certificate_chain: {{filename: {m.path('cert.pem')}}}, private_key: {{filename: {m.path('key.pem')}}}}}""" if secure else ""
        return f"""  - name: {name}
    address: {{socket_address: {{address: 127.0.0.1, port_value: {self.ports[name]}}}}}
    tcp_backlog_size: 4096
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: {name}
          codec_type: {"HTTP2" if protocol == "h2" else "HTTP1"}
          use_remote_address: true
          generate_request_id: false
          delayed_close_timeout: 0s
          upgrade_configs: [{{upgrade_type: {"CONNECT" if connect else "websocket"}}}]
          common_http_protocol_options: {{idle_timeout: 3600s}}
          http2_protocol_options: {{max_concurrent_streams: {STREAMS}, initial_stream_window_size: 16777216, initial_connection_window_size: 33554432}}
          route_config:
            virtual_hosts:
            - name: all
              domains: ["*"]
              routes:
              - match: {{{match}}}
                {action}
          http_filters:
          - name: envoy.filters.http.router
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router{tls}
"""

    def cluster(self, name, behind):
        return f"""  - name: {name}
    type: STATIC
    connect_timeout: 5s
    circuit_breakers: {{thresholds: [{{max_connections: 100000, max_pending_requests: 100000, max_requests: 100000}}]}}
    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
        explicit_http_config: {{{"http2_protocol_options" if behind == "h2" else "http_protocol_options"}: {{}}}}
    load_assignment:
      cluster_name: {name}
      endpoints:
      - lb_endpoints:
        - endpoint: {{address: {{socket_address: {{address: 127.0.0.1, port_value: {self.upstreams[name]}}}}}}}
"""


class Squid(Proxy):
    name = "squid"
    doors = ("connect",)

    def arguments(self):
        m = self.machine
        return [self.command(), "-N", "-f", m.write("squid.conf", f"""http_port 127.0.0.1:{self.ports['connect']}
http_access allow all
access_log none
cache_log {m.path('squid.cache.log')}
pid_filename {m.path('squid.pid')}
cache deny all
coredump_dir {m.directory}
max_filedescriptors {machines.open_files()}
shutdown_lifetime 1 seconds
""")]


class Tinyproxy(Proxy):
    name = "tinyproxy"
    doors = ("connect",)

    def arguments(self):
        m = self.machine
        return [self.command(), "-d", "-c", m.write("tinyproxy.conf", f"Port {self.ports['connect']}\nListen 127.0.0.1\n"
                f"Timeout 3600\nMaxClients 30000\nLogLevel Critical\nLogFile \"{m.path('tinyproxy.out')}\"\n")]


PEERS = (Nginx, Haproxy, Envoy, Squid, Tinyproxy)


def default_gateway():
    if os.path.exists(f"{machines.ROOT}/gateway-core/target/gateway.jar"):
        return f"{machines.ROOT}/bin/gateway run --config {{config}}"
    sys.exit("the gateway is not built: mvn -q -DskipTests package")
