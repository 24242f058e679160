package dev.gateway.testing;

import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** Copies of records in which something is different, by the names of their components. */
public final class RecordCopy {
    private RecordCopy() {}

    /** Returns a copy with other values for these components. */
    public static <R extends Record> R of(R original, Map<String, ?> changes) {
        Map<String, Object> left = new HashMap<>(changes);
        RecordComponent[] components = original.getClass().getRecordComponents();
        Object[] values = new Object[components.length];
        try {
            for (int i = 0; i < components.length; i++) {
                String name = components[i].getName();
                values[i] = left.containsKey(name)
                        ? left.remove(name)
                        : components[i].getAccessor().invoke(original);
            }
            if (!left.isEmpty()) {
                throw new IllegalArgumentException(original.getClass() + " has no " + left.keySet());
            }
            Class<?>[] types =
                    Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
            @SuppressWarnings("unchecked") // the class of a record is that of its copy
            Constructor<R> constructor = (Constructor<R>) original.getClass().getDeclaredConstructor(types);
            return constructor.newInstance(values);
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException("cannot copy " + original.getClass(), e);
        }
    }
}
