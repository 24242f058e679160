package dev.gateway.cli;

import dev.gateway.format.Durations;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Takes an endpoint of a running gateway out of service, and waits on request until nothing runs there. */
@Command(
        name = "drain",
        mixinStandardHelpOptions = true,
        description = {
            "Takes an endpoint out of service: it gets no new requests, and what runs there may finish.",
            "With --wait the command ends when nothing runs there any more. Then the server may be stopped.",
            "'gateway undrain' puts the endpoint back. SIGTERM and POST /drain drain the gateway itself."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  gateway drain app 10.0.0.7:8080",
            "  gateway drain app 10.0.0.7:8080 --wait --timeout 5m",
            "  gateway drain app 10.0.0.7:8080 --sessions 0s --wait"
        })
final class DrainCommand implements Callable<Integer> {
    private static final long POLL_MILLIS = 500;

    @Mixin
    private final AdminOptions admin = new AdminOptions();

    @Mixin
    private final EndpointArguments endpoint = new EndpointArguments();

    @Option(names = "--wait", description = "Wait until no request or tunnel runs at the endpoint.")
    private boolean wait;

    @Option(
            names = "--timeout",
            paramLabel = "DURATION",
            description =
                    "Wait no longer than this, then exit with code 1; the endpoint keeps draining. Default: no limit")
    private @Nullable String timeout;

    @Option(
            names = "--sessions",
            paramLabel = "DURATION",
            description = "How long sticky sessions stay, 0s to move them at once. Default: as long as they last")
    private @Nullable String sessions;

    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        PrintWriter out = CommandSupport.out(spec);
        PrintWriter err = CommandSupport.err(spec);
        Duration limit = timeout == null ? null : Durations.parse(timeout);
        if (timeout != null && limit == null) {
            err.println("--timeout: expected a duration such as 5m" + Durations.hint(timeout));
            return CommandSupport.USAGE;
        }
        if (timeout != null && !wait) {
            err.println("--timeout limits --wait: add --wait");
            return CommandSupport.USAGE;
        }
        String action =
                endpoint.action("drain") + (sessions == null ? "" : "?sessions=" + EndpointArguments.encode(sessions));
        return admin.use(err, client -> {
            int code = AdminOptions.print(client.post(action, AdminOptions.asker("drain")), out, err);
            return code == CommandSupport.OK && wait ? await(client, limit, out, err) : code;
        });
    }

    private int await(AdminClient client, @Nullable Duration limit, PrintWriter out, PrintWriter err)
            throws IOException, InterruptedException {
        long begin = System.nanoTime();
        String told = "";
        while (true) {
            AdminClient.Answer answer = client.get("/upstreams");
            if (answer.status() != 200) {
                return AdminOptions.print(answer, out, err);
            }
            Use use = Use.of(JsonView.parse(answer.body()), endpoint.upstream(), endpoint.endpoint());
            if (use == null) {
                err.println(endpoint.endpoint() + " has left upstream " + endpoint.upstream()
                        + ", and the gateway does not show what still runs there");
                return CommandSupport.UNAVAILABLE;
            }
            if (!use.drains) {
                err.println(endpoint.endpoint() + " does not drain any more: somebody has put it back into service");
                return CommandSupport.UNAVAILABLE;
            }
            if (use.isOver()) {
                out.println("nothing runs at " + endpoint.endpoint() + " any more");
                return CommandSupport.OK;
            }
            String what = use.text() + " at " + endpoint.endpoint();
            if (limit != null && System.nanoTime() - begin >= limit.toNanos()) {
                err.println("after " + Durations.print(limit) + ": " + what + "; the endpoint keeps draining");
                return CommandSupport.UNAVAILABLE;
            }
            if (!what.equals(told)) {
                told = what;
                out.println(what);
                out.flush();
            }
            Thread.sleep(POLL_MILLIS);
        }
    }

    /**
     * What an endpoint is used for.
     *
     * @param running requests and tunnels in progress
     * @param keepsSessions whether it still gets requests of its sessions
     */
    private record Use(boolean drains, long running, boolean keepsSessions) {
        /** Finds an endpoint in what {@code /upstreams} shows; returns null if it is not there. */
        static @Nullable Use of(JsonView upstreams, String upstream, String endpoint) {
            for (JsonView each : upstreams.list("upstreams")) {
                for (JsonView one : each.list("endpoints")) {
                    if (each.text("name").equals(upstream)
                            && one.text("endpoint").equals(endpoint)) {
                        return of(one);
                    }
                }
            }
            return null;
        }

        private static Use of(JsonView endpoint) {
            return new Use(
                    endpoint.text("state").equals("draining"),
                    (long) endpoint.number("requestsActive"),
                    endpoint.number("sessionsForSeconds") > 0);
        }

        boolean isOver() {
            return running == 0 && !keepsSessions;
        }

        String text() {
            if (running == 0) {
                return "its sessions stay";
            }
            return (running == 1 ? "1 request or tunnel runs" : running + " requests and tunnels run")
                    + (keepsSessions ? ", and its sessions stay" : "");
        }
    }

    /** The arguments of commands that change what becomes of an endpoint. */
    static final class EndpointArguments {
        @Parameters(index = "0", paramLabel = "UPSTREAM", description = "Name of the upstream.")
        private String upstream = "";

        @Parameters(
                index = "1",
                paramLabel = "ENDPOINT",
                description = "The endpoint as /upstreams shows it, such as 10.0.0.7:8080.")
        private String endpoint = "";

        String upstream() {
            return upstream;
        }

        String endpoint() {
            return endpoint;
        }

        /** Returns the path of an action of the admin listener on this endpoint. */
        String action(String name) {
            return "/endpoints/" + encode(upstream) + "/" + encode(endpoint) + ":" + name;
        }

        static String encode(String text) {
            return URLEncoder.encode(text, StandardCharsets.UTF_8);
        }
    }
}
