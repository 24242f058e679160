package dev.gateway.tests.support;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A process that holds listening sockets and starts gateways that inherit them. Closing it kills what still runs. */
public final class SocketHolder implements AutoCloseable {
    private final Process process;
    private final OutputLines output;
    private final List<String> addresses = new ArrayList<>();

    /**
     * Makes the sockets.
     *
     * @param sockets {@code NAME=ADDRESS}, with port 0 for any free one, or the path of a socket file
     * @param command starts a gateway
     * @param environment what is added to that of the tests
     */
    public SocketHolder(List<String> sockets, List<String> command, Map<String, String> environment)
            throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of(Tools.find("python3"), "activation/holder.py"));
        all.addAll(sockets);
        all.add("--");
        all.addAll(command);
        ProcessBuilder builder = new ProcessBuilder(all).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().putAll(environment);
        process = builder.start();
        output = new OutputLines(process);
        for (int i = 0; i < sockets.size(); i++) {
            addresses.add(output.next());
        }
    }

    private String ask(String question) throws IOException, InterruptedException {
        OutputStream in = process.getOutputStream();
        in.write((question + "\n").getBytes(StandardCharsets.UTF_8));
        in.flush();
        return output.next();
    }

    /** Returns the port of a socket. */
    public int port(int socket) {
        String address = addresses.get(socket);
        return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    }

    /** Starts a gateway that gets the sockets, and returns its process id. */
    public long start() throws IOException, InterruptedException {
        return Long.parseLong(ask("start"));
    }

    /** Ends a gateway in order, and returns its exit code. */
    public int stop(long pid) throws IOException, InterruptedException {
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroy);
        return Integer.parseInt(ask("wait " + pid));
    }

    @Override
    public void close() throws IOException {
        process.getOutputStream().close(); // the end of its input is its own
        try {
            if (!process.waitFor(60, TimeUnit.SECONDS)) {
                process.descendants().forEach(ProcessHandle::destroyForcibly); // it waits for one that does not end
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
