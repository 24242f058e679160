import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Starts a gateway as it will be started, with a flag that makes the JVM archive its classes, sends it some requests and
 * stops it. Run by {@code assemble}: {@code java Train.java DIRECTORY FLAG}.
 *
 * <p>The JVM has in memory what the archive holds, used or not. So it holds what every gateway needs: HTTP/1.1 in
 * cleartext. With TLS and HTTP/2 it would take 7 MiB more of those who speak neither.
 */
final class Train {
    private static final int REQUESTS = 20;

    public static void main(String[] args) throws Exception {
        Path directory = Path.of(args[0]);
        Path work = Files.createTempDirectory("train");
        HttpServer upstream = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        upstream.createContext("/", exchange -> {
            byte[] body = exchange.getRequestBody().readAllBytes();
            exchange.sendResponseHeaders(200, body.length == 0 ? -1 : body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        upstream.start();
        int web = freePort();
        int admin = freePort();
        String config =
                """
                listeners: [{name: web, address: 127.0.0.1, port: %d, protocol: HTTP}]
                routes:
                  - rules:
                      - matches: [{path: {type: PathPrefix, value: /}}]
                        backendRefs: [{name: app}]
                upstreams: [{name: app, endpoints: [{host: localhost, port: %d}]}]
                admin: {address: 127.0.0.1, port: %d}
                drain: {timeout: 5s}
                """
                        .formatted(web, upstream.getAddress().getPort(), admin);
        List<String> command = new ArrayList<>();
        command.add(directory.resolve("java/bin/java").toString());
        command.add("-Djava.library.path=" + directory.resolve("lib"));
        command.addAll(List.of(args).subList(1, args.length));
        command.addAll(List.of("-jar", directory.resolve("lib/gateway.jar").toString(), "run", "--config"));
        command.add(Files.writeString(work.resolve("gateway.yaml"), config).toString());
        Path log = work.resolve("log");
        Process gateway = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
            awaitReady(client, gateway, admin);
            for (int i = 0; i < REQUESTS; i++) {
                var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + web + "/" + i));
                if (i % 5 == 0) {
                    request.POST(BodyPublishers.ofByteArray(new byte[i * 100]));
                }
                int status = client.send(request.build(), BodyHandlers.ofByteArray()).statusCode();
                if (status != 200) {
                    throw new IllegalStateException("it answered " + status);
                }
            }
            gateway.toHandle().destroy();
            if (!gateway.waitFor(120, TimeUnit.SECONDS) || gateway.exitValue() != 0) {
                throw new IllegalStateException("it did not end with 0");
            }
        } catch (IOException | IllegalStateException e) {
            System.err.println(Files.readString(log));
            throw e;
        } finally {
            gateway.destroyForcibly();
            upstream.stop(0);
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static void awaitReady(HttpClient client, Process gateway, int admin) throws Exception {
        HttpRequest ready = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + admin + "/ready"))
                .build();
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (gateway.isAlive() && System.nanoTime() < end) {
            try {
                if (client.send(ready, BodyHandlers.discarding()).statusCode() == 200) {
                    return;
                }
            } catch (IOException e) {
                Thread.sleep(100); // not yet
            }
        }
        throw new IllegalStateException("it did not become ready");
    }
}
