"""A GraphQL server with subscriptions, used by its own page in Chromium."""

import json
import os

from play import install
from play.stage import HERE, SIZE, Application, action, check, until, until_newer


class Yoga(Application):
    name = "GraphQL Yoga"
    how = "The server has subscriptions by event streams. Its page GraphiQL and an `EventSource` run in Chromium."
    base = "/graphql"
    big = "/big"

    def version(self):
        return install.npm_version("graphql-yoga")

    def install(self):
        install.npm()

    def command(self, stage):
        return ["node", os.path.join(HERE, "clients", "yoga.cjs"), str(stage.application_port), str(SIZE)]

    def environment(self, stage):
        return {"NODE_PATH": os.path.join(stage.cache, "npm", "node_modules")}

    @action("query, and get an error")
    def query(self, via):
        def ask(query):
            status, _, body = via.ask("POST", "/graphql", json.dumps({"query": query}), {"Content-Type": "application/json"})
            return status, json.loads(body)

        check(ask("{ hello }"), (200, {"data": {"hello": "world"}}))
        check("errors" in ask("{ nothing }")[1], True)

    @action("upload 150 MB by a multipart mutation")
    def upload(self, via):
        operation = json.dumps({"query": "mutation ($f: File!) { size(file: $f) }", "variables": {"f": None}})
        body, status = via.curl(
            "/graphql", "-F", f"operations={operation}", "-F", 'map={"0": ["variables.f"]}', "-F", f"0=@{via.stage.big_file()[0]}")
        check((status, json.loads(body)), (200, {"data": {"size": SIZE}}))

    @action("run a subscription in the page GraphiQL")
    def page(self, via):
        check(via.stage.node("browse.cjs", "graphiql", via.secure).strip().splitlines()[-1], "counted")

    @action("keep an `EventSource` in Chromium across a reload and a restart of the application")
    def event_source(self, via):
        browser = via.stage.popen_node("browse.cjs", "events", via.secure)
        try:
            until(browser, "event 3")
            via.stage.reload()
            until_newer(browser, "event ")
            via.stage.kill()
            until(browser, "error")
            via.stage.start()
            until(browser, "event 3")
        finally:
            browser.terminate()  # so that Chromium ends, too
            browser.wait()
            browser.stdout.close()
