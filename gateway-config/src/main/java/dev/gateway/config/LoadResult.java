package dev.gateway.config;

import java.util.List;

/** Result of loading: what came of reading a configuration. */
public sealed interface LoadResult {
    /** All problems, in the order of the file. */
    List<Problem> problems();

    /** A configuration that can be used; its problems are warnings. */
    record Valid(GatewayConfig config, List<Problem> problems) implements LoadResult {
        public Valid {
            problems = List.copyOf(problems);
        }
    }

    /** A configuration that cannot be used; at least one of its problems is an error. */
    record Invalid(List<Problem> problems) implements LoadResult {
        public Invalid {
            problems = List.copyOf(problems);
        }
    }
}
