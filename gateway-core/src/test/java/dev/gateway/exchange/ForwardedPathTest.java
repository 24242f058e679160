package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.route.MatchConfig;
import dev.gateway.config.route.MatchConfig.PathType;
import dev.gateway.exchange.route.Route;
import dev.gateway.exchange.route.Router;
import dev.gateway.exchange.route.RouterBuilder;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.RequestHead;
import dev.gateway.message.path.PathForm;
import dev.gateway.stream.Cause;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** In which form a path goes upstream. The rule is for all paths below {@code /s3}, another one for all others. */
class ForwardedPathTest extends ExchangeRig {
    private static MatchConfig exact(String path) {
        return MatchConfig.path(PathType.EXACT, path);
    }

    private static MatchConfig below(String prefix) {
        return MatchConfig.path(MatchConfig.PathType.PATH_PREFIX, prefix);
    }

    private void request(PathForm form, String path) {
        settings.path = form;
        route();
        Router.Match match = Objects.requireNonNull(settings.router.match(head("GET", "/")));
        Route other = new Route("other", List.of(), Route.Forwarding.NONE, Route.Timeouts.NONE, Route.Upgrades.NONE);
        settings.router = new RouterBuilder()
                .add(List.of(), List.of(below("/s3")), match.route())
                .add(
                        List.of(),
                        List.of(below("/other"), below("/s3/in"), exact("/s3/exact"), exact("/s3/b/exact")),
                        other)
                .build();
        handler().onRequest(client, head("GET", path), true);
    }

    @ParameterizedTest
    @CsvSource({
        "NORMAL, /s3//a/%61, /s3/a/a",
        "SLASHES_KEPT, /s3//a/%61, /s3//a/a",
        "AS_WRITTEN, /s3//a/%61?x=%61, /s3//a/%61?x=%61",
        "AS_WRITTEN, /s3/a/./b, /s3/a/./b",
        "AS_WRITTEN, /s3/a/../b, /s3/a/../b",
        "AS_WRITTEN, /s3/b/.?x=1, /s3/b/.?x=1",
        "AS_WRITTEN, /s3/exact/, /s3/exact/",
        "ESCAPES_KEPT, /s3/%61%2fb, /s3/%61%2fb",
        "SLASHES_REFUSED, /s3/a/./%61, /s3/a/a",
    })
    void thePathKeepsTheFormThatTheRuleWants(PathForm form, String path, String forwarded) {
        request(form, path);
        opener.last().succeed();
        assertThat((CharSequence) upstream().head().forwardedPath()).hasToString(forwarded);
        opener.last().events.onHead(response(204), true);
        assertThat((CharSequence) record().path).hasToString(path);
    }

    @Test
    void filtersSeeTheNormalForm() {
        List<String> seen = new ArrayList<>();
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                seen.add(head.path().toString());
                return Verdict.PROCEED;
            }
        });
        request(PathForm.AS_WRITTEN, "/s3//a/%61");
        opener.last().succeed();
        assertThat(seen).containsExactly("/s3/a/a");
        opener.last().events.onHead(response(204), true);
    }

    /** What a filter writes is what it means. */
    @Test
    void aFilterThatChangesThePathHasItsWay() {
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                head.setPath(new io.netty.util.AsciiString("/new"));
                return Verdict.PROCEED;
            }
        });
        request(PathForm.AS_WRITTEN, "/s3//a");
        opener.last().succeed();
        assertThat((CharSequence) upstream().head().forwardedPath()).hasToString("/new");
        opener.last().events.onHead(response(204), true);
    }

    private void assertRefused(PathForm form, String path) {
        request(form, path);
        assertAnswered(400, Cause.CLIENT_PROTOCOL_ERROR);
        assertThat(opener.openings).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "AS_WRITTEN, /other/../s3/a", // as it came, it is for another rule
        "AS_WRITTEN, /none/../s3/a", // or for none
        "AS_WRITTEN, //s3/a",
        "AS_WRITTEN, /%73%33/a",
        "AS_WRITTEN, /s3/a//../b",
        "AS_WRITTEN, /s3/exact/.", // without its last slash for some
        "AS_WRITTEN, /s3/exact/x/%2e%2e?x=1",
        "AS_WRITTEN, /s3/../other/%2e%2e/s3/a", // below /other for those who see no dots in escapes
        "AS_WRITTEN, /s3/%69n/x/../../a", // below /s3/in for those who resolve no dots
        "AS_WRITTEN, /s3//in/../a",
        "AS_WRITTEN, /s3/b/exact/%2e%2e/..",
        "AS_WRITTEN, /s3/b/../%69n/%2e%2e/a", // the same for those who resolve other dots first
        "SLASHES_KEPT, //s3/a",
        "SLASHES_KEPT, /s3//a//..",
        "ESCAPES_KEPT, /%73%33/a", // for another rule as it came
        "ESCAPES_KEPT, /s3/a/../b", // a filter has decided about /s3/b
        "ESCAPES_KEPT, /s3/%2e/a",
        "ESCAPES_KEPT, /s3//a",
        "SLASHES_REFUSED, /s3//a",
    })
    void aPathThatMayMeanSomethingElseIsRefused(PathForm form, String path) {
        assertRefused(form, path);
    }

    @ParameterizedTest
    @CsvSource({
        "NORMAL, /s3/%zz",
        "SLASHES_KEPT, /s3//%zz",
        "AS_WRITTEN, /s3/%zz",
        "AS_WRITTEN, /s3/a%00",
        "AS_WRITTEN, /s3/a\\b",
    })
    void whatHasNoNormalFormIsRefusedInAllForms(PathForm form, String path) {
        assertRefused(form, path);
    }
}
