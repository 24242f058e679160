package dev.gateway.config.yaml.type;

import java.util.List;
import java.util.ServiceLoader;

/** List of the features of one kind that the gateway itself has. The module that has them names it to ServiceLoader. */
public interface FeatureList<F> {
    /** Returns all of them, in the order of messages and documents. */
    List<F> inOrder();

    /**
     * Returns the list of a kind.
     *
     * @throws IllegalStateException if the class path lacks the module that has the features
     */
    static <L extends FeatureList<?>> L find(Class<L> kind) {
        return ServiceLoader.load(kind, kind.getClassLoader())
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("the class path has gateway-config without gateway-core,"
                        + " which names the " + kind.getSimpleName() + " to ServiceLoader"));
    }
}
