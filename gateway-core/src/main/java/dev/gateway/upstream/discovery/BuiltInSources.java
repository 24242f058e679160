package dev.gateway.upstream.discovery;

import dev.gateway.config.yaml.schema.upstream.SourceType;
import dev.gateway.config.yaml.schema.upstream.SourceTypeList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Stream;

/** Sources of endpoints: all that the gateway has. This is the one place that lists them. */
public final class BuiltInSources implements SourceTypeList {
    /** The sources, in the order of messages and documents, and those that other modules register. */
    public static final List<SourceFeature> IN_ORDER = all(BuiltInSources.class.getClassLoader());

    /** Returns ours, and those that this loader finds as services. */
    static List<SourceFeature> all(ClassLoader loader) {
        return Stream.concat(
                        Stream.of(
                                DnsSource.FEATURE, // all addresses of a name
                                SrvSource.FEATURE, // the hosts that SRV records say
                                FileSource.FEATURE), // a list that somebody else writes
                        ServiceLoader.load(SourceFeature.class, loader).stream().map(ServiceLoader.Provider::get))
                .toList();
    }

    @Override
    public List<SourceType<?, ?>> inOrder() {
        return IN_ORDER.stream().<SourceType<?, ?>>map(SourceFeature::type).toList();
    }
}
