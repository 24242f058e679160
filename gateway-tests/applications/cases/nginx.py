"""nginx as the upstream, whose auth_request leads back through the gateway."""

import os

from play import install
from play.rig import mirror
from play.stage import SIZE, Application, action, check

CONFIGURATION = """\
daemon off;
pid {directory}/nginx.pid;
error_log stderr;
worker_processes 1;
events {{ worker_connections 256; }}
http {{
  access_log off;
  client_body_temp_path {directory}/body;
  proxy_temp_path {directory}/proxy;
  fastcgi_temp_path {directory}/fastcgi;
  uwsgi_temp_path {directory}/uwsgi;
  scgi_temp_path {directory}/scgi;
  client_max_body_size 0;
  server {{
    listen 127.0.0.1:{port};
    root {directory}/root;
    location / {{ auth_request /check; auth_request_set $who $upstream_http_x_user; add_header X-User $who; }}
    location = /check {{
      internal;
      proxy_pass http://127.0.0.1:{gateway}/login;
      proxy_pass_request_body off;
      proxy_set_header Content-Length "";
      proxy_set_header Range "";
      proxy_set_header X-Original-URI $request_uri;
    }}
    location = /login {{ auth_basic shop; auth_basic_user_file {directory}/users; add_header X-User $remote_user; try_files /empty =404; }}
    location /up {{ auth_request /check; dav_methods PUT; create_full_put_path on; }}
    location /small {{ auth_request /check; client_max_body_size 1m; dav_methods PUT; }}
  }}
}}
"""


class Nginx(Application):
    name = "nginx with `auth_request`"
    how = "Debian's nginx serves files. Its `auth_request` asks the gateway, and so itself, who the user is. The client is curl."
    big = "/big"
    headers = {"Authorization": "Basic dG9tOnNlY3JldA=="}  # tom:secret

    def version(self):
        return install.found(r"nginx/(\d+\.\d+\.\d+)", install.run("nginx", "-v"))

    def prepare(self, stage):
        root = os.path.join(stage.directory, "root")
        mirror.write(os.path.join(root, "empty"), "")
        mirror.write(os.path.join(root, "page.txt"), "for users")
        os.link(stage.big_file()[0], os.path.join(root, "big"))
        os.chmod(stage.directory, 0o755)  # the worker has another user
        for name in ("root", "root/up", "root/small"):
            os.makedirs(os.path.join(stage.directory, name), exist_ok=True)
            os.chmod(os.path.join(stage.directory, name), 0o777)
        digest = stage.run("openssl", "passwd", "-apr1", "secret").strip()
        mirror.write(os.path.join(stage.directory, "users"), f"tom:{digest}\n")
        mirror.write(os.path.join(stage.directory, "nginx.conf"), CONFIGURATION.format(
            directory=stage.directory, port=stage.application_port, gateway=stage.defaults.port))

    def command(self, stage):
        return ["nginx", "-c", os.path.join(stage.directory, "nginx.conf"), "-p", stage.directory, "-e", "stderr"]

    @action("log in, and be refused")
    def login(self, via):
        check(via.curl("/page.txt", "-u", "tom:secret"), ("for users", 200))
        status, headers, _ = via.ask("GET", "/page.txt", headers=self.headers)
        check((status, headers["X-User"]), (200, "tom"))
        check(via.curl("/page.txt", "-u", "tom:wrong")[1], 401)
        check(via.curl("/page.txt")[1], 401)

    @action("upload 150 MB")
    def upload(self, via):
        check(via.curl("/up/new", "-u", "tom:secret", "-T", via.stage.big_file()[0])[1], 201)
        check(via.curl("/up/new", "-u", "tom:secret", output=True), (SIZE, 200))

    @action("refuse a large upload early: 401 and 413")
    def refuse(self, via):
        for version in ("--http1.1", "--http2"):
            check(via.curl("/up/x", version, "-T", via.stage.big_file()[0])[1], 401, version)
            check(via.curl("/small/x", version, "-u", "tom:secret", "-T", via.stage.big_file()[0])[1], 413, version)

    @action("resume a download")
    def resume(self, via):
        check(via.curl("/big", "-u", "tom:secret", "-r", f"{SIZE - 1000}-", output=True), (1000, 206))
