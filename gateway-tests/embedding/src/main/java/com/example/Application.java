package com.example;

import dev.gateway.Gateway;
import dev.gateway.GatewayOptions;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.Problem;
import dev.gateway.config.yaml.ConfigLoader;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A program that embeds a gateway and lets its user steer it: a line {@code reload FILE} of standard input loads another
 * configuration, {@code drain} finishes what runs, {@code close} ends the gateway. The program itself goes on until then.
 * With {@code meters} after the configuration it has a registry of its own, and {@code requests} tells what this has counted.
 */
public final class Application {
    private static final Logger log = LoggerFactory.getLogger(Application.class);

    private Application() {}

    /** Starts the gateway with the configuration that the first argument names. */
    public static void main(String[] arguments) throws Exception {
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        log.warn("The application begins");
        boolean meters = arguments.length > 1 && arguments[1].equals("meters");
        GatewayOptions options = meters ? Meters.register() : GatewayOptions.defaults();
        try (Gateway gateway = Gateway.start(load(Path.of(arguments[0])), options)) {
            System.out.println("started: " + gateway.port("web") + " " + gateway.adminUrl());
            steer(gateway);
        }
        if (meters) {
            log.warn("The registry has {} meters left", Meters.count());
        }
        log.warn("The application has no gateway any more");
        System.out.println("closed, threads left: " + left(before));
    }

    private static void steer(Gateway gateway) throws Exception {
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null && !line.equals("close"); line = commands.readLine()) {
            if (line.startsWith("reload ")) {
                gateway.reload(load(Path.of(line.substring("reload ".length()))));
                System.out.println("reloaded: " + gateway.port("web"));
            } else if (line.equals("drain")) {
                gateway.drain(); // returns when the last request has ended, or after drain.timeout
                System.out.println("drained");
            } else if (line.equals("requests")) {
                System.out.println("requests: " + Meters.requests());
            } else {
                System.out.println("unknown: " + line);
            }
        }
    }

    /** The application's own registry. A class of its own, so that a program without meters does not load Micrometer. */
    private static final class Meters {
        private static final MeterRegistry REGISTRY = new SimpleMeterRegistry();

        static GatewayOptions register() {
            REGISTRY.counter("application.starts").increment();
            return GatewayOptions.defaults().withRegistry(REGISTRY);
        }

        static long requests() {
            return (long) REGISTRY.find("gateway.downstream.requests").functionCounters().stream()
                    .mapToDouble(FunctionCounter::count)
                    .sum();
        }

        static int count() {
            return REGISTRY.getMeters().size();
        }
    }

    private static GatewayConfig load(Path file) {
        LoadResult result = ConfigLoader.load(file);
        if (result instanceof LoadResult.Valid valid) {
            return valid.config();
        }
        throw new IllegalArgumentException(
                result.problems().stream().map(Problem::toString).collect(Collectors.joining("\n")));
    }

    /** Returns what has come since, and has not ended some seconds later: a closed gateway leaves no thread. */
    private static List<String> left(Set<Thread> before) throws InterruptedException {
        List<String> left = new ArrayList<>();
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (!before.contains(thread)) {
                thread.join(10_000); // a thread that all of Netty shares ends after a second without work
                if (thread.isAlive()) {
                    left.add(thread.getName());
                }
            }
        }
        return left;
    }
}
