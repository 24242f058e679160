package dev.gateway.filter.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.filter.BodyInspector;
import dev.gateway.filter.BodyTransform;
import dev.gateway.filter.ErrorAnswer;
import dev.gateway.filter.ErrorBody;
import dev.gateway.filter.FakeContext;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.FilterDefect;
import dev.gateway.filter.InspectionContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A filter of a plugin that finds no memory: its exchange ends as any that finds none, and no error gets past it. */
class ContainedFilterTest {
    private static final class Hungry implements Filter, BodyTransform {
        private static OutOfMemoryError none() {
            return new OutOfMemoryError("made by the test");
        }

        @Override
        public Verdict onRequest(RequestHead head, FilterContext context) {
            throw none();
        }

        @Override
        public BodyTransform responseBody(ResponseHead head, boolean last, FilterContext context) {
            return this;
        }

        @Override
        public Result transform(ByteBuf in, Input input) {
            throw none();
        }

        @Override
        public void close() {
            throw none();
        }

        @Override
        public void onResponse(ResponseHead head, FilterContext context) {
            throw none();
        }

        @Override
        public void onFailure(Fields answer, FilterContext context) {
            throw none();
        }

        @Override
        public ErrorBody errorBody(ErrorAnswer answer, FilterContext context) {
            throw none();
        }

        @Override
        public void onEnd(FilterContext context) {
            throw none();
        }
    }

    private final FakeContext context = FakeContext.from("192.0.2.1");
    private final Filter filter = new ContainedFilter(new Hungry(), "Hungry", "hungry.jar", false, false);
    private final RequestHead request = new RequestHead(
            Method.GET, AsciiString.of("http"), AsciiString.of("a.test"), AsciiString.of("/"), new Fields(), 0);
    private final ResponseHead response = new ResponseHead(200, null, new Fields(), 0);

    private static void isOverload(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(FilterDefect.class, defect -> {
            Failure failure = defect.failure();
            assertThat(failure == null ? null : failure.cause()).isEqualTo(Cause.OVERLOAD);
        });
    }

    @Test
    void theExchangeFailsAsOverload() {
        isOverload(() -> filter.onRequest(request, context));
        isOverload(() -> filter.onResponse(response, context));
        BodyTransform transform = Objects.requireNonNull(filter.responseBody(response, false, context));
        isOverload(() -> transform.transform(Unpooled.EMPTY_BUFFER, BodyTransform.Input.ENDS));
    }

    /** Plugins are compiled without the checks for null that the gateway's own code has. */
    @SuppressWarnings({"NullAway", "DataFlowIssue"})
    private static List<Verdict> unusable() {
        ResponseHead interim = new ResponseHead(103, null, new Fields(), 0);
        ResponseHead odd = new ResponseHead(999, null, new Fields(), 0);
        ResponseHead good = new ResponseHead(200, null, new Fields(), 0);
        return List.of(
                new Verdict.Reply(null, Unpooled.buffer()),
                new Verdict.Reply(good, null),
                new Verdict.Reply(interim, Unpooled.buffer()),
                new Verdict.Reply(odd, Unpooled.buffer()),
                new Verdict.Refuse(null),
                new Verdict.Refuse(Failure.of(Cause.AUTHZ_DENIED, 100, "interim")),
                new Verdict.Refuse(Failure.of(Cause.AUTHZ_DENIED, 1000, "odd")),
                new Verdict.Refuse(new Failure(null, 403, RetrySafety.NEVER, false, "no cause")),
                new Verdict.Refuse(new Failure(Cause.AUTHZ_DENIED, 403, RetrySafety.NEVER, false, null)),
                new Verdict.Reply(good, Unpooled.buffer(), new Failure(null, 403, RetrySafety.NEVER, false, "no")),
                new Verdict.Refuse(Failure.of(Cause.AUTHZ_DENIED, "no"), null));
    }

    private static void isReleased(Verdict verdict) {
        if (verdict instanceof Verdict.Reply reply && Objects.nonNull(reply.body())) {
            assertThat(reply.body().refCnt()).isZero();
        }
    }

