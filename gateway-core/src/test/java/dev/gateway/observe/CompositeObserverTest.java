package dev.gateway.observe;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Array;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
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
            told.clear();
            event.invoke(both, arguments(event));

            assertThat(told).containsExactly("first " + event.getName(), "second " + event.getName());
        }
    }

    private static Object[] arguments(Method event) {
        Object[] arguments = new Object[event.getParameterCount()];
        for (int i = 0; i < arguments.length; i++) {
            Class<?> type = event.getParameterTypes()[i];
            if (type.isPrimitive()) {
                arguments[i] = Array.get(Array.newInstance(type, 1), 0); // 0 or false
            }
        }
        return arguments;
    }
}
