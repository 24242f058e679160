package dev.gateway.tests.support;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A gateway as operators run it, in a process of its own: {@code java -jar gateway.jar run}. Tests of abuse and of faults
 * use it, because what they look for may end the process. They run against the jar of the build, or against the one that
 * the system property {@code gateway.jar} names. Such tests have the tag {@code jar}. Closing it kills the process.
 */
public final class GatewayJar implements AutoCloseable {
    private static final Path BUILT = Path.of("../gateway-core/target/gateway.jar");

    /** The option of a JVM that tells how much native memory it has for itself. */
    public static final String TRACKS_ITS_MEMORY = "-XX:NativeMemoryTracking=summary";

    /** How long a test waits for something, also on a busy machine: less than most tests have. */
    private static final Duration PATIENCE = Duration.ofSeconds(45);

    private static final Pattern ANNOUNCEMENT = Pattern.compile("(?:Listener (\\S+)|(Admin)) at \\w+://[^ ]*:(\\d+)/");

    private final Process process;
    private final Path directory;
    private final List<String> log;
    private final Map<String, Integer> ports;
    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(PATIENCE)
            .build();

    private GatewayJar(Process process, Path directory, List<String> log, Map<String, Integer> ports) {
        this.process = process;
        this.directory = directory;
        this.log = log;
        this.ports = ports;
    }

    /** Returns the jar under test. Without one the test is skipped, or fails where CI wants all tools. */
    public static Path file() {
        String named = System.getProperty("gateway.jar");
        return built(named != null ? Path.of(named) : BUILT);
    }

    /**
     * Returns the jar that the build made for one platform, such as {@code linux-x86_64}. Without one the test is skipped,
     * or fails where CI wants all tools.
     */
    public static Path file(String platform) {
        return built(BUILT.resolveSibling("gateway-" + platform + ".jar"));
    }

    private static Path built(Path jar) {
        if (!Files.exists(jar)) {
            Tools.missing(jar + " is not built: mvn package makes it");
        }
        return jar.toAbsolutePath();
    }

    /** Makes ready to start a gateway of this configuration; relative paths start at a directory of its own. */
    public static Builder of(String yaml) {
        return new Builder(yaml);
    }

    /** Returns the port that a listener is bound to. */
    public int port(String listener) {
        Integer port = ports.get(listener);
        if (port == null) {
            throw new IllegalArgumentException("no listener " + listener + " in " + ports);
        }
        return port;
    }

    public int adminPort() {
        return port("admin");
    }

