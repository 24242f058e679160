package dev.gateway.runtime.process;

import dev.gateway.files.StartException;
import dev.gateway.net.transport.InheritedSockets;
import dev.gateway.net.transport.NotifySocket;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * systemd integration. What systemd, or whatever else starts processes its way, has given to this one and asked of it by
 * environment variables: listening sockets, and to be told how it is and that it lives. Does nothing where nothing was
 * asked. Any thread but event loops.
 */
public final class Systemd {
    /** Asks for nothing. */
    public static final Systemd NONE = new Systemd(null, 0, InheritedSockets.none());

    private static final Logger log = LoggerFactory.getLogger(Systemd.class);

    /** How often and how long it is tried to send what must not be lost, while the receiver has no room. */
    private static final int TRIES = 500;

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /** How much longer than the drain all of the end may take. */
    private static final Duration AFTER_DRAIN = Duration.ofSeconds(10);

    private final @Nullable NotifySocket socket;
    private final long watchdogNanos;
    private final InheritedSockets sockets;

    private Systemd(@Nullable NotifySocket socket, long watchdogNanos, InheritedSockets sockets) {
        this.socket = socket;
        this.watchdogNanos = watchdogNanos;
        this.sockets = sockets;
    }

    /**
     * Reads what was asked, and finds what was passed.
     *
     * @param pid of this process: what was meant for another one is not heeded
     * @throws StartException if what was passed cannot be used
     */
    public static Systemd of(Map<String, String> environment, long pid) throws StartException {
        NotifySocket socket = notifySocket(environment.getOrDefault("NOTIFY_SOCKET", ""));
        try {
            InheritedSockets sockets = InheritedSockets.of(environment, pid);
            return new Systemd(socket, socket == null ? 0 : watchdogNanos(environment, pid), sockets);
        } catch (IOException e) {
            throw new StartException(String.valueOf(e.getMessage()), e);
        }
    }

    private static @Nullable NotifySocket notifySocket(String address) {
        if (address.isEmpty()) {
            return null;
        }
        try {
            return new NotifySocket(address);
        } catch (IOException e) {
            log.warn("Cannot notify systemd of the service's state: {}", e.getMessage());
            return null;
        }
    }

    private static long watchdogNanos(Map<String, String> environment, long pid) {
        String micros = environment.getOrDefault("WATCHDOG_USEC", "");
        if (micros.isEmpty()
                || !environment.getOrDefault("WATCHDOG_PID", Long.toString(pid)).equals(Long.toString(pid))) {
            return 0;
        }
        try {
            return TimeUnit.MICROSECONDS.toNanos(Long.parseLong(micros));
        } catch (NumberFormatException e) {
            log.warn("WATCHDOG_USEC is {}, which is not a number: the gateway does not ping the watchdog", micros);
            return 0;
        }
    }

    /** Returns within what time it has to be told that the process lives, or 0 if it need not be. */
    public long watchdogNanos() {
        return watchdogNanos;
    }

    /** Returns the listening sockets that were passed. */
    public InheritedSockets sockets() {
        return sockets;
    }

    /** It serves, now or again. */
    public void ready(String status) {
        tell("READY=1\n" + status(status));
    }

    /** It reads its configuration again; {@link #ready} tells when it has, whatever came of it. */
    public void reloading() {
        // The JVM's clock is CLOCK_MONOTONIC, by which systemd tells one reload from another.
        tell("RELOADING=1\nMONOTONIC_USEC=" + TimeUnit.NANOSECONDS.toMicros(System.nanoTime()) + "\n"
                + status("Reloading"));
    }

    /** What it does has changed. */
    public void changed(String status) {
        tell(status(status));
    }

    /**
     * It ends.
     *
     * @param drain how long that may take, which may be longer than the unit says
     */
    public void stopping(Duration drain) {
        long micros = TimeUnit.NANOSECONDS.toMicros(drain.plus(AFTER_DRAIN).toNanos());
        tell("STOPPING=1\n" + status("Draining") + "EXTEND_TIMEOUT_USEC=" + micros + "\n");
    }

    /** It lives. Says so once, without waiting: the next time is soon. */
    public void alive() {
        if (socket != null) {
            try {
                socket.send("WATCHDOG=1\n");
            } catch (IOException e) {
                log.debug("Cannot notify the watchdog: {}", e.toString());
            }
        }
    }

    private static String status(String text) {
        return "STATUS=" + text.replace('\n', ' ') + "\n";
    }

    private void tell(String message) {
        if (socket == null) {
            return;
        }
        try {
            for (int i = 0; i < TRIES; i++) {
                if (socket.send(message)) {
                    return;
                }
                LockSupport.parkNanos(PAUSE_NANOS);
            }
            log.warn("{} does not accept notifications of the service's state", socket);
        } catch (IOException e) {
            log.warn("Cannot notify {} of the service's state: {}", socket, e.toString());
        }
    }
}
