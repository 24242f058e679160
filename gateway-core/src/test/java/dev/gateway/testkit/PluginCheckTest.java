package dev.gateway.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.filter.BodyTransform;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.FilterPlugin;
import dev.gateway.filter.Verdict;
import dev.gateway.message.FieldName;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.plugin.Settings;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.AsciiString;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The test kit accepts plugins that are right, and says what is wrong with others. */
class PluginCheckTest {
    private record Plugin(Filter filter, int answer) implements FilterPlugin {
        Plugin(Filter filter) {
            this(filter, 0);
        }

        @Override
        public String type() {
            return "Checked";
        }

        @Override
        public String description() {
            return "Is checked.";
        }

        @Override
        public Filter create(Settings settings) {
            return filter;
        }
    }

    /** Adds a field to both heads, and passes bodies by copies. */
    private static class Copying implements Filter {
        @Override
        public Verdict onRequest(RequestHead head, FilterContext context) {
            head.fields().set(FieldName.of("x-copied"), AsciiString.of("up"));
            return Verdict.PROCEED;
        }

        @Override
        public void onResponse(ResponseHead head, FilterContext context) {
            head.fields().set(FieldName.of("x-copied"), AsciiString.of("down"));
        }

        @Override
        public BodyTransform requestBody(RequestHead head, FilterContext context) {
            return new Copies();
        }

        @Override
        public BodyTransform responseBody(ResponseHead head, boolean last, FilterContext context) {
            return new Copies();
        }
    }

    private static class Copies implements BodyTransform {
        @Override
        public Result transform(ByteBuf in, Input input) {
            return in.isReadable() ? new Piece(copy(in), false) : MORE;
        }

        ByteBuf copy(ByteBuf in) {
            int length = Math.min(in.readableBytes(), 1000);
            return PooledByteBufAllocator.DEFAULT.directBuffer(length).writeBytes(in, length);
        }

        @Override
        public void close() {}
    }

    private static String failure(Filter filter) {
        return failure(filter, Duration.ofSeconds(10));
    }

    private static String failure(Filter filter, Duration patience) {
        List<Throwable> thrown = new ArrayList<>();
        assertThatThrownBy(() -> PluginCheck.of(new Plugin(filter), "{}")
                        .patience(patience)
                        .run())
                .isInstanceOf(AssertionError.class)
                .satisfies(thrown::add);
        return String.valueOf(thrown.get(0).getMessage());
    }

