package dev.gateway.config.listener;

import dev.gateway.config.value.Position;
import dev.gateway.config.value.StatusRange;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Error page settings, of a rule as its filter or of a listener: which files are the bodies of errors.
 *
 * @param pages of which the first that has an error's status and cause is used
 * @param upstreamErrors whether errors of upstreams get pages, too
 */
public record ErrorPagesConfig(Position position, List<Page> pages, boolean upstreamErrors) {
    /** What causes are called: the words of the access log. */
    public static final List<String> CAUSES = List.of(
            "no_route",
            "no_healthy_endpoint",
            "dns_failed",
            "connect_failed",
            "connect_timeout",
            "tls_failed",
            "pending_overflow",
            "pending_timeout",
            "upstream_reset_before_headers",
            "upstream_reset_in_body",
            "upstream_protocol_error",
            "upstream_timeout",
            "retry_limit",
            "retry_budget",
            "client_closed",
            "client_timeout",
            "client_protocol_error",
            "body_too_large",
            "rate_limited",
            "authz_denied",
            "authz_error",
            "filter_error",
            "proxy_auth",
            "policy_port",
            "policy_host",
            "policy_address",
            "policy_sni",
            "loop_detected",
            "overload",
            "drain",
            "idle_timeout",
            "max_duration",
            "admin_closed",
            "unknown");

    public ErrorPagesConfig {
        pages = List.copyOf(pages);
    }

    /** Returns what they are for, for people. */
    public String summary() {
        return "ErrorPages: " + pages.stream().map(Page::summary).collect(Collectors.joining("; "))
                + (upstreamErrors ? "; for upstreams, too" : "");
    }

    /**
     * Bodies of some errors.
     *
     * @param statuses empty for all
     * @param causes empty for all, and for answers that have none
     * @param files of different types, of which clients choose
     */
    public record Page(Position position, List<StatusRange> statuses, List<String> causes, List<Path> files) {
        public Page {
            statuses = List.copyOf(statuses);
            causes = List.copyOf(causes);
            files = List.copyOf(files);
        }

        private String summary() {
            String which = Stream.concat(statuses.stream().map(StatusRange::toString), causes.stream())
                    .collect(Collectors.joining(", "));
            return which + " from "
                    + files.stream()
                            .map(file -> String.valueOf(file.getFileName()))
                            .collect(Collectors.joining(", "));
        }

        /** Whether this page takes all that the other one, which comes after it, is for. */
        public boolean hides(Page other) {
            return causes.isEmpty()
                    && !other.statuses.isEmpty()
                    && other.statuses.stream().allMatch(range -> statuses.stream()
                            .anyMatch(each -> each.first() <= range.first() && range.last() <= each.last()));
        }
    }
}
