package dev.gateway.testkit;

import dev.gateway.filter.BodyInspector;
import dev.gateway.filter.BodyTransform;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.InspectionContext;
import dev.gateway.filter.Verdict;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/** Sees all that a plugin throws or resumes wrongly, also what the gateway only logs. */
final class Recorder {
    private static final List<Class<?>> ALSO = List.of(Filter.class, BodyTransform.class, BodyInspector.class);

    private final Queue<Throwable> thrown = new ConcurrentLinkedQueue<>();

    /** Returns an object that does what the given one does, as do those which it returns. */
    <T> T of(Class<T> type, T object) {
        return type.cast(
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    try {
                        return call(object, method, arguments);
                    } catch (InvocationTargetException e) {
                        thrown.add(e.getCause());
                        throw e.getCause();
                    }
                }));
    }

    private @Nullable Object call(Object object, Method method, Object @Nullable [] arguments)
            throws IllegalAccessException, InvocationTargetException {
        boolean decides = method.getName().equals("onRequest");
        Resumes resumes = new Resumes(!decides);
        for (int i = 0; arguments != null && i < arguments.length; i++) {
            if (arguments[i] instanceof FilterContext context) {
                arguments[i] = watched(context, resumes);
            }
        }
        Object returned = method.invoke(object, arguments);
        if (decides && !(returned instanceof Verdict.Wait)) {
            resumes.over = true;
        }
        return record(returned);
    }

    /** Whether a filter may resume its exchange no more. Used on the event loop. */
    private static final class Resumes {
        boolean over;

        Resumes(boolean over) {
            this.over = over;
        }
    }

    /** Returns the context, which reports that a filter resumes though nobody waits for it: the gateway only logs this. */
    private FilterContext watched(FilterContext context, Resumes resumes) {
        return (FilterContext) Proxy.newProxyInstance(
                FilterContext.class.getClassLoader(),
                new Class<?>[] {InspectionContext.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("resume")) {
                        if (resumes.over) {
                            thrown.add(new IllegalStateException("resume, though the gateway does not wait"));
                        }
                        resumes.over = true;
                    }
                    try {
                        return method.invoke(context, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private @Nullable Object record(@Nullable Object returned) {
        for (Class<?> each : ALSO) {
            if (each.isInstance(returned)) {
                return recorded(each, returned);
            }
        }
        return returned;
    }

    private <T> T recorded(Class<T> type, Object object) {
        return of(type, type.cast(object));
    }

    /** Returns the first that was thrown, null for none. */
    @Nullable
    Throwable first() {
        return thrown.peek();
    }
}
