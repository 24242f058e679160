package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.exchange.ExchangeState.Event;
import dev.gateway.exchange.route.Route;
import dev.gateway.exchange.route.Router;
import dev.gateway.filter.BodyInspector;
import dev.gateway.filter.BodyTransform;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.FilterDefect;
import dev.gateway.filter.InspectionContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.plugin.ContainedFilter;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.Identity;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Filters one after another, each of which says what the test wants it to say. */
class FilterChainTest extends PartRig {
    private final List<Filter> filters = new ArrayList<>();
    private final List<String> seen = new ArrayList<>();
    private final FilterChain.Decisions decided = new FilterChain.Decisions() {
        @Override
        public void onFilterWaits() {
            told.add("waits");
        }

        @Override
        public void onFilterReplied(Verdict.Reply reply) {
            reply.body().release();
            told.add("replied " + reply.head().status());
        }

        @Override
        public void onFilterRefused(Verdict.Refuse refusal) {
            told.add("refused: " + refusal.failure().cause().label());
        }

        @Override
        public void onFiltersProceeded() {
            told.add("proceeded");
        }

        @Override
        public void limitRequestBody(long maxBytes, String by) {
            told.add("at most " + maxBytes + " bytes, by " + by);
        }

        @Override
        public void onDefect(Throwable defect) {
            told.add("defect: " + defect.getMessage());
        }
    };

    /** Says one verdict after another, and writes down what it sees. */
    private final class Saying implements Filter {
        private final String name;
        private final Queue<Verdict> verdicts;
        private @Nullable BodyInspector inspector;

        Saying(String name, Verdict... verdicts) {
            this.name = name;
            this.verdicts = new ArrayDeque<>(List.of(verdicts));
        }

        @Override
        public Verdict onRequest(RequestHead head, FilterContext context) {
            seen.add(name);
            return verdicts.remove();
        }

        @Override
        public @Nullable BodyInspector inspector(RequestHead head, InspectionContext context) {
            return inspector;
        }

        @Override
        public void onRequestTrailers(Fields trailers, FilterContext context) {
            seen.add(name + " trailers");
        }

        @Override
        public void onResponse(ResponseHead head, FilterContext context) {
            seen.add(name + " response");
        }

        @Override
        public void onResponseTrailers(Fields trailers, FilterContext context) {
            seen.add(name + " response trailers");
        }

        @Override
        public void onEnd(FilterContext context) {
            seen.add(name + " end");
        }
    }

    private Saying add(String name, Verdict... verdicts) {
        Saying filter = new Saying(name, verdicts);
        filters.add(filter);
        return filter;
    }

    private FilterChain chain() {
        Route route = new Route("app", filters, Route.Forwarding.NONE, Route.Timeouts.NONE, Route.Upgrades.NONE);
        return new FilterChain(new Router.Match(route, 3), exchange(), decided);
    }

    private Verdict.Wait waiting() {
        return new Verdict.Wait(() -> told.add("cancelled"));
    }

    private Verdict.Reply reply() {
        return new Verdict.Reply(ExchangeRig.response(302), bytes("moved"));
    }

    private static Failure refusal() {
        return Failure.of(Cause.RATE_LIMITED, "too many");
    }

    @Test
    void eachFilterProceedsInTurn() {
        add("a", Verdict.PROCEED);
        add("b", Verdict.PROCEED);
        FilterChain chain = chain();
        chain.run();
        assertThat(told).containsExactly("proceeded");
        chain.onRequestTrailers(new Fields());
        chain.onResponse(ExchangeRig.response(200));
        chain.onResponseTrailers(new Fields());
        chain.end();
        chain.end();
        assertThat(seen)
                .containsExactly(
                        "a",
                        "b",
                        "a trailers",
                        "b trailers",
                        "b response",
                        "a response",
                        "b response trailers",
                        "a response trailers",
                        "b end",
                        "a end");
    }

    /** Keeps its name, and writes down what it has kept whenever it is called again. */
    private final class Keeping implements Filter {
        private final String name;

