package dev.gateway.config.value;

import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Configuration diff. Compares parts of configurations by what they say, wherever it was written: a record's own equality
 * includes positions.
 */
public final class ConfigEquality {
    /** Kept for all comparisons: the JDK makes a new method handle for each accessor that it returns. */
    private static final ClassValue<List<Method>> ACCESSORS = new ClassValue<>() {
        @Override
        protected List<Method> computeValue(Class<?> type) {
            return Stream.of(type.getRecordComponents())
                    .map(RecordComponent::getAccessor)
                    .toList();
        }
    };

    private ConfigEquality() {}

    /** Whether both say the same. */
    public static boolean isSame(@Nullable Object one, @Nullable Object other) {
        if (one == null || other == null) {
            return one == other; // a record's own equality is linked when it is first asked, which takes a start longer
        }
        boolean positions = one instanceof Position && other instanceof Position;
        if (positions || (one instanceof Concealed && other instanceof Concealed)) {
            return true; // neither says what is done
        }
        if (one instanceof Record record && other instanceof Record another && one.getClass() == other.getClass()) {
            return allComponents(record, another);
        }
        if (one instanceof List<?> list && other instanceof List<?> others) {
            return allElements(list, others);
        }
        return Objects.equals(one, other);
    }

    private static boolean allElements(List<?> list, List<?> others) {
        Iterator<?> next = others.iterator();
        return list.size() == others.size() && list.stream().allMatch(element -> isSame(element, next.next()));
    }

    private static boolean allComponents(Record one, Record other) {
        for (Method accessor : ACCESSORS.get(one.getClass())) {
            try {
                if (!isSame(accessor.invoke(one), accessor.invoke(other))) {
                    return false;
                }
            } catch (ReflectiveOperationException e) {
                throw new IllegalArgumentException("not a public record: " + one.getClass(), e);
            }
        }
        return true;
    }
}
