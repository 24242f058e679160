package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.config.route.TunnelTimeouts;
import dev.gateway.exchange.route.Route;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.directresponse.DirectResponse;
import dev.gateway.filter.fields.FieldEdits;
import dev.gateway.filter.headers.ResponseHeaderModifier;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.Identity;
import dev.gateway.stream.StreamEvents;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Filters over an exchange: their order, their answers, and what becomes of one that throws. */
class FilteredExchangeTest extends ExchangeRig {
    /** Filters ask others, such as auth servers, and tell them what they see. */
    @Test
    void credentialsForAProxyAreNotForTheFiltersOfARoute() {
        List<String> seen = new ArrayList<>();
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                seen.add(head.fields().toString());
                return Verdict.PROCEED;
            }
        });
        RequestHead head = head("GET", "/");
        head.setAbsoluteForm(true);
        head.fields().add(FieldName.PROXY_AUTHORIZATION, "Basic x");
        offerTunnels();
        route();
        handler().onRequest(client, head, true);
        assertThat(seen).singleElement().asString().doesNotContainIgnoringCase("proxy-authorization");
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
    }

    @Test
    void aFilterOfAForwardProxySeesTheCredentialsAndTheDestinationDoesNot() {
        List<String> seen = new ArrayList<>();
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                seen.add(String.valueOf(head.fields().first(FieldName.PROXY_AUTHORIZATION)));
                context.setIdentity(new Identity("ci", Set.of("builders")));
                return Verdict.PROCEED;
            }

            @Override
            public void onEnd(FilterContext context) {
                Identity identity = context.identity();
                seen.add("ended, " + (identity == null ? "nobody" : identity.name()));
            }
        });
        RequestHead head = head("GET", "/");
        head.setAbsoluteForm(true);
        head.fields().add(FieldName.PROXY_AUTHORIZATION, "Basic x");
        offerTunnels();
        handler().onRequest(client, head, true);
        opener.last().succeed();
        assertThat(upstream().head().fields().contains(FieldName.PROXY_AUTHORIZATION))
                .isFalse();
        assertThat(seen).containsExactly("Basic x");
        opener.last().events.onHead(response(200), true);
        assertThat(seen).containsExactly("Basic x", "ended, ci");
        assertThat(record().identity).isEqualTo("ci");
    }

    /** An early hint must not have what a filter takes out of the response. */
    @Test
    void interimHeadsLoseWhatFiltersTakeOutOrReplace() {
        filters.add(new ResponseHeaderModifier(new FieldEdits(
                List.of(FieldEdits.Field.of("Server", "shop")),
                List.of(FieldEdits.Field.of("X-Added", "1")),
                List.of(FieldName.of("X-Internal")))));
        route();
        handler().onRequest(client, head("GET", "/"), true);
        opener.last().succeed();
        ResponseHead hint = response(103);
        hint.fields().add(FieldName.of("Link"), "</style.css>; rel=preload");
        hint.fields().add(FieldName.of("X-Internal"), "db-7");
        hint.fields().add(FieldName.of("Server"), "app/1.2");
        opener.last().events.onHead(hint, false);
        assertThat(client.heads).singleElement().satisfies(sent -> assertThat(sent.fields())
                .hasToString("Link: </style.css>; rel=preload\n"));
        opener.last().events.onHead(response(200), true);
        assertThat(client.heads.get(1).fields().toString()).contains("X-Added: 1");
    }

    private void modify(boolean always) {
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                return head.path().contentEquals("/reply")
                        ? new Verdict.Reply(response(302), Unpooled.EMPTY_BUFFER)
                        : new Verdict.Refuse(Failure.of(Cause.AUTHZ_DENIED, "no"));
            }
        });
        filters.add(new ResponseHeaderModifier(
                new FieldEdits(
                        List.of(
                                FieldEdits.Field.of("Strict-Transport-Security", "max-age=1"),
                                FieldEdits.Field.of("Cache-Control", "public")),
                        List.of(),
                        List.of()),
                always));
    }

    @Test
    void aModifierForAllAnswersAlsoEditsThoseOfFiltersBeforeIt() {
        modify(true);
        request("GET", "/reply", true);
        assertThat(client.field("Strict-Transport-Security")).isEqualTo("max-age=1");
    }

    /** What the gateway itself says of a failure stays: no cache may keep it. */
    @Test
    void aModifierForAllAnswersAlsoEditsFailures() {
        modify(true);
        get();
        assertAnswered(403, Cause.AUTHZ_DENIED);
        assertThat(client.field("Strict-Transport-Security")).isEqualTo("max-age=1");
        assertThat(client.field("Cache-Control")).isEqualTo("no-store");
    }

    @Test
    void anotherModifierDoesNot() {
        modify(false);
        request("GET", "/reply", true);
        assertThat(client.field("Strict-Transport-Security")).isNull();
    }

    @Test
    void onlyFiltersThatHaveProceededAreToldOfTheEnd() {
        List<String> ended = new ArrayList<>();
        filters.add(new Filter() {
            @Override
            public void onEnd(FilterContext context) {
                ended.add("first");
            }
        });
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                return new Verdict.Refuse(Failure.of(Cause.RATE_LIMITED, "too many"));
            }

            @Override
            public void onEnd(FilterContext context) {
                ended.add("second");
            }
        });
        get();
        assertAnswered(429, Cause.RATE_LIMITED);
        assertThat(ended).containsExactly("first");
    }

    private final class Recording implements Filter {
        private final String name;
        private final Verdict verdict;

        Recording(String name, Verdict verdict) {
            this.name = name;
            this.verdict = verdict;
        }

        @Override
        public Verdict onRequest(RequestHead head, FilterContext context) {
            head.fields().add(FieldName.of("x-seen"), name);
            contexts.add(context);
            return verdict;
        }

        @Override
        public void onResponse(ResponseHead head, FilterContext context) {
            head.fields().add(FieldName.of("x-seen"), name);
        }
    }

    private final List<FilterContext> contexts = new ArrayList<>();

    private static String seen(Fields fields) {
        StringBuilder seen = new StringBuilder();
        FieldName name = FieldName.of("x-seen");
        for (int i = fields.find(name, 0); i >= 0; i = fields.find(name, i + 1)) {
            seen.append(fields.value(i));
        }
        return seen.toString();
    }

    @Test
    void filtersSeeRequestsInOrderAndResponsesInReverse() {
        filters.add(new Recording("a", Verdict.PROCEED));
        filters.add(new Recording("b", Verdict.PROCEED));
        get();
        opener.last().succeed();
        assertThat(seen(upstream().head().fields())).isEqualTo("ab");
        opener.last().events.onHead(response(200), true);
        assertThat(seen(client.heads.get(0).fields())).isEqualTo("ba");
    }

    @Test
    void aFiltersReplyPassesThoseBeforeIt() {
        filters.add(new Recording("a", Verdict.PROCEED));
        filters.add(new Recording("b", new Verdict.Reply(response(302), bytes("moved"))));
        filters.add(new Recording("c", Verdict.PROCEED));
        get();
        assertThat(client.status()).isEqualTo(302);
        assertThat(client.body).hasToString("moved");
        assertThat(client.field("Content-Length")).isEqualTo("5");
        assertThat(seen(client.heads.get(0).fields())).isEqualTo("a");
        assertThat(record().cause).isNull();
        assertThat(record().sentBytes).isEqualTo(5);
    }

    @Test
    void aFiltersReplyMayBeARefusal() {
        Failure refusal = Failure.of(Cause.AUTHZ_DENIED, 302, "log in first");
        filters.add(new Recording("a", new Verdict.Reply(response(302), bytes("moved"), refusal)));
        get();
        assertThat(client.body).hasToString("moved");
        assertThat(record().status).isEqualTo(302);
        assertThat(record().cause).isEqualTo(Cause.AUTHZ_DENIED);
        assertThat(record().detail).isEqualTo("log in first");
    }

    @Test
    void aFiltersReplyToHeadHasNoBody() {
        filters.add(new Recording("a", new Verdict.Reply(response(200), bytes("hello"))));
        request("HEAD", "/", true);
        assertThat(client.body).isEmpty();
        assertThat(client.field("Content-Length")).isEqualTo("5");
    }

    private void breakTheClientsStream() {
        client.onNextCall = () -> {
            throw new IllegalStateException("a defect");
        };
    }

    private void assertBrokenOff() {
        assertThat(client.reset).isNotNull();
        assertThat(record().cause).isEqualTo(Cause.UNKNOWN);
        assertThat(record().detail).contains("IllegalStateException");
    }

    @Test
    void aReplyThatCannotBeSentEndsTheExchangeAndFreesWhatFiltersHold() {
        List<String> ended = new ArrayList<>();
        filters.add(new Ending(() -> ended.add("a")));
        filters.add(new Recording("b", new Verdict.Reply(response(200), bytes("hello"))));
        breakTheClientsStream();
        get();
        assertBrokenOff();
        assertThat(ended).containsExactly("a");
    }

    @Test
    void aLateReplyThatCannotBeSentEndsTheExchangeToo() {
        List<String> ended = new ArrayList<>();
        filters.add(new Ending(() -> ended.add("a")));
        filters.add(new Recording("b", new Verdict.Wait(() -> {})));
        get();
        breakTheClientsStream();
        contexts.get(0).resume(new Verdict.Reply(response(401), bytes("who?")));
        assertBrokenOff();
        assertThat(ended).containsExactly("a");
    }

    @Test
    void anAnswerToOptionsThatCannotBeSentEndsTheExchange() {
        breakTheClientsStream();
        request("OPTIONS", "*", true);
        assertBrokenOff();
    }

    @Test
    void aRefusalThatCannotBeSentIsCountedAllTheSame() {
        breakTheClientsStream();
        Failure refusal = Failure.of(Cause.CLIENT_PROTOCOL_ERROR, "not HTTP");
        assertThatThrownBy(() -> handler().onRefused(client, null, refusal)).hasMessage("a defect");
        assertThat(record().cause).isEqualTo(Cause.CLIENT_PROTOCOL_ERROR);
    }

    @Test
    void aFilterThatRefusesSaysWhy() {
        filters.add(new Recording("a", new Verdict.Refuse(Failure.of(Cause.RATE_LIMITED, "too many"))));
        get();
        assertAnswered(429, Cause.RATE_LIMITED);
        assertThat(opener.openings).isEmpty();
    }

    @Test
    void aFilterMayAnswerLater() {
        List<String> cancelled = new ArrayList<>();
        filters.add(new Recording("a", new Verdict.Wait(() -> cancelled.add("a"))));
        filters.add(new Recording("b", Verdict.PROCEED));
        StreamEvents events = request("POST", "/", false);
        events.onData(bytes("held"), true);
        assertThat(client.consumed).isZero();
        assertThat(opener.openings).isEmpty();
        contexts.get(0).resume(Verdict.PROCEED);
        opener.last().succeed();
        assertThat(upstream().body).hasToString("held");
        opener.last().events.onHead(response(200), true);
        assertThat(seen(client.heads.get(0).fields())).isEqualTo("ba");
        assertThat(cancelled).isEmpty();
    }

    @Test
    void aFilterMayReplyLater() {
        filters.add(new Recording("a", new Verdict.Wait(() -> {})));
        get();
        contexts.get(0).resume(new Verdict.Reply(response(401), bytes("who?")));
        assertThat(client.status()).isEqualTo(401);
        assertThat(client.body).hasToString("who?");
    }

    @Test
    void aFilterMayResumeBeforeItSaysThatItWaits() {
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                context.resume(Verdict.PROCEED);
                return new Verdict.Wait(() -> {});
            }
        });
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(record().status).isEqualTo(200);
    }

    @Test
    void aFilterThatIsWaitedForIsCancelledWhenTheClientLeaves() {
        List<String> cancelled = new ArrayList<>();
        filters.add(new Recording("a", new Verdict.Wait(() -> cancelled.add("a"))));
        StreamEvents events = request("POST", "/", false);
        events.onData(bytes("held"), false);
        events.onReset(GONE);
        assertThat(cancelled).containsExactly("a");
        contexts.get(0).resume(new Verdict.Reply(response(200), bytes("late")));
        assertThat(client.heads).isEmpty();
        assertThat(record().cause).isEqualTo(Cause.CLIENT_CLOSED);
    }

    @Test
    void aFilterThatThrowsWhenCancelledDoesNotKeepTheExchangeOpen() {
        filters.add(new Recording("a", new Verdict.Wait(() -> {
            throw new IllegalStateException("a defect");
        })));
        request("POST", "/", false).onReset(GONE);
        assertThat(record().cause).isEqualTo(Cause.CLIENT_CLOSED);
    }

    @Test
    void aFilterThatThrowsAtTheEndDoesNotKeepTheExchangeOpen() {
        List<String> ended = new ArrayList<>();
        filters.add(new Ending(() -> ended.add("a")));
        filters.add(new Ending(() -> {
            throw new IllegalStateException("a defect");
        }));
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(record().status).isEqualTo(200);
        assertThat(ended).containsExactly("a");
    }

    private record Ending(Runnable task) implements Filter {
        @Override
        public Verdict onRequest(RequestHead head, FilterContext context) {
            return Verdict.PROCEED;
        }

        @Override
        public void onEnd(FilterContext context) {
            task.run();
        }
    }

    @Test
    void aFilterThatIsWaitedForTooLongIsCancelled() {
        timeouts = new Route.Timeouts(100, 0, 0, TunnelTimeouts.NONE);
        List<String> cancelled = new ArrayList<>();
        filters.add(new Recording("a", new Verdict.Wait(() -> cancelled.add("a"))));
        get();
        pass(150);
        assertThat(cancelled).containsExactly("a");
        assertThat(client.status()).isEqualTo(504);
    }

    @Test
    void anEmptyReplyEndsWithItsHead() {
        filters.add(new Recording("a", new Verdict.Reply(response(204), Unpooled.EMPTY_BUFFER)));
        get();
        assertThat(client.ended).isTrue();
        assertThat(client.field("Content-Length")).isNull();
    }

    private static Filter throwing(boolean onRequest) {
        return new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                if (onRequest) {
                    throw new IllegalStateException("a defect");
                }
                return Verdict.PROCEED;
            }

            @Override
            public void onResponse(ResponseHead head, FilterContext context) {
                throw new IllegalStateException("a defect");
            }
        };
    }

    @Test
    void aFilterThatThrowsFailsItsExchangeAlone() {
        filters.add(throwing(true));
        get();
        assertAnswered(500, Cause.UNKNOWN);
    }

    @Test
    void aFilterThatThrowsWhenResumedFailsItsExchangeAlone() {
        filters.add(new Recording("a", new Verdict.Wait(() -> {})));
        filters.add(throwing(true));
        get().onReadComplete();
        contexts.get(0).resume(Verdict.PROCEED);
        assertAnswered(500, Cause.UNKNOWN);
    }

    @Test
    void aFilterThatThrowsOnAReplyLeaksNothing() {
        filters.add(throwing(false));
        filters.add(new Recording("b", new Verdict.Reply(response(200), bytes("hello"))));
        get();
        assertAnswered(500, Cause.UNKNOWN);
    }

    @Test
    void aFilterThatThrowsOnAResponseFailsItsExchangeAlone() {
        filters.add(throwing(false));
        get().onReadComplete();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        assertThat(opener.last().stream.reset).isNotNull();
        opener.last().events.onData(bytes("late"), true);
        assertAnswered(500, Cause.UNKNOWN);
    }

    @Test
    void aReplyToHeadAnnouncesTheLengthThatGetWouldHave() {
        filters.add(new DirectResponse(200, List.of(), "hello".getBytes(StandardCharsets.UTF_8)));
        request("HEAD", "/", true);
        assertThat(client.field("Content-Length")).isEqualTo("5");
        assertThat(client.body).isEmpty();
        assertThat(client.ended).isTrue();
    }
}
