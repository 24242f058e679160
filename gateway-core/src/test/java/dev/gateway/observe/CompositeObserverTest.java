package dev.gateway.observe;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class CompositeObserverTest {
    private final List<String> told = new ArrayList<>();

    private ExchangeObserver observer(String name) {
        InvocationHandler note = (proxy, method, arguments) -> {
            told.add(name + " " + method.getName());
            return null;
        };
        return (ExchangeObserver) Proxy.newProxyInstance(
                ExchangeObserver.class.getClassLoader(), new Class<?>[] {ExchangeObserver.class}, note);
    }

    @Test
    void eachEventReachesBothInOrder() throws ReflectiveOperationException {
        ExchangeObserver both = new CompositeObserver(observer("first"), observer("second"));
        for (Method event : ExchangeObserver.class.getMethods()) {
            if (Modifier.isStatic(event.getModifiers())) {
                continue;
            }
            told.clear();
            event.invoke(
                    both,
                    Arrays.stream(event.getParameterTypes()).map(this::nothing).toArray());

            assertThat(told).containsExactly("first " + event.getName(), "second " + event.getName());
        }
    }

    private @Nullable Object nothing(Class<?> type) {
        return type == int.class ? (Object) 0 : type == long.class ? (Object) 0L : type == boolean.class ? false : null;
    }
}