    @ParameterizedTest
    @MethodSource("unusable")
    void aVerdictThatNobodyCanActOnFailsTheExchange(Verdict verdict) {
        Filter faulty = new ContainedFilter(
                new Filter() {
                    @Override
                    public Verdict onRequest(RequestHead head, FilterContext own) {
                        return verdict;
                    }
                },
                "Faulty",
                "faulty.jar",
                false,
                false);
        assertThatThrownBy(() -> faulty.onRequest(request, context))
                .isInstanceOfSatisfying(FilterDefect.class, defect -> assertThat(
                                Objects.requireNonNull(defect.failure()).cause())
                        .isEqualTo(Cause.FILTER_ERROR));
        isReleased(verdict);
    }

    @ParameterizedTest
    @MethodSource("unusable")
    void aLaterVerdictThatNobodyCanActOnFailsTheExchange(Verdict verdict) {
        AtomicReference<FilterContext> waiting = new AtomicReference<>();
        Filter faulty = new ContainedFilter(
                new Filter() {
                    @Override
                    public Verdict onRequest(RequestHead head, FilterContext own) {
                        waiting.set(own);
                        return new Verdict.Wait(() -> {});
                    }
                },
                "Faulty",
                "faulty.jar",
                false,
                false);
        faulty.onRequest(request, context);
        Objects.requireNonNull(waiting.get()).resume(verdict);
        assertThat(context.resumed).singleElement().isInstanceOfSatisfying(Verdict.Refuse.class, refusal -> assertThat(
                        refusal.failure().cause())
                .isEqualTo(Cause.FILTER_ERROR));
        isReleased(verdict);
    }

    @Test
    void aPluginReleasesNoMoreThanItHolds() {
        AtomicReference<FilterContext> waiting = new AtomicReference<>();
        Filter holding = new ContainedFilter(
                new Filter() {
                    @Override
                    public Verdict onRequest(RequestHead head, FilterContext own) {
                        waiting.set(own);
                        return new Verdict.Wait(() -> {});
                    }
                },
                "Holding",
                "holding.jar",
                false,
                false);
        holding.onRequest(request, context);
        FilterContext own = Objects.requireNonNull(waiting.get());
        context.held = 1000; // of others
        assertThat(own.tryHold(100, true)).isTrue();
        assertThatThrownBy(() -> own.tryHold(-50, true)).isInstanceOf(IllegalArgumentException.class);
        own.release(60);
        assertThatThrownBy(() -> own.release(41)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> own.release(-1)).isInstanceOf(IllegalStateException.class);
        assertThat(context.held).isEqualTo(1040);
    }

    @Test
    void aTransformOrAnInspectorFailsOnlyWithAFailure() {
        Failure successful = Failure.of(Cause.AUTHZ_DENIED, 200, "with the status of a success");
        Filter faulty = new ContainedFilter(
                new Filter() {
                    @Override
                    public BodyTransform requestBody(RequestHead head, FilterContext own) {
                        return new BodyTransform() {
                            @Override
                            public Result transform(ByteBuf in, Input input) {
                                return new Fail(successful);
                            }

                            @Override
                            public void close() {}
                        };
                    }

                    @Override
                    public BodyInspector inspector(RequestHead head, InspectionContext own) {
                        return (soFar, last) -> new BodyInspector.Refuse(successful);
                    }
                },
                "Faulty",
                "faulty.jar",
                false,
                false);
        BodyTransform transform = Objects.requireNonNull(faulty.requestBody(request, context));
        assertThatThrownBy(() -> transform.transform(Unpooled.EMPTY_BUFFER, BodyTransform.Input.ENDS))
                .isInstanceOf(FilterDefect.class);
        BodyInspector inspector = Objects.requireNonNull(faulty.inspector(request, context));
        assertThatThrownBy(() -> inspector.inspect(Unpooled.EMPTY_BUFFER, true)).isInstanceOf(FilterDefect.class);
    }

    @Test
    void whatHasNothingLeftToFailIsOnlyLogged() {
        BodyTransform transform = Objects.requireNonNull(filter.responseBody(response, false, context));
        assertThatCode(() -> {
                    transform.close();
                    filter.onFailure(new Fields(), context);
                    filter.onEnd(context);
                })
                .doesNotThrowAnyException();
    }
}
