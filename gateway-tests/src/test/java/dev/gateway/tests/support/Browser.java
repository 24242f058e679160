package dev.gateway.tests.support;

import dev.gateway.tests.peer.Peer;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Headless Chromium, driven by its driver's protocol (WebDriver), with a fresh profile. */
public final class Browser implements AutoCloseable {
    private static final Pattern PORT = Pattern.compile("started successfully on port (\\d+)");
    private static final Pattern SESSION = Pattern.compile("\"sessionId\":\"([^\"]+)\"");
    private static final Pattern VALUE = Pattern.compile("\"value\":\"?([^\"}]*)");

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final Process driver;
    private final Path profile;
    private final String root;

    private Browser(Process driver, Path profile, int port, List<String> more)
            throws IOException, InterruptedException {
        this.driver = driver;
        this.profile = profile;
        String address = "http://127.0.0.1:" + port + "/session";
        Stream<String> usual = Stream.of(
                "headless",
                "no-sandbox",
                "disable-gpu",
                "disable-quic",
                "disable-dev-shm-usage",
                "no-first-run",
                "disable-background-networking",
                "disable-component-update",
                "disable-sync",
                "window-size=1400,1100",
                "user-data-dir=" + profile);
        String options = Stream.concat(usual, more.stream())
                .map(option -> "\"--" + option + "\"")
                .reduce((a, b) -> a + "," + b)
                .orElseThrow();
        String answer = post(
                address,
                "{\"capabilities\":{\"alwaysMatch\":{\"acceptInsecureCerts\":true,"
                        + "\"goog:loggingPrefs\":{\"browser\":\"ALL\"},\"goog:chromeOptions\":{\"binary\":\""
                        + Tools.find("chromium") + "\",\"args\":[" + options + "]}}}}");
        Matcher session = SESSION.matcher(answer);
        if (!session.find()) {
            throw new IOException("no browser: " + answer);
        }
        root = address + "/" + session.group(1);
    }

    /** Starts one that uses no proxy, or ends the test. */
    static Browser start() throws IOException, InterruptedException {
        return start("no-proxy-server");
    }

    /** Starts one with more options, or ends the test. */
    public static Browser start(String... options) throws IOException, InterruptedException {
        String chromedriver = Tools.find("chromedriver");
        Tools.find("chromium");
        Path profile = Files.createTempDirectory("chromium");
        Process driver = new ProcessBuilder(chromedriver, "--port=0")
                .redirectErrorStream(true)
                .start();
        BufferedReader output = driver.inputReader();
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            Matcher port = PORT.matcher(line);
            if (port.find()) {
                return new Browser(driver, profile, Integer.parseInt(port.group(1)), List.of(options));
            }
        }
        throw new IOException("chromedriver did not start");
    }

    /** Loads a page; returns when it and what it needs have loaded. */
    public void open(String url) throws IOException, InterruptedException {
        post(root + "/url", "{\"url\":\"" + url + "\"}");
    }

    /** Runs a script without double quotes and returns its value as JSON. */
    public String evaluate(String script) throws IOException, InterruptedException {
        return value(post(root + "/execute/sync", "{\"script\":\"" + script + "\",\"args\":[]}"));
    }

    /** Waits until an expression without double quotes has a value. */
    public void await(String expression, String value) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
        String found = evaluate("return " + expression);
        while (!found.equals(value)) {
            if (System.nanoTime() > deadline) {
                throw new IOException(expression + " is " + found + ", not " + value);
            }
            LockSupport.parkNanos(50_000_000);
            found = evaluate("return " + expression);
        }
    }

    /** Makes the window as large as another screen, whose owner likes it dark or light. */
    public void emulate(int width, int height, boolean dark) throws IOException, InterruptedException {
        command(
                "Emulation.setDeviceMetricsOverride",
                "{\"width\":%d,\"height\":%d,\"deviceScaleFactor\":1,\"mobile\":%b}"
                        .formatted(width, height, width < 600));
        command("Emulation.setScrollbarsHidden", "{\"hidden\":true}");
        command(
                "Emulation.setEmulatedMedia",
                "{\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"%s\"}]}"
                        .formatted(dark ? "dark" : "light"));
    }

    private void command(String name, String parameters) throws IOException, InterruptedException {
        post(root + "/goog/cdp/execute", "{\"cmd\":\"" + name + "\",\"params\":" + parameters + "}");
    }

    /** Returns as JSON what the browser has logged since it was last asked, such as errors of scripts and refused resources. */
    public String log() throws IOException, InterruptedException {
        return post(root + "/se/log", "{\"type\":\"browser\"}");
    }

    /** Returns a picture of the page, PNG in Base64. */
    public String screenshot() throws IOException, InterruptedException {
        return value(client.send(request(root + "/screenshot").GET().build(), BodyHandlers.ofString())
                .body());
    }

    @Override
    public void close() throws IOException {
        try {
            client.send(request(root).DELETE().build(), BodyHandlers.discarding());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Tools.stop(driver);
        List<Path> files;
        try (Stream<Path> walk = Files.walk(profile)) {
            files = walk.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path file : files) {
            Files.deleteIfExists(file);
        }
    }

    private String post(String url, String json) throws IOException, InterruptedException {
        var response = client.send(
                request(url)
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(json))
                        .build(),
                BodyHandlers.ofString());
        if (response.statusCode() != 200) {
            throw new IOException(url + ": " + response.body());
        }
        return response.body();
    }

    private static HttpRequest.Builder request(String url) {
        return HttpRequest.newBuilder(URI.create(url)).timeout(Duration.ofSeconds(60));
    }

    private static String value(String json) throws IOException {
        Matcher value = VALUE.matcher(json);
        if (!value.find()) {
            throw new IOException(json);
        }
        return value.group(1);
    }
}
