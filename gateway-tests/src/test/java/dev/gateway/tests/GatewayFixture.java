package dev.gateway.tests;

import static org.junit.jupiter.api.Assertions.fail;

import dev.gateway.Gateway;
import dev.gateway.Gateway.Activity;
import dev.gateway.StartException;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import java.net.URI;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;

/**
 * A gateway in the test's process, started from YAML with ports 0. Closing it asserts that the test has left nothing
 * behind: no exchange open, no upstream connection in use, no request that waits for one.
 */
public final class GatewayFixture implements AutoCloseable {
    private static final long QUIET_WITHIN_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private final Gateway gateway;

    private GatewayFixture(Gateway gateway) {
        this.gateway = gateway;
    }

    /** Starts a gateway; relative paths start at the working directory. Fails the test if the configuration is wrong. */
    public static GatewayFixture start(String yaml) {
        LoadResult result = ConfigLoader.parse(yaml);
        if (!(result instanceof LoadResult.Valid valid)) {
            return fail(result.problems().toString() + "\n" + yaml);
        }
        return start(valid.config());
    }

    /** Starts a gateway. */
    public static GatewayFixture start(GatewayConfig config) {
        try {
            return new GatewayFixture(Gateway.start(config));
        } catch (StartException e) {
            return fail(e);
        }
    }

    /** Returns the port that a listener is bound to; {@code admin} is the admin listener. */
    public int port(String listener) {
        return gateway.port(listener);
    }

    /** Returns a URI on a listener, which tells whether that speaks TLS. */
    public URI uri(String listener, String pathAndQuery) {
        String scheme = gateway.urls().get(listener).startsWith("https:") ? "https" : "http";
        return URI.create(scheme + "://localhost:" + port(listener) + pathAndQuery);
    }

    /** Returns the gateway. */
    public Gateway gateway() {
        return gateway;
    }

    /** Returns what is going on now. */
    public Activity activity() {
        return gateway.activity().orTimeout(10, TimeUnit.SECONDS).join();
    }

    /** Waits until no exchange is open and no upstream connection in use; fails the test if that takes too long. */
    public void awaitQuiet() {
        await(activity -> activity.exchanges() == 0
                && activity.upstreams().active() == 0
                && activity.upstreams().pending() == 0);
    }

    /** Waits until no client is connected but to the admin listener; fails the test if that takes too long. */
    public void awaitNoConnection() {
        await(activity -> activity.connections() == 0);
    }

    private void await(Predicate<Activity> condition) {
        long start = System.nanoTime();
        Activity activity = activity();
        while (!condition.test(activity)) {
            if (System.nanoTime() - start > QUIET_WITHIN_NANOS) {
                fail("left behind: " + activity);
            }
            LockSupport.parkNanos(POLL_NANOS);
            activity = activity();
        }
    }

    /** Asserts that nothing is left behind, and stops the gateway. */
    @Override
    public void close() {
        try {
            awaitQuiet();
        } finally {
            gateway.close();
        }
    }
}
