package dev.gateway.cli;

import org.jspecify.annotations.Nullable;

/** How fast counters have grown from one reading of the statistics to the next; 0 where there is only one. */
final class TopRates {
    private final JsonView now;
    private final @Nullable JsonView before;
    private final double elapsed;

    TopRates(JsonView now, @Nullable JsonView before) {
        this.now = now;
        this.before = before;
        this.elapsed = before == null ? 0 : (now.number("time") - before.number("time")) / 1000;
    }

    /** Whether there are rates. */
    boolean areKnown() {
        return before != null && elapsed > 0;
    }

    private double grown(double to, double from) {
        return areKnown() ? Math.max(0, to - from) / elapsed : 0;
    }

    double ofTotal(String... counter) {
        return before == null ? 0 : grown(now.number(counter), before.number(counter));
    }

    /** Returns the rate of something that has a name in a list; 0 if that is new. */
    double of(JsonView named, String list, String... counter) {
        JsonView former = former(before, list, "name", named);
        return former == null ? 0 : grown(named.number(counter), former.number(counter));
    }

    /** The same of an endpoint of an upstream. */
    double ofEndpoint(JsonView upstream, JsonView endpoint, String counter) {
        JsonView former = former(former(before, "upstreams", "name", upstream), "endpoints", "address", endpoint);
        return former == null ? 0 : grown(endpoint.number(counter), former.number(counter));
    }

    private static @Nullable JsonView former(@Nullable JsonView in, String list, String key, JsonView like) {
        if (in != null) {
            for (JsonView each : in.list(list)) {
                if (each.text(key).equals(like.text(key))) {
                    return each;
                }
            }
        }
        return null;
    }

    /** Returns how much more of a cause there is than before, 0 if there is nothing to compare with. */
    double moreOfCause(String cause) {
        return before == null ? 0 : now.number("causes", cause) - before.number("causes", cause);
    }
}
