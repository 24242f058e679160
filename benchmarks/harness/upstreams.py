"""The servers behind the proxies, which share the load generator's core, and one without a proxy before it."""

import os
import shutil

from . import machine as machines

SIZES = {"/30m": 30_000_000, "/7m": 7_000_000, "/80k": 80_000, "/upload": 7_000_000}

# A browser's request and an application's response, about 900 and 600 bytes.
REAL_REQUEST = [
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
    "Accept-Encoding: gzip, deflate, br",
    "Accept-Language: en-US,en;q=0.7,de;q=0.3",
    "Cache-Control: no-cache",
    "Cookie: consent=yes; theme=dark; visit=" + "3f7a" * 48 + "; cart=" + "b1c9" * 24,
    "Referer: http://shop.example.test/catalogue/lamps?sort=price&page=4",
    "Upgrade-Insecure-Requests: 1",
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
]
REAL_RESPONSE = {
    "Cache-Control": "private, max-age=0, must-revalidate",
    "Content-Language": "en",
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data: https://images.example.test",
    "ETag": '"5f2c-61a8e0b3c4d5e"',
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "Set-Cookie": "visit=" + "3f7a" * 24 + "; Path=/; HttpOnly; SameSite=Lax",
    "Strict-Transport-Security": "max-age=63072000",
    "Vary": "Accept-Encoding, Cookie",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
}


def nginx_config(machine, name, body, streams=256):
    d = machine.directory
    connections = machines.open_files() - 100
    return machine.write(f"{name}.conf", f"""daemon off; worker_processes 1; pid {d}/{name}.pid; error_log {d}/{name}.err;
events {{ worker_connections {connections}; }}
http {{
  access_log off; keepalive_requests 1000000000; keepalive_timeout 1h; client_max_body_size 0; sendfile on; tcp_nodelay on;
  http2_max_requests 1000000000; http2_max_concurrent_streams {streams};
  client_body_temp_path {d}/{name}-body; proxy_temp_path {d}/{name}-proxy;
  fastcgi_temp_path {d}/{name}-f; uwsgi_temp_path {d}/{name}-u; scgi_temp_path {d}/{name}-s;
{body}
}}
""")


def start_direct(machine):
    """Starts one with the small reply on the proxies' core, to be asked without a proxy; returns its port."""
    [port] = machines.free_ports(1)
    conf = nginx_config(machine, "direct", f"""  server {{ listen 127.0.0.1:{port} backlog=4096;
    location = /small {{ return 200 "{'x' * 100}"; }} }}""")
    machine.start(machine.proxy_core, [shutil.which("nginx"), "-c", conf], "direct", [port])
    return port


def start(machine, peer):
    """Starts them and returns their ports by name: app (HTTP/1.1), app2 (h2c), and those of the peer if it is wanted."""
    for path in ("/30m", "/7m", "/80k"):
        with open(machine.directory + path, "wb") as out:
            out.write(os.urandom(1000) * (SIZES[path] // 1000))
    quoted = ((name, value.replace('"', '\\"')) for name, value in REAL_RESPONSE.items())
    fields = "".join(f'add_header {name} "{value}"; ' for name, value in quoted)
    app, app2 = machines.free_ports(2)
    # All of 127.0.0.0/8 leads to app, which can so be many endpoints.
    conf = nginx_config(machine, "upstream", f"""  server {{
    listen {app} backlog=4096; listen 127.0.0.1:{app2} http2 backlog=4096;
    root {machine.directory}; default_type application/octet-stream;
    location = /small {{ return 200 "{'x' * 100}"; }}
    location /r/ {{ return 200 "{'x' * 100}"; }}
    location = /real {{ {fields} default_type text/html; return 200 "{'x' * 2000}"; }}
    # nginx reads a body only for whom it passes the request on to.
    location = /upload {{ client_body_buffer_size 8m; proxy_pass http://127.0.0.1:{app}/uploaded;
      proxy_pass_request_body off; proxy_set_header Content-Length ""; }}
    location = /uploaded {{ return 204; }}
    location / {{ }}
  }}""", streams=4096)  # so that one connection is enough for whoever wants no more
    machine.start(machine.load_core, [shutil.which("nginx"), "-c", conf], "upstream", [app, app2])
    ports = {"app": app, "app2": app2}
    if peer:
        ports.update(machine.serve_peer())
    return ports