    @Test
    void aFilterThatIsRightPassesAndItsAnswersAreSeenInEachPairing() throws Exception {
        List<Answer> answers = new ArrayList<>();
        PluginCheck.of(new Plugin(new Copying()), "{}")
                .requestField("X-Mine", "1")
                .answers(answers::add)
                .run();
        assertThat(answers).hasSize(8).allSatisfy(answer -> {
            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.fields().get("X-Copied")).isEqualTo("down");
        });
        assertThat(answers)
                .filteredOn(answer -> answer.method().equals("GET"))
                .hasSize(4)
                .allSatisfy(answer -> assertThat(answer.body())
                        .startsWith("GET /testkit\n")
                        .containsIgnoringCase("x-mine: 1\n")
                        .containsIgnoringCase("x-copied: up\n"));
        assertThat(answers)
                .filteredOn(answer -> answer.method().equals("POST"))
                .hasSize(4)
                .allSatisfy(answer -> assertThat(answer.body()).hasSize(40_008).endsWith("the end\n"));
    }

    @Test
    void aFilterMayRefuseOrAnswerEveryRequest() throws Exception {
        List<Integer> statuses = new ArrayList<>();
        Filter refusing = new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                return new Verdict.Refuse(Failure.of(Cause.AUTHZ_DENIED, "nobody may"));
            }
        };
        PluginCheck.of(new Plugin(refusing), "{}")
                .answers(answer -> statuses.add(answer.status()))
                .run();
        PluginCheck.of(new Plugin(refusing, 403), "{}")
                .answers(answer -> statuses.add(answer.status()))
                .run();
        assertThat(statuses).hasSize(16).containsOnly(403);
    }

    @Test
    void aTransformMayKeepForItsFilter() throws Exception {
        PluginCheck.of(
                        new Plugin(new Copying() {
                            @Override
                            public BodyTransform responseBody(ResponseHead head, boolean last, FilterContext context) {
                                return new Copies() {
                                    @Override
                                    public Result transform(ByteBuf in, Input input) {
                                        context.keep("mine");
                                        return super.transform(in, input);
                                    }
                                };
                            }
                        }),
                        "{}")
                .run();
    }

    @Test
    void aBufferThatAFilterForgetsIsReportedWithItsPlace() {
        assertThat(failure(new Copying() {
                    @Override
                    public BodyTransform requestBody(RequestHead head, FilterContext context) {
                        return new Copies() {
                            @Override
                            ByteBuf copy(ByteBuf in) {
                                super.copy(in.duplicate());
                                return super.copy(in);
                            }
                        };
                    }
                }))
                .startsWith("Checked, HTTP1 to HTTP1, bodies in pieces, with trailers: nobody has released a buffer")
                .contains("Copies.copy");
    }

    @Test
    void anExceptionThatTheGatewayOnlyLogsIsReported() {
        assertThat(failure(new Copying() {
                    @Override
                    public void onEnd(FilterContext context) {
                        throw new IllegalStateException("at the end");
                    }
                }))
                .isEqualTo("Checked, HTTP1 to HTTP1, a request without a body: the filter threw"
                        + " java.lang.IllegalStateException: at the end");
    }

    @Test
    void anExceptionOfATransformIsReported() {
        assertThat(failure(new Copying() {
                    @Override
                    public BodyTransform responseBody(ResponseHead head, boolean last, FilterContext context) {
                        return new Copies() {
                            @Override
                            public void close() {
                                throw new IllegalStateException("at close");
                            }
                        };
                    }
                }))
                .contains("the filter threw java.lang.IllegalStateException: at close");
    }

    @Test
    void aVerdictThatIsNullIsReported() {
        assertThat(failure(new Filter() {
                    @Override
                    @SuppressWarnings("NullAway") // this is the mistake
                    public Verdict onRequest(RequestHead head, FilterContext context) {
                        return null;
                    }
                }))
                .startsWith("Checked, HTTP1 to HTTP1: ")
                .contains("filter_error", "NullPointerException");
    }

    @Test
    void aFilterThatResumesOnceIsRightAndASecondTimeIsReported() throws Exception {
        PluginCheck.of(new Plugin(new Resuming(1)), "{}").run();
        assertThat(failure(new Resuming(2)))
                .startsWith("Checked, HTTP1 to HTTP1, a request without a body: ")
                .contains("resume, though the gateway does not wait");
    }

    private record Resuming(int times) implements Filter {
        @Override
        public boolean guards() {
            return false;
        }

        @Override
        public Verdict onRequest(RequestHead head, FilterContext context) {
            context.loop().execute(() -> {
                for (int i = 0; i < times; i++) {
                    context.resume(Verdict.PROCEED);
                }
            });
            return new Verdict.Wait(() -> {});
        }
    }

    @Test
    void aFilterThatResumesWithoutAWaitIsReported() {
        assertThat(failure(new Filter() {
                    @Override
                    public Verdict onRequest(RequestHead head, FilterContext context) {
                        context.resume(Verdict.PROCEED);
                        return Verdict.PROCEED;
                    }
                }))
                .startsWith("Checked, HTTP1 to HTTP1: ")
                .contains("filter_error");
    }

    @Test
    void anExchangeThatNeverEndsIsReported() {
        Filter waiting = new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                return new Verdict.Wait(() -> {});
            }
        };
        assertThat(failure(waiting, Duration.ofMillis(200)))
                .isEqualTo(
                        "Checked, HTTP1 to HTTP1, a request without a body: the client got no whole answer in 200 ms");
    }

    @Test
    void anAnswerThatTheAuthorDoesNotExpectIsReported() {
        assertThatThrownBy(() -> PluginCheck.of(new Plugin(new Copying()), "{}")
                        .answers(answer -> assertThat(answer.status()).isEqualTo(404))
                        .run())
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("Checked, HTTP1 to HTTP1, a request without a body: ")
                .hasMessageContaining("404");
    }

    @Test
    void settingsThatTheGatewayDoesNotTakeAreReported() {
        assertThatThrownBy(() -> PluginCheck.of(new Plugin(new Copying()), "{colour: red}")
                        .run())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("unknown key 'colour'");
    }
}
