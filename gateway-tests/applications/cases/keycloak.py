"""Keycloak, with a client of OpenID Connect and its pages in Chromium."""

import json
import os
import shutil

from play import install
from play.rig import mirror
from play.stage import Application, action, check, form

REALM = {
    "realm": "shop", "enabled": True,
    "users": [{"username": "tom", "enabled": True, "email": "tom@example.com", "firstName": "Tom", "lastName": "Shopper",
               "credentials": [{"type": "password", "value": "secret"}]}],
    "clients": [{"clientId": "web", "enabled": True, "secret": "a-secret", "redirectUris": ["https://app.example.com/*"],
                 "directAccessGrantsEnabled": True}],
}


class Keycloak(Application):
    name = "Keycloak"
    how = ("`start-dev` with `--proxy-headers=xforwarded`, a realm, a user and a client. The clients are `openid-client` of Node, Chromium on"
           " the login page, and curl. A login moves nothing large.")
    seconds = 600  # it builds itself first

    def version(self):
        return install.maven_version("keycloak")

    def install(self):
        install.maven("keycloak")
        install.npm()

    def prepare(self, stage):
        home = os.path.join(stage.directory, "keycloak")
        shutil.copytree(os.path.join(stage.cache, "keycloak", "home"), home)
        mirror.write(os.path.join(home, "data", "import", "shop.json"), json.dumps(REALM))

    def command(self, stage):
        return [
            os.path.join(stage.directory, "keycloak", "bin", "kc.sh"), "start-dev", "--import-realm", "--proxy-headers=xforwarded",
            "--http-host=127.0.0.1", f"--http-port={stage.application_port}", "--hostname-strict=false", "--cache=local",
            f"--http-management-port={stage.more_ports[0]}"]

    def environment(self, stage):
        return {"KC_BOOTSTRAP_ADMIN_USERNAME": "admin", "KC_BOOTSTRAP_ADMIN_PASSWORD": "secret",
                "JAVA_OPTS_APPEND": "-XX:TieredStopAtLevel=1"}

    def ready(self, stage):
        try:
            return stage.direct.ask("GET", "/realms/shop")[0] == 200
        except OSError:
            return False

    @action("log in with Chromium, exchange the code, and refresh the token")
    def login(self, via):
        check(via.stage.node("login.cjs", via.secure, "secret").split(), ["/realms/shop", "tom", "refreshed"])

    @action("refuse a wrong password")
    def refused(self, via):
        said = via.stage.node("login.cjs", via.secure, "wrong", fails=True)
        check("error: Error: refused" in said, True, said)

    def token(self, via, realm="shop", **fields):
        body, status = via.curl(f"/realms/{realm}/protocol/openid-connect/token", "-d", form(grant_type="password", **fields))
        check(status, 200, body)
        return json.loads(body)["access_token"]

    @action("administer: create 20 users by REST, and list them")
    def admin(self, via):
        token = self.token(via, "master", client_id="admin-cli", username="admin", password="secret")
        options = ("-H", f"Authorization: Bearer {token}", "-H", "Content-Type: application/json")
        for number in range(20):
            name = f"user{via.port}x{number}"
            check(via.curl("/admin/realms/shop/users", *options, "-d", json.dumps({"username": name}))[1], 201)
        body, status = via.curl(f"/admin/realms/shop/users?search=user{via.port}x", *options)
        check((status, len(json.loads(body))), (200, 20))

    @action("log in across a reload of the gateway, and after a restart of Keycloak")
    def restart(self, via):
        fields = {"client_id": "web", "client_secret": "a-secret", "username": "tom", "password": "secret", "scope": "openid"}
        token = self.token(via, **fields)
        via.stage.reload()
        bearer = ("-H", f"Authorization: Bearer {token}")
        check(via.curl("/realms/shop/protocol/openid-connect/userinfo", *bearer)[1], 200)
        via.stage.kill()
        status = via.curl("/realms/shop", output=True)[1]
        check(status in (502, 503), True, status)
        via.stage.start()
        self.token(via, **fields)
