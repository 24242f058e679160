package dev.gateway.tests.support;

import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.File;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Programs of others that tests run. One that is missing skips the test and says so; where {@code REQUIRE_TOOLS=true}
 * it fails the test.
 */
public final class Tools {
    /** What a program did. */
    public record Result(int exit, String output) {}

    /** Which of the JVMs this is that run tests at the same time; from 1. */
    private static final int FORK = Integer.getInteger("surefire.forkNumber", 1);

    private static final int PORTS_OF_A_FORK = 2_500;
    private static final int FIRST_PORT = 10_000 + (FORK - 1) % 4 * PORTS_OF_A_FORK;
    private static final int LAST_PORT = FIRST_PORT + PORTS_OF_A_FORK - 1;
    private static final Queue<Integer> PORTS = shuffledPorts();

    private Tools() {}

    /** Finds a program, or ends the test. */
    public static String find(String name) {
        return Stream.concat(
                        Stream.of(System.getenv("PATH").split(File.pathSeparator)),
                        Stream.of("/usr/sbin", System.getProperty("user.home") + "/go/bin"))
                .map(directory -> Path.of(directory, name))
                .filter(Files::isExecutable)
                .map(Path::toString)
                .findFirst()
                .orElseGet(() -> missing(name + " is not installed"));
    }

    /**
     * Finds what a script of this module installs in a directory, or ends the test.
     *
     * @param variable names the directory if it is set, {@code none} if it cannot be had; else it is {@code ~/.cache/gateway/NAME}
     * @param file what is there if it is installed
     */
    public static Path installed(String variable, String name, String file, String script) {
        String named = System.getenv(variable);
        Path directory =
                named != null ? Path.of(named) : Path.of(System.getProperty("user.home"), ".cache", "gateway", name);
        if ("none".equals(named)) {
            System.err.println("skipping: " + name + " cannot be had on this machine");
            return abort(name + " cannot be had on this machine");
        }
        if (!Files.isExecutable(directory.resolve(file))) {
            missing(name + " is not in " + directory + " (" + script + " installs it)");
        }
        return directory;
    }

    /** Ends the test, which lacks something. */
    public static String missing(String reason) {
        if ("true".equals(System.getenv("REQUIRE_TOOLS"))) {
            return fail("REQUIRE_TOOLS=true, but " + reason);
        }
        System.err.println("skipping: " + reason);
        return abort(reason);
    }

    /** Ends the test if a shell command cannot be run in a network namespace of its own. */
    public static void requireNamespace(String command) throws IOException, InterruptedException {
        Result able = run("unshare", "-rn", "sh", "-c", command, "true");
        if (able.exit() != 0) {
            missing("no network namespace can be made here: " + able.output());
        }
    }

    /** Runs a program to its end; its output is standard output and standard error together. */
    public static Result run(String... command) throws IOException, InterruptedException {
        return run(60, List.of(command));
    }

    /** Runs a program for at most some seconds. */
    public static Result run(int seconds, List<String> command) throws IOException, InterruptedException {
        Path output = Files.createTempFile("tool", ".out");
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectInput(new File("/dev/null"))
                    .redirectOutput(output.toFile())
                    .start();
            boolean ended = process.waitFor(seconds, TimeUnit.SECONDS);
            if (!ended) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
            }
            String text = Files.readString(output, StandardCharsets.ISO_8859_1);
            if (!ended) {
                fail(command + " had not ended after " + seconds + " s: " + text);
            }
            return new Result(process.exitValue(), text);
        } finally {
            Files.delete(output);
        }
    }

    /** Sends a signal to a process, unless it has ended. The shell can; not every system has the program kill. */
    public static void signal(String name, long pid) throws IOException, InterruptedException {
        Result result = run("sh", "-c", "kill -" + name + " " + pid);
        if (result.exit() != 0
                && ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false)) {
            fail(result.output());
        }
    }

    /** Waits until something listens at a port of this host; returns false if the process ends, or takes too long. */
    public static boolean awaitListening(int port, Process process) {
        long called = System.nanoTime(); // just after the start
        long deadline = called + TimeUnit.SECONDS.toNanos(20);
        while (!accepts(port)) {
            if (!process.isAlive() || System.nanoTime() > deadline) {
                return false;
            }
            LockSupport.parkNanos(5_000_000);
        }
        String program =
                process.info().command().map(name -> name.replaceAll(".*/", "")).orElse("?");
        StartTimes.add(program, called);
        return true;
    }

    private static boolean accepts(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Returns a free port of this host, for programs that cannot be told to choose one. Nobody got it here before, and the
     * system gives it to nobody who does not name it: it stays free until somebody listens.
     */
    public static int freePort() throws IOException {
        for (Integer port = PORTS.poll(); port != null; port = PORTS.poll()) {
            try (ServerSocket socket = new ServerSocket()) {
                socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                return port;
            } catch (BindException e) {
                // another program listens there
            }
        }
        return fail("no free ports from " + FIRST_PORT + " to " + LAST_PORT);
    }

    private static Queue<Integer> shuffledPorts() {
        List<Integer> ports =
                IntStream.rangeClosed(FIRST_PORT, LAST_PORT).boxed().collect(Collectors.toList());
        Collections.shuffle(ports);
        return new ConcurrentLinkedQueue<>(ports);
    }

    /** Ends a process, in order if it lets us. */
    public static void stop(Process process) {
        process.destroy();
        try {
            if (!process.waitFor(20, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