        Keeping(String name) {
            this.name = name;
        }

        @Override
        public Verdict onRequest(RequestHead head, FilterContext context) {
            seen.add(name + context.kept());
            context.keep(name);
            return Verdict.PROCEED;
        }

        @Override
        public @Nullable BodyInspector inspector(RequestHead head, InspectionContext context) {
            seen.add(name + context.kept());
            return null;
        }

        @Override
        public void onRequestTrailers(Fields trailers, FilterContext context) {
            seen.add(name + context.kept());
        }

        @Override
        public void onResponse(ResponseHead head, FilterContext context) {
            seen.add(name + context.kept());
        }

        @Override
        public void onResponseTrailers(Fields trailers, FilterContext context) {
            seen.add(name + context.kept());
        }

        @Override
        public void onEnd(FilterContext context) {
            seen.add(name + context.kept());
        }
    }

    @Test
    void eachFilterHasWhatItKept() {
        filters.add(new Keeping("a"));
        add("x", Verdict.PROCEED);
        filters.add(new Keeping("b"));
        FilterChain chain = chain();
        chain.run();
        chain.inspector();
        chain.onRequestTrailers(new Fields());
        chain.onResponse(ExchangeRig.response(200));
        chain.onResponseTrailers(new Fields());
        chain.end();
        seen.removeIf(each -> each.startsWith("x"));
        assertThat(seen).containsExactly("anull", "bnull", "aa", "bb", "aa", "bb", "bb", "aa", "bb", "aa", "bb", "aa");
    }

    @Test
    void aFilterThatWaitsKeepsForItself() {
        FilterContext[] waiting = new FilterContext[1];
        filters.add(new Keeping("a"));
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                waiting[0] = context;
                return waiting();
            }

