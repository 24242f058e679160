package dev.gateway.filter;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Services of the process: objects of which it has one of each class, for all filters and generations, such as worker threads.
 * Each is made when it is first needed. Safe from any thread.
 */
public final class SharedServices {
    private final Map<Class<?>, Object> services = new ConcurrentHashMap<>();

    /** Returns the service of a class. The first call makes it. */
    public <T> T get(Class<T> of, Supplier<T> maker) {
        return of.cast(services.computeIfAbsent(of, missing -> maker.get()));
    }

    /**
     * Returns the service of a class, which the process has provided.
     *
     * @throws IllegalStateException if it has not: a defect
     */
    public <T> T get(Class<T> of) {
        return get(of, () -> {
            throw new IllegalStateException("the process provides no " + of.getName());
        });
    }

    /** Provides a service. */
    public <T> void provide(Class<T> of, T service) {
        services.put(of, service);
    }
}