    public long pid() {
        return process.pid();
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Returns what the process has written to standard output and standard error. */
    public String log() {
        synchronized (log) {
            return String.join("\n", log);
        }
    }

    /** Goes on reading the output of a process that was made with {@link Builder#leaveOutputUnread}. */
    public void readOutputAgain() {
        readOutput(false);
    }

    private void readOutput(boolean stopsAtAdmin) {
        Thread reader = new Thread(() -> read(stopsAtAdmin), "output of " + pid());
        reader.setDaemon(true);
        reader.start();
    }

    private void read(boolean stopsAtAdmin) {
        try {
            var reader = process.inputReader();
            String line;
            while (!(stopsAtAdmin && ports.containsKey("admin")) && (line = reader.readLine()) != null) {
                synchronized (log) {
                    log.add(line);
                }
                Matcher matcher = ANNOUNCEMENT.matcher(line);
                if (matcher.find()) {
                    String name = matcher.group(1) != null ? matcher.group(1) : "admin";
                    ports.put(name, Integer.parseInt(matcher.group(3)));
                }
            }
        } catch (IOException e) {
            synchronized (log) {
                log.add("its output cannot be read: " + e);
            }
        }
    }

    /** Returns the directory that relative paths of the configuration start at. */
    public Path directory() {
        return directory;
    }

    /** Fetches a page of the admin listener on a new connection if the last one is gone, within so long. */
    public HttpResponse<String> admin(String path, Duration within) throws IOException, InterruptedException {
        return client.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + adminPort() + path))
                        .timeout(within)
                        .build(),
                BodyHandlers.ofString());
    }

    /** Has something done by the admin listener. */
    public HttpResponse<String> post(String path) throws IOException, InterruptedException {
        return client.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + adminPort() + path))
                        .timeout(PATIENCE)
                        .header("X-Requested-By", "the test")
                        .POST(HttpRequest.BodyPublishers.noBody())
                        .build(),
                BodyHandlers.ofString());
    }

    /** Returns a page of the admin listener as JSON. */
    public JsonNode json(String path) throws IOException, InterruptedException {
        return new ObjectMapper().readTree(admin(path, PATIENCE).body());
    }

    /** Returns the sum of a metric's samples that have these labels, such as {@code code="200"}. */
    public double metric(String name, String... labels) throws IOException, InterruptedException {
        return admin("/metrics", PATIENCE)
                .body()
                .lines()
                .filter(line -> line.startsWith(name + " ") || line.startsWith(name + "{"))
                .filter(line -> Stream.of(labels).allMatch(line::contains))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    /** Returns how much memory of the process is resident, in KiB. */
    public long residentKiB() throws IOException {
        return Files.readAllLines(Path.of("/proc/" + pid() + "/status")).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .sum();
    }

    /** Returns how many objects of a class there are after a full collection. */
    public int instances(String type) throws IOException, InterruptedException {
        return histogram()
                .lines()
                .map(line -> line.strip().split("\\s+"))
                .filter(words -> words.length > 3 && words[3].equals(type))
                .mapToInt(words -> Integer.parseInt(words[1]))
                .sum();
    }

    /** Returns how many bytes of the heap are alive after a full collection. */
    public long liveHeap() throws IOException, InterruptedException {
        return histogram()
                .lines()
                .filter(line -> line.startsWith("Total "))
                .mapToLong(line -> Long.parseLong(line.strip().split("\\s+")[2]))
                .sum();
    }

    /** Returns the classes of all objects after a full collection, with their numbers and bytes. */
    public String histogram() throws IOException, InterruptedException {
        return jcmd("GC.class_histogram");
    }

    /**
     * Returns how many bytes the C library has given out, to native libraries and to Netty. What the JVM has, such as its
     * compiler, comes and goes, and does not count. The JVM needs the option {@link #TRACKS_ITS_MEMORY}.
     */
    public long nativeHeap() throws IOException, InterruptedException {
        String info = jcmd("System.native_heap_info\nVM.native_memory summary scale=b");
        String totals = info.substring(info.lastIndexOf("</heap>"));
        return size(totals, "system type=\"current\"")
                + size(totals, "total type=\"mmap\"")
                - size(totals, "total type=\"fast\"")
                - size(totals, "total type=\"rest\"")
                - ofJvm(totals);
    }

    /** Returns how many bytes the C library has given out to the JVM itself, without the buffers of Java code. */
    private static long ofJvm(String tracked) throws IOException {
        Matcher all = Pattern.compile("malloc: (\\d+)").matcher(tracked);
        Matcher buffers =
                Pattern.compile("Other \\([^)]*\\)\\s+\\(malloc=(\\d+)").matcher(tracked);
        if (!all.find()) {
            throw new IOException(tracked);
        }
        return Long.parseLong(all.group(1)) - (buffers.find() ? Long.parseLong(buffers.group(1)) : 0);
    }

    private static long size(String totals, String of) {
        String tail = totals.substring(totals.indexOf(of));
        int at = tail.indexOf("size=\"") + 6;
        return Long.parseLong(tail.substring(at, tail.indexOf('"', at)));
    }

    private String jcmd(String command) throws IOException, InterruptedException {
        Process jcmd = new ProcessBuilder(System.getProperty("java.home") + "/bin/jcmd", Long.toString(pid()), command)
                .redirectErrorStream(true)
                .start();
        String output = new String(jcmd.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (jcmd.waitFor() != 0) {
            throw new IOException(output);
        }
        return output;
    }

    /** Returns how many file descriptors the process has open. */
    public int openFiles() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/" + pid() + "/fd"))) {
            return (int) files.count();
        }
    }

    /** Sends a signal. When this returns, {@code STOP} has stopped every thread: the kernel stops one after the other. */
    public void signal(String name) throws IOException, InterruptedException {
        Tools.signal(name, pid());
        if (name.equals("STOP")) {
            await("all threads are stopped", this::isStopped);
        }
    }

    private boolean isStopped() {
        try (Stream<Path> threads = Files.list(Path.of("/proc/" + pid() + "/task"))) {
            for (Path thread : threads.toList()) {
                String stat = Files.readString(thread.resolve("stat")); // number (name) state …
                if (stat.charAt(stat.lastIndexOf(')') + 2) != 'T') {
                    return false;
                }
            }
            return true;
        } catch (IOException e) {
            return false; // a thread has just ended
        }
    }

    /** Waits for the end of the process, and returns the exit code; of one that was killed, 128 and the signal. */
    public int awaitExit(Duration within) throws IOException, InterruptedException {
        if (!process.waitFor(within.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new IOException("the gateway runs after " + within + ": " + log());
        }
        return process.exitValue();
    }

    /** Waits until something holds; fails after twenty seconds, or when the process ends. */
    public void await(String what, BooleanSupplier condition) throws IOException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (!isAlive() || System.nanoTime() > deadline) {
                throw new IOException((isAlive() ? "not in time: " : "ended before: ") + what + "\n" + log());
            }
            LockSupport.parkNanos(10_000_000);
        }
    }

    /** Waits until a text has been read from its output, which may be after its end. */
    public void awaitLog(String text) throws IOException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!log().contains(text)) {
            if (System.nanoTime() > deadline) {
                throw new IOException("not in time: " + text + "\n" + log());
            }
            LockSupport.parkNanos(10_000_000);
        }
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly().onExit().join();
        List<Path> files;
        try (Stream<Path> walk = Files.walk(directory)) {
            files = walk.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path file : files) {
            Files.delete(file);
        }
    }

    /** What a gateway is started with. */
    public static final class Builder {
        private final String yaml;
        private final List<String> jvm =
                new ArrayList<>(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:+ExitOnOutOfMemoryError"));
        private final List<String> wrapper = new ArrayList<>();
        private final Map<String, byte[]> files = new LinkedHashMap<>();
        private @Nullable String heap = "256m";
        private @Nullable String started;
        private @Nullable Path jar;
        private boolean unread;

        private Builder(String yaml) {
            this.yaml = yaml;
        }

        /** Sets the largest heap, such as {@code 64m}; direct memory follows it. */
        public Builder heap(String size) {
            heap = size;
            return this;
        }

        /** Puts a file into the directory that relative paths of the configuration start at. */
        public Builder file(String name, byte[] content) {
            files.put(name, content);
            return this;
        }

        /** Starts this jar instead of {@link GatewayJar#file()}. */
        public Builder jar(Path file) {
            jar = file;
            return this;
        }

        /** Adds an option of the JVM. */
        public Builder jvm(String option) {
            jvm.add(option);
            return this;
        }

        /** Sets how many file descriptors the process may have, by the soft and the hard limit. */
        public Builder openFiles(int limit) {
            return under("prlimit", "--nofile=" + limit + ":" + limit);
        }

        /** Starts it by another program, such as {@code ip netns exec NAME}. */
        public Builder under(String... command) {
            wrapper.addAll(List.of(command));
            return this;
        }

        /** Takes it for started when its output has this text, instead of the announcement of the admin listener. */
        public Builder startedWith(String text) {
            started = text;
            return this;
        }

        /** Stops reading its output once the gateway has announced its listeners, as a log driver that hangs. */
        public Builder leaveOutputUnread() {
            unread = true;
            return this;
        }

        /** Starts it, and returns when it has announced its admin listener, or what else was said to show its start. */
        public GatewayJar start() throws IOException {
            Path file = jar != null ? jar : GatewayJar.file();
            Path directory = Files.createTempDirectory("gateway-jar");
            Files.writeString(directory.resolve("gateway.yaml"), yaml);
            for (Map.Entry<String, byte[]> each : files.entrySet()) {
                Path of = directory.resolve(each.getKey());
                Files.createDirectories(of.getParent());
                Files.write(of, each.getValue());
            }
            List<String> command = new ArrayList<>(wrapper);
            command.add(System.getProperty("java.home") + "/bin/java");
            command.add("-XX:SharedArchiveFile=" + ClassArchive.of(file));
            command.addAll(jvm);
            if (heap != null) {
                command.add("-Xmx" + heap);
            }
            command.addAll(List.of("-jar", file.toString(), "run", "--config", "gateway.yaml", "--log-level", "info"));
            long startedNanos = System.nanoTime();
            Process process = new ProcessBuilder(command)
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .start();
            List<String> log = new ArrayList<>();
            Map<String, Integer> ports = new ConcurrentHashMap<>();
            GatewayJar gateway = new GatewayJar(process, directory, log, ports);
            gateway.readOutput(unread);
            try {
                String awaited = started;
                gateway.await(
                        awaited == null ? "the announcement of the admin listener" : awaited,
                        () -> awaited == null
                                ? ports.containsKey("admin")
                                : gateway.log().contains(awaited));
            } catch (IOException e) {
                gateway.close();
                throw e;
            }
            StartTimes.add("gateway.jar", startedNanos);
            return gateway;
        }
    }
}
