package dev.gateway.cli;

import dev.gateway.Gateway;
import dev.gateway.GatewayOptions;
import dev.gateway.config.GatewayConfig;
import dev.gateway.files.StartException;
import dev.gateway.runtime.ConfigFile;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * Serves a few requests and ends. Meanwhile the JVM records what a start needs, as the launcher has configured. A
 * later start maps all of the archive, used or not. So these requests are what every gateway serves: HTTP/1.1 in
 * cleartext.
 */
@Command(
        name = "prepare",
        mixinStandardHelpOptions = true,
        description = {
            "Creates a class archive in GATEWAY_CACHE, which makes later starts faster.",
            "Meanwhile it serves a few requests of its own on loopback. Run it once for each version of the gateway and",
            "of the JVM, as the user that runs the gateway."
        },
        footerHeading = "%nExample:%n",
        footer = "  gateway prepare")
final class PrepareCommand implements Callable<Integer> {
    private static final int REQUESTS = 20;
    private static final int TIMEOUT_MILLIS = 10_000;
    private static final String CONFIG =
            """
            listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
            routes:
              - rules:
                  - matches: [{path: {type: PathPrefix, value: /}}]
                    backendRefs: [{name: app}]
            upstreams: [{name: app, endpoints: [{host: localhost, port: %d}]}]
            admin: {address: 127.0.0.1, port: 0}
            """;
    private static final byte[] ANSWER =
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n".getBytes(StandardCharsets.US_ASCII);

    @Spec
    private @Nullable CommandSpec spec;

    /** Returns the command if it is written plainly, else null: what parses command lines is not to be archived. */
    static @Nullable PrepareCommand plain(String[] args) {
        return args.length == 1 ? new PrepareCommand() : null;
    }

    @Override
    public Integer call() throws IOException {
        PrintWriter err = CommandSupport.err(spec);
        Path file = Files.createTempFile("gateway", ".yaml");
        try (ServerSocket upstream = new ServerSocket()) {
            upstream.bind(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0));
            Thread serving = new Thread(() -> serve(upstream), "upstream");
            serving.setDaemon(true);
            serving.start();
            Files.writeString(file, CONFIG.formatted(upstream.getLocalPort()));
            ConfigFile source = new ConfigFile(file);
            GatewayConfig config = CommandSupport.report(source.load(), err);
            return config == null ? CommandSupport.INTERNAL_ERROR : rehearse(config, source);
        } catch (StartException | IOException e) {
            err.println("cannot be prepared: " + e.getMessage());
            return CommandSupport.CANNOT_START;
        } finally {
            Files.delete(file);
        }
    }

    private static int rehearse(GatewayConfig config, ConfigFile source) throws StartException, IOException {
        try (Gateway gateway = Gateway.start(config, GatewayOptions.defaults().withFile(source))) {
            gateway.listenToSignals();
            gateway.tellReady();
            ask("http://127.0.0.1:" + gateway.port("web"), REQUESTS);
            ask(Objects.requireNonNull(gateway.adminUrl()) + "ready", 1);
            gateway.drain();
        }
        return CommandSupport.OK;
    }

    private static void ask(String url, int times) throws IOException {
        URI uri = URI.create(url);
        AdminClient client = new AdminClient(uri, TIMEOUT_MILLIS, null);
        for (int i = 0; i < times; i++) {
            int status = client.get(uri.getPath().isEmpty() ? "/" + i : uri.getPath())
                    .status();
            if (status != 200) {
                throw new IOException(url + " answered " + status);
            }
        }
    }

    /** The upstream: connections are kept, and each request, which has no body, gets the same answer. */
    private static void serve(ServerSocket upstream) {
        while (!upstream.isClosed()) {
            try {
                Socket socket = upstream.accept();
                Thread answering = new Thread(() -> answer(socket), "upstream-connection");
                answering.setDaemon(true);
                answering.start();
            } catch (IOException e) {
                return; // closed
            }
        }
    }

    private static void answer(Socket socket) {
        try (socket) {
            BufferedReader in =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.isEmpty()) {
                    socket.getOutputStream().write(ANSWER);
                }
            }
        } catch (IOException e) {
            return; // the caller has noticed
        }
    }
}
