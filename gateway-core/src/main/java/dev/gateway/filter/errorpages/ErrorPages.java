package dev.gateway.filter.errorpages;

import dev.gateway.config.value.StatusRange;
import dev.gateway.filter.ErrorAnswer;
import dev.gateway.filter.ErrorBody;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.stream.Cause;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Error pages (nginx's error_page): files are the bodies of errors. They replace the gateway's own small bodies and, if
 * configured, the bodies of upstreams' errors. A filter of a rule; a listener also has one, for errors without a page of the
 * rule.
 */
public final class ErrorPages implements Filter {
    /** The types of the gateway's own small body, which is one more choice besides the files of each page. */
    private static final List<String> OWN = List.of("application/problem+json", "application/json", "text/plain");

    private final List<Page> pages;
    private final boolean upstreamErrors;

    /**
     * A page.
     *
     * @param statuses empty for all
     * @param causes empty for all, and for answers that have none
     * @param files of which clients choose by type, and the first one if they do not care; asked for each answer, as
     *     files may change
     */
    public record Page(List<StatusRange> statuses, Set<Cause> causes, List<Supplier<PageTemplate>> files) {
        public Page {
            statuses = List.copyOf(statuses);
            causes = Set.copyOf(causes);
            files = List.copyOf(files);
        }

        boolean isFor(ErrorAnswer answer) {
            Cause cause = answer.cause();
            return (causes.isEmpty() || (cause != null && causes.contains(cause)))
                    && (statuses.isEmpty() || has(answer.status()));
        }

        private boolean has(int status) {
            for (StatusRange each : statuses) {
                if (each.contains(status)) {
                    return true;
                }
            }
            return false;
        }
    }

    /**
     * Makes pages.
     *
     * @param pages of which the first that is for an error is used
     * @param upstreamErrors whether they are for errors of upstreams, too
     */
    public ErrorPages(List<Page> pages, boolean upstreamErrors) {
        this.pages = List.copyOf(pages);
        this.upstreamErrors = upstreamErrors;
    }

    @Override
    public ErrorBody errorBody(ErrorAnswer answer, FilterContext context) {
        return errorBody(answer);
    }

    /** Returns the body of an error; {@link ErrorBody#UNCHANGED} if no page is for it. */
    public ErrorBody errorBody(ErrorAnswer answer) {
        if (answer.upstream() && !upstreamErrors) {
            return ErrorBody.UNCHANGED;
        }
        for (Page page : pages) {
            if (page.isFor(answer)) {
                return choose(page.files, answer);
            }
        }
        return ErrorBody.UNCHANGED;
    }

    /** Chooses by Accept among the files and the gateway's own small body, which is for programs that want JSON. */
    private static ErrorBody choose(List<Supplier<PageTemplate>> files, ErrorAnswer answer) {
        AcceptedTypes accepted = AcceptedTypes.of(answer.request());
        PageTemplate best = null;
        int most = Math.max(1, accepted.rank(OWN));
        for (Supplier<PageTemplate> file : files) {
            PageTemplate template = file.get();
            int rank = accepted.rank(template.asked());
            if (best == null ? rank >= most : rank > most) {
                best = template;
                most = rank;
            }
        }
        return best == null ? ErrorBody.PLAIN : best.fill(answer);
    }
}
