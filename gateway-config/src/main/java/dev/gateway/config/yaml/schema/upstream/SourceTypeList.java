package dev.gateway.config.yaml.schema.upstream;

import java.util.List;

/** List of the sources of endpoints of the gateway. The engine of the configuration finds it by ServiceLoader. */
public interface SourceTypeList {
    /** Returns all types, in the order in which messages and documents list them. */
    List<SourceType<?, ?>> inOrder();
}
