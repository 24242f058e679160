package dev.gateway;

import java.lang.reflect.Proxy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hears SIGHUP, by a class that is part of every JDK but not of the platform's interface: so it is looked for when it is
 * needed. Without it, SIGHUP stops the process in order, as the JVM has it.
 */
final class Hangup {
    private static final Logger log = LoggerFactory.getLogger(Hangup.class);

    private Hangup() {}

    /** Runs a task on each SIGHUP from now on, instead of stopping; a thread of the JVM runs it. */
    static void run(Runnable task) {
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            Object proxy = Proxy.newProxyInstance(
                    Hangup.class.getClassLoader(), new Class<?>[] {handler}, (self, method, arguments) -> {
                        return switch (method.getName()) {
                            case "handle" -> {
                                task.run();
                                yield null;
                            }
                            case "equals" -> self == arguments[0];
                            case "hashCode" -> System.identityHashCode(self);
                            default -> "reload on SIGHUP";
                        };
                    });
            signal.getMethod("handle", signal, handler)
                    .invoke(null, signal.getConstructor(String.class).newInstance("HUP"), proxy);
            log.info("SIGHUP reloads");
        } catch (ReflectiveOperationException | IllegalArgumentException e) {
            log.warn("SIGHUP does not reload here, but stops: {}", e.toString());
        }
    }
}
