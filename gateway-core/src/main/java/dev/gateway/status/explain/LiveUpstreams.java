package dev.gateway.status.explain;

import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.discovery.SourceState;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The upstreams of a running gateway. Any thread may ask but event loops. */
public interface LiveUpstreams {
    /** Of a gateway that does not run, nothing is known. */
    LiveUpstreams NONE = new LiveUpstreams() {
        @Override
        public @Nullable Upstream find(String name) {
            return null;
        }

        @Override
        public List<SourceState> sources(String name) {
            return List.of();
        }
    };

    /** Returns the upstream of that name, null if it is not known. */
    @Nullable
    Upstream find(String name);

    /** Returns the sources of its endpoints, in the order of its entries. */
    List<SourceState> sources(String name);
}
