package dev.gateway.runtime.process;

import java.lang.reflect.Proxy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * POSIX signals. Hears signals, by a class that is part of every JDK but not of the platform's interface: so it is looked
 * for when it is needed. Without it, SIGHUP stops the process in order, as the JVM has it.
 */
public final class Signals {
    private static final Logger log = LoggerFactory.getLogger(Signals.class);
    private static final int SIGINT = 2;
    private static final int SIGTERM = 15;

    private Signals() {}

    /**
     * Ends the process at the next SIGTERM or SIGINT, with the exit code of one that the signal has killed. The JVM itself
     * ignores all signals but the first while its shutdown hooks run, and those may run for as long as a drain takes.
     *
     * @param last is run before the end, such as to write what was logged
     */
    public static void endAtOnce(Runnable last) {
        on("TERM", "ends the process at once from now on", () -> end("TERM", SIGTERM, last));
        on("INT", "ends the process at once from now on", () -> end("INT", SIGINT, last));
    }

    private static void end(String name, int number, Runnable last) {
        log.warn("Second SIG{}: the process exits at once and cuts what still runs", name);
        last.run();
        Runtime.getRuntime().halt(128 + number);
    }

    /**
     * Runs a task on each such signal from now on, instead of stopping; a thread of the JVM runs it.
     *
     * @param name without SIG
     * @param what it does, for the log
     */
    public static void on(String name, String what, Runnable task) {
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            Object proxy = Proxy.newProxyInstance(
                    Signals.class.getClassLoader(), new Class<?>[] {handler}, (self, method, arguments) -> {
                        return switch (method.getName()) {
                            case "handle" -> {
                                task.run();
                                yield null;
                            }
                            case "equals" -> self == arguments[0];
                            case "hashCode" -> System.identityHashCode(self);
                            default -> "SIG" + name + " " + what;
                        };
                    });
            signal.getMethod("handle", signal, handler)
                    .invoke(null, signal.getConstructor(String.class).newInstance(name), proxy);
            log.info("SIG{} {}", name, what);
        } catch (ReflectiveOperationException | IllegalArgumentException e) {
            log.warn("This JVM cannot handle SIG{}: {}", name, e.toString());
        }
    }
}