            @Override
            public void onEnd(FilterContext context) {
                seen.add("b" + context.kept());
            }
        });
        FilterChain chain = chain();
        chain.run();
        chain.onRequestTrailers(new Fields());
        waiting[0].keep("late");
        chain.resume(Verdict.PROCEED);
        chain.end();
        assertThat(seen).containsExactly("anull", "aa", "blate", "aa");
    }

    @Test
    void whatAFilterReleasesIsChargedNoMore() {
        FilterChain chain = chain();
        assertThat(chain.tryHold(100, true)).isTrue();
        chain.release(60);
        assertThat(exchange().held.bytes()).isEqualTo(40);
        exchange().state.on(Event.FAILED); // the exchange releases all
        chain.release(40);
        assertThat(exchange().held.bytes()).isEqualTo(40);
    }

    @Test
    void aReplyPassesThoseThatHaveProceededAndEndsIt() {
        add("a", Verdict.PROCEED);
        add("b", reply());
        add("c");
        FilterChain chain = chain();
        chain.run();
        assertThat(told).containsExactly("replied 302");
        chain.end();
        assertThat(seen).containsExactly("a", "b", "a response", "a end");
    }

    @Test
    void aRefusalEndsIt() {
        add("a", new Verdict.Refuse(refusal()));
        add("b");
        chain().run();
        assertThat(told).containsExactly("refused: rate_limited");
        assertThat(seen).containsExactly("a");
    }

    @Test
    void whoeverWaitsGoesOnWhereItStopped() {
        add("a", waiting());
        add("b", waiting());
        FilterChain chain = chain();
        chain.run();
        assertThat(told).containsExactly("waits");
        chain.resume(Verdict.PROCEED);
        assertThat(told).containsExactly("waits", "waits");
        chain.resume(Verdict.PROCEED);
        assertThat(told).containsExactly("waits", "waits", "proceeded");
        assertThat(seen).containsExactly("a", "b");
    }

    @Test
    void whoeverWasNotWaitedForCannotResume() {
        add("a", Verdict.PROCEED);
        FilterChain chain = chain();
        chain.run();
        assertThatThrownBy(() -> chain.resume(reply())).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aWaitThatIsAnsweredByAnotherIsADefect() {
        add("a", waiting());
        FilterChain chain = chain();
        chain.run();
        chain.resume(new Verdict.Wait(() -> {}));
        assertThat(told).containsExactly("waits", "defect: a filter waited for another wait");
    }

    @Test
    void aWaitIsCancelledOnceAndItsReplyComesTooLate() {
        add("a", waiting());
        FilterChain chain = chain();
        chain.run();
        chain.cancel();
        chain.cancel();
        chain.resume(reply());
        assertThat(told).containsExactly("waits", "cancelled");
    }

    @Test
    void anExchangeThatEndsInsideAFilterTakesNoVerdictOfIt() {
        FilterChain[] chain = new FilterChain[1];
        Verdict.Reply reply = reply();
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                chain[0].cancel();
                return reply;
            }
        });
        chain[0] = chain();
        chain[0].run();
        assertThat(told).isEmpty();
    }

    @Test
    void aVerdictThatCameEarlyIsDroppedIfTheExchangeEnds() {
        FilterChain[] chain = new FilterChain[1];
        Verdict.Reply reply = reply();
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                context.resume(reply);
                chain[0].cancel();
                return waiting();
            }
        });
        chain[0] = chain();
        chain[0].run();
        assertThat(told).containsExactly("cancelled");
    }

    @Test
    void aFilterThatResumesAndDoesNotWaitIsADefect() {
        Verdict.Reply resumed = reply();
        Verdict.Reply returned = reply();
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                context.resume(resumed);
                return returned;
            }
        });
        add("b");
        FilterChain chain = chain();
        assertThatThrownBy(chain::run)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("a filter resumed, but returned another verdict than Wait");
        assertThat(resumed.body().refCnt()).isZero();
        assertThat(returned.body().refCnt()).isZero();
    }

    @Test
    void aVerdictThatCameBeforeAnExceptionIsDropped() {
        Verdict.Reply resumed = reply();
        Verdict.Reply late = reply();
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                context.resume(resumed);
                throw new IllegalStateException("made by the test");
            }
        });
        FilterChain chain = chain();
        assertThatThrownBy(chain::run).hasMessage("made by the test");
        assertThat(resumed.body().refCnt()).isZero();
        chain.resume(late);
        assertThat(late.body().refCnt()).isZero();
    }

    /** Returns a filter of a plugin. */
    private static Filter contained(Filter filter) {
        return new ContainedFilter(filter, "Test", "test.jar", false, false);
    }

    @Test
    void aFilterOfAPluginDoesNotDecideForTheNextOne() {
        FilterContext[] first = new FilterContext[1];
        filters.add(contained(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                first[0] = context;
                return waiting();
            }
        }));
        add("guard", waiting());
        FilterChain chain = chain();
        chain.run();
        first[0].resume(Verdict.PROCEED);
        Verdict.Reply second = reply();
        first[0].resume(second);
        assertThat(told).containsExactly("waits", "waits");
        assertThat(second.body().refCnt()).isZero();
        chain.resume(new Verdict.Refuse(refusal()));
        assertThat(told).containsExactly("waits", "waits", "refused: rate_limited");
    }

    @Test
    void aFilterOfAPluginThatHasDecidedDoesNotDecideForTheNextOne() {
        FilterContext[] first = new FilterContext[1];
        filters.add(contained(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                first[0] = context;
                return Verdict.PROCEED;
            }
        }));
        add("guard", waiting());
        chain().run();
        first[0].resume(Verdict.PROCEED);
        assertThat(told).containsExactly("waits");
    }

    @Test
    void aFilterOfAPluginThatResumesEarlyDoesSoOnce() {
        Verdict.Reply second = reply();
        filters.add(contained(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                context.resume(Verdict.PROCEED);
                context.resume(second);
                return waiting();
            }
        }));
        chain().run();
        assertThat(told).containsExactly("proceeded");
        assertThat(second.body().refCnt()).isZero();
    }

    @Test
    void aFilterOfAPluginThatResumesAndDoesNotWaitFailsItsExchange() {
        filters.add(contained(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                context.resume(Verdict.PROCEED);
                return Verdict.PROCEED;
            }
        }));
        assertThatThrownBy(chain()::run).isInstanceOf(FilterDefect.class);
    }

    @Test
    void aFilterOfAPluginThatResumesWithAWaitFailsItsExchange() {
        filters.add(contained(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                context.resume(waiting());
                return waiting();
            }
        }));
        chain().run();
        assertThat(told).containsExactly("refused: filter_error");
    }

    @Test
    void aFilterOfAPluginMayResumeAfterTheEndInVain() {
        FilterContext[] given = new FilterContext[1];
        filters.add(contained(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                given[0] = context;
                return waiting();
            }
        }));
        FilterChain chain = chain();
        chain.run();
        chain.cancel();
        Verdict.Reply late = reply();
        given[0].resume(late);
        assertThat(told).containsExactly("waits", "cancelled");
        assertThat(late.body().refCnt()).isZero();
    }

    @Test
    void aTransformOfAPluginKeepsForItsOwnFilter() {
        List<BodyTransform> transforms = new ArrayList<>();
        filters.add(new Keeping("a"));
        filters.add(contained(new Filter() {
            @Override
            public BodyTransform responseBody(ResponseHead head, boolean last, FilterContext context) {
                return new BodyTransform() {
                    @Override
                    public BodyTransform.Result transform(ByteBuf in, Input input) {
                        seen.add("plugin" + context.kept());
                        context.keep("mine");
                        return MORE;
                    }

                    @Override
                    public void close() {
                        seen.add("plugin" + context.kept());
                    }
                };
            }
        }));
        filters.add(new Keeping("c"));
        FilterChain chain = chain();
        chain.run();
        transforms.add(chain.responseBody(ExchangeRig.response(200), false));
        seen.clear();
        for (BodyTransform each : transforms) {
            each.transform(Unpooled.EMPTY_BUFFER, BodyTransform.Input.CONTINUES);
            each.close();
        }
        chain.end();
        assertThat(seen).containsExactly("pluginnull", "pluginmine", "cc", "aa");
    }

    @Test
    void inspectorsLookOneAfterAnother() {
        List<String> looked = new ArrayList<>();
        add("a", Verdict.PROCEED).inspector = inspector("a", looked, BodyInspector.MORE, BodyInspector.PASS);
        add("b", Verdict.PROCEED);
        add("c", Verdict.PROCEED).inspector = inspector("c", looked, BodyInspector.MORE, BodyInspector.PASS);
        FilterChain chain = chain();
        chain.run();
        BodyInspector all = chain.inspector();
        assertThat(all).isNotNull();
        for (int i = 0; all != null && i < 3; i++) {
            all.inspect(Unpooled.EMPTY_BUFFER, false);
        }
        assertThat(looked).containsExactly("a", "a", "c", "c");
    }

    private static BodyInspector inspector(String name, List<String> looked, BodyInspector.Result... results) {
        Queue<BodyInspector.Result> left = new ArrayDeque<>(List.of(results));
        return new BodyInspector() {
            @Override
            public BodyInspector.Result inspect(ByteBuf soFar, boolean last) {
                looked.add(name);
                return left.remove();
            }
        };
    }

    @Test
    void withoutAnInspectorNothingLooks() {
        add("a", Verdict.PROCEED);
        assertThat(chain().inspector()).isNull();
    }

    @Test
    void whatFiltersFindOutIsRecorded() {
        FilterChain chain = chain();
        assertThat(chain.identity()).isNull();
        chain.setIdentity(new Identity("ci", Set.of()));
        chain.setTunnelServerName("a.test");
        assertThat(exchange().record.identity).isEqualTo("ci");
        assertThat(exchange().record.tunnelServerName).isEqualTo("a.test");
        assertThat(chain.matchedPrefixLength()).isEqualTo(3);
        assertThat(chain.client()).isEqualTo(exchange().record.client);
        assertThat(chain.connection()).isSameAs(exchange().record.connection);
        assertThat(chain.loop()).isSameAs(wheel.loop());
    }
}
