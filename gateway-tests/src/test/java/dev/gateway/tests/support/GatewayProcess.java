package dev.gateway.tests.support;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A gateway in a process of its own, with the classes that the tests have. Closing it kills what still runs. */
public final class GatewayProcess implements AutoCloseable {
    private final Process process;

    private GatewayProcess(Process process) {
        this.process = process;
    }

    /** Returns the command that starts one. */
    public static List<String> command(Path config) {
        return List.of(
                System.getProperty("java.home") + "/bin/java",
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                "dev.gateway.cli.Main",
                "run",
                "--config",
                config.toString());
    }

    /**
     * Starts one, which says on the standard error of the tests what is wrong.
     *
     * @param environment what is added to that of the tests
     */
    public static GatewayProcess start(Path config, Map<String, String> environment) throws IOException {
        return start(command(config), environment);
    }

    public static GatewayProcess start(List<String> command, Map<String, String> environment) throws IOException {
        // A process that is started with SIGHUP ignored, as below nohup, cannot hear it, nor can what it starts.
        List<String> all = new ArrayList<>(List.of("env", "--default-signal=HUP"));
        all.addAll(command);
        ProcessBuilder builder = new ProcessBuilder(all)
                .redirectInput(new File("/dev/null"))
                .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().putAll(environment);
        return new GatewayProcess(builder.start());
    }

    public void hangUp() throws IOException, InterruptedException {
        Tools.signal("HUP", process.pid());
    }

    public void terminate() {
        process.toHandle().destroy();
    }

    /** Waits for its end, and returns the exit code. */
    public int awaitExit() throws IOException, InterruptedException {
        if (!process.waitFor(60, TimeUnit.SECONDS)) {
            throw new IOException("it does not end");
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
