"""Node-RED: its editor's API and its WebSocket, and a flow that moves something large."""

import json
import os

from play import install
from play.rig import mirror
from play.stage import SIZE, Application, action, check, end, form, until

SETTINGS = """\
module.exports = {
  uiHost: '127.0.0.1', uiPort: Number(process.env.PORT), userDir: process.env.USER_DIR, flowFile: 'flows.json', credentialSecret: 'x',
  apiMaxLength: '300mb', diagnostics: { enabled: false }, telemetry: { enabled: false }, httpAdminRoot: '/',
  adminAuth: { type: 'credentials', users: [{ username: 'tom', password: require('bcryptjs').hashSync('secret', 8), permissions: '*' }] },
}
"""
FLOWS = [
    {"id": "tab", "type": "tab", "label": "flow"},
    {"id": "in1", "z": "tab", "type": "http in", "url": "/big", "method": "get", "wires": [["make"]]},
    {"id": "make", "z": "tab", "type": "function", "func": f"msg.payload = Buffer.alloc({SIZE}, 'x'); return msg", "outputs": 1, "wires": [["out"]]},
    {"id": "in2", "z": "tab", "type": "http in", "url": "/up", "method": "post", "wires": [["size"]]},
    {"id": "size", "z": "tab", "type": "function", "func": "msg.payload = String(msg.payload.length); return msg", "outputs": 1, "wires": [["out"]]},
    {"id": "out", "z": "tab", "type": "http response", "wires": []},
]


class NodeRed(Application):
    name = "Node-RED"
    how = "The editor's API deploys a flow, which receives and sends something large. The clients are curl, and `ws` of Node."
    big = "/big"
    seconds = 120

    def version(self):
        return install.npm_version("node-red")

    def install(self):
        install.npm()

    def prepare(self, stage):
        mirror.write(os.path.join(stage.directory, "red", "settings.js"), SETTINGS)

    def command(self, stage):
        modules = os.path.join(stage.cache, "npm", "node_modules")
        return ["node", os.path.join(modules, "node-red", "red.js"), "--settings", os.path.join(stage.directory, "red", "settings.js")]

    def environment(self, stage):
        return {"PORT": str(stage.application_port), "USER_DIR": os.path.join(stage.directory, "red"),
                "NODE_PATH": os.path.join(stage.cache, "npm", "node_modules")}

    def ready(self, stage):
        """Its first answers say that there is no such page."""
        try:
            return stage.direct.ask("GET", "/auth/login")[0] == 200
        except OSError:
            return False

    def token(self, via, password="secret"):
        body, status = via.curl(
            "/auth/token", "-d", form(client_id="node-red-admin", grant_type="password", scope="*", username="tom", password=password))
        check(status, 200)
        return json.loads(body)["access_token"]

    @action("log in, and deploy a flow")
    def login(self, via):
        check(via.curl("/flows", output=True)[1], 401)
        body, status = via.curl(
            "/flows", "-H", f"Authorization: Bearer {self.token(via)}", "-H", "Content-Type: application/json", "-d", json.dumps(FLOWS))
        check(status, 204, body)

    @action("refuse a wrong password")
    def refused(self, via):
        body, status = via.curl("/auth/token", "-d", form(
            client_id="node-red-admin", grant_type="password", scope="*", username="tom", password="wrong"))
        check((status, json.loads(body)["error"]), (403, "invalid_grant"))

    @action("hear of a deployment by the editor's WebSocket, across a reload")
    def comms(self, via):
        client = via.stage.popen_node("red.cjs", via.secure.replace("http", "ws", 1) + "/comms", self.token(via))
        try:
            until(client, '"auth":"ok"')
            via.stage.reload()
            self.login(via)
            until(client, "notification/runtime-deploy")
        finally:
            end(client)

    @action("upload 150 MB")
    def upload(self, via):
        check(via.curl("/up", "-H", "Content-Type: application/octet-stream", "--data-binary", f"@{via.stage.big_file()[0]}"), (str(SIZE), 200))
