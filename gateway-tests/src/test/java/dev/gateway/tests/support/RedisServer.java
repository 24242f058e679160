package dev.gateway.tests.support;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** The redis-server of this machine, on a port of its own and without files. */
public final class RedisServer implements AutoCloseable {
    private final int port;
    private final Path directory;
    private final List<String> options;
    private Process process;

    private RedisServer(int port, Path directory, List<String> options) throws IOException {
        this.port = port;
        this.directory = directory;
        this.options = options;
        this.process = launch();
    }

    /** Starts one in cleartext, or ends the test. */
    public static RedisServer start(String... options) throws IOException {
        int port = Tools.freePort();
        return start(port, Stream.concat(Stream.of("--port", "" + port), Stream.of(options)));
    }

    /** Starts one that speaks TLS only, or ends the test. */
    public static RedisServer startTls(Path certificate, Path key) throws IOException {
        int port = Tools.freePort();
        return start(
                port,
                Stream.of(
                        "--port",
                        "0",
                        "--tls-port",
                        "" + port,
                        "--tls-cert-file",
                        certificate.toString(),
                        "--tls-key-file",
                        key.toString(),
                        "--tls-auth-clients",
                        "no"));
    }

    private static RedisServer start(int port, Stream<String> options) throws IOException {
        Tools.find("redis-server");
        Tools.find("redis-cli");
        return new RedisServer(port, Files.createTempDirectory("redis"), options.toList());
    }

    private Process launch() throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Tools.find("redis-server"), "--bind", "127.0.0.1", "--save", "", "--dir", directory.toString()));
        command.addAll(options);
        Process started = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("out").toFile())
                .start();
        if (!Tools.awaitListening(port, started)) {
            String out = Files.readString(directory.resolve("out"));
            started.destroyForcibly();
            throw new IOException("redis-server did not start: " + out);
        }
        return started;
    }

    public int port() {
        return port;
    }

    /** Ends it at once, with all that it knows. */
    public void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** Starts it again, with nothing in it. */
    public void restart() throws IOException {
        process = launch();
    }

    /** Stops it where it is: connections stay, and it answers nothing. */
    public void pause() throws IOException, InterruptedException {
        Tools.signal("STOP", process.pid());
    }

    /** Lets it go on. */
    public void resume() throws IOException, InterruptedException {
        Tools.signal("CONT", process.pid());
    }

    /** Returns the answer to a command; in cleartext only. */
    public String command(String... words) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(Tools.find("redis-cli"), "-p", "" + port));
        command.addAll(List.of(words));
        Tools.Result result = Tools.run(20, command);
        if (result.exit() != 0) {
            throw new IOException(result.output());
        }
        return new String(result.output().getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8).strip();
    }

    @Override
    public void close() throws IOException {
        try {
            resume(); // or it would not end
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Tools.stop(process);
        List<Path> files;
        try (Stream<Path> walk = Files.walk(directory)) {
            files = walk.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path path : files) {
            Files.delete(path);
        }
    }
}
