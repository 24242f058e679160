package dev.gateway;

import java.lang.reflect.Proxy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hears signals, by a class that is part of every JDK but not of the platform's interface: so it is looked for when it is
 * needed. Without it, SIGHUP stops the process in order, as the JVM has it.
 */
final class Signals {
    private static final Logger log = LoggerFactory.getLogger(Signals.class);

    private Signals() {}

    /**
     * Runs a task on each such signal from now on, instead of stopping; a thread of the JVM runs it.
     *
     * @param name without SIG
     * @param what it does, for the log
     */
    static void on(String name, String what, Runnable task) {
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
            log.warn("SIG{} stops the process here: {}", name, e.toString());
        }
    }
}
