package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.exchange.body.BodyContext;
import dev.gateway.exchange.body.TransformedBody;
import dev.gateway.exchange.body.TransformsInTurn;
import dev.gateway.filter.BodyTransform;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** One body on its way through a transform, to a receiver that the test plays. */
class TransformedBodyTest extends PartRig {
    private final List<FakeTransform> transforms = new ArrayList<>();
    private final StringBuilder passed = new StringBuilder();
    private final List<String> events = new ArrayList<>();
    private int room = Integer.MAX_VALUE; // pieces
    private boolean open = true;
    private int credited;
    private Runnable onCredit = () -> {};
    private Runnable onPass = () -> {};

    private final TransformedBody.Output output = new TransformedBody.Output() {
        @Override
        public boolean mayPass() {
            return open;
        }

        @Override
        public boolean hasRoom() {
            return room > 0;
        }

        @Override
        public void pass(ByteBuf data, boolean last, int from) {
            passed.append(data.toString(StandardCharsets.UTF_8)).append(last ? "." : "");
            data.release();
            room--;
            credit(from);
            Runnable next = onPass;
            onPass = () -> {};
            next.run();
        }

        @Override
        public void passTrailers(Fields trailers) {
            passed.append(" then ").append(trailers);
        }

        @Override
        public void taken(int bytes) {
            credit(bytes);
        }
    };

    private final BodyContext exchangeContext = new BodyContext() {
        @Override
        public ConnectionInfo connection() {
            return context.connection();
        }

        @Override
        public long heldHeap() {
            return 0;
        }

        @Override
        public boolean isDone() {
            return context.isDone();
        }

        @Override
        public void fail(Failure failure) {
            events.add("failed: " + failure.cause().label());
            context.fail(failure);
        }

        @Override
        public void onDefect(Throwable defect) {
            events.add("defect: " + defect.getMessage());
        }
    };

    private void credit(int bytes) {
        credited += bytes;
        if (bytes > 0) {
            Runnable next = onCredit;
            onCredit = () -> {};
            next.run();
        }
    }

    private TransformedBody through(FakeTransform transform) {
        transforms.add(transform);
        return new TransformedBody(transform, output, exchangeContext);
    }

    @AfterEach
    void nothingIsLeaked() {
        assertThat(transforms).allSatisfy(each -> {
            assertThat(each.closed).isEqualTo(1);
            assertThat(each.made).allSatisfy(piece -> assertThat(piece.refCnt()).isZero());
        });
    }

    private static Fields trailers() {
        Fields trailers = new Fields();
        trailers.add(FieldName.of("x-sum"), "1");
        return trailers;
    }

    @Test
    void whatComesIsPassedOnAsItBecomes() {
        TransformedBody body = through(FakeTransform.repeating(2));
        body.add(bytes("ab"), false);
        assertThat(passed).hasToString("aabb");
        assertThat(credited).isEqualTo(2);
        body.add(bytes("c"), true);
        assertThat(passed).hasToString("aabbcc.");
        assertThat(body.isDone()).isTrue();
    }

    @Test
    void theLastPieceEndsTheBodyIfItIsKnownToBeTheLast() {
        TransformedBody body = through(FakeTransform.gathering());
        body.add(bytes("ab"), false);
        body.add(bytes("c"), true);
        assertThat(passed).hasToString("[abc].");
        assertThat(credited).isEqualTo(3);
    }

    @Test
    void onlyAsMuchIsMadeAsThereIsRoomFor() {
        TransformedBody body = through(FakeTransform.repeating(1000));
        room = 1;
        body.add(bytes("abc"), true);
        assertThat(passed).hasToString("a".repeat(1000));
        assertThat(credited).isEqualTo(1);
        assertThat(body.isStalled()).isTrue();
        assertThat(body.isReceived()).isTrue();
        room = 1;
        body.run();
        assertThat(credited).isEqualTo(2);
        room = 2;
        body.run();
        assertThat(credited).isEqualTo(3);
        assertThat(passed.toString()).endsWith("c.");
        assertThat(body.isStalled()).isFalse();
    }

    @Test
    void theEndNeedsNoRoomBecauseTheReceiverMayWaitForIt() {
        TransformedBody body = through(FakeTransform.repeating(1));
        room = 1;
        body.add(bytes("a"), true);
        assertThat(passed).hasToString("a.");
    }

    @Test
    void onePieceAtMostGoesWithoutRoom() {
        TransformedBody body = through(FakeTransform.hoarding());
        body.add(bytes("abcd"), false);
        room = 0;
        body.add(Unpooled.EMPTY_BUFFER, true);
        assertThat(passed).hasToString("a");
        body.run();
        assertThat(passed).as("still no room").hasToString("a");
        room = 1;
        body.run();
        assertThat(passed).as("one with room, one without").hasToString("abc");
        room = 1;
        body.run();
        assertThat(passed).hasToString("abcd.");
    }

    @Test
    void whatWaitsInsideTheTransformIsStalledToo() {
        TransformedBody body = through(FakeTransform.hoarding());
        body.add(bytes("ab"), false);
        room = 1;
        body.add(Unpooled.EMPTY_BUFFER, true);
        assertThat(passed).as("one with room, one without").hasToString("ab");
        assertThat(body.isStalled()).as("the end may still be inside").isTrue();
        room = 1;
        body.run();
        assertThat(passed).hasToString("ab.");
        assertThat(body.isStalled()).isFalse();
    }

    @Test
    void aTransformThatEndsTheExchangeIsClosedWhenItReturns() {
        for (boolean throwing : new boolean[] {false, true}) {
            TransformedBody[] body = new TransformedBody[1];
            FakeTransform ending = new FakeTransform() {
                @Override
                Result make(ByteBuf in, Input input) {
                    body[0].close();
                    assertThat(closed).as("while it runs").isZero();
                    Result piece = piece(in.readSlice(1).toString(StandardCharsets.UTF_8), false);
                    if (throwing) {
                        made.get(0).release();
                        throw new IllegalStateException("the exchange has ended");
                    }
                    return piece;
                }
            };
            body[0] = through(ending);
            body[0].add(bytes("abc"), false);
            assertThat(ending.closed).isEqualTo(1);
            assertThat(body[0].isDone()).isTrue();
            body[0].add(bytes("d"), true);
        }
        assertThat(passed).isEmpty();
        assertThat(events).containsExactly("defect: the exchange has ended");
    }

    @Test
    void theEndDoesNotGoToAReceiverThatTakesNothingYet() {
        TransformedBody body = through(FakeTransform.repeating(1));
        open = false;
        body.add(Unpooled.EMPTY_BUFFER, true);
        assertThat(passed).isEmpty();
        open = true;
        body.run();
        assertThat(passed).hasToString(".");
    }

    @Test
    void whatIsSwallowedIsCredited() {
        TransformedBody body = through(FakeTransform.swallowing());
        body.add(bytes("abc"), false);
        assertThat(credited).isEqualTo(3);
        body.add(Unpooled.EMPTY_BUFFER, true);
        assertThat(passed).hasToString(".");
    }

    @Test
    void aPauseHasAllPassedOnThatHasCome() {
        TransformedBody body = through(FakeTransform.gathering());
        body.add(bytes("a"), false);
        body.add(bytes("b"), false);
        assertThat(passed).isEmpty();
        body.pause();
        assertThat(passed).hasToString("[ab]");
        body.pause();
        assertThat(passed).as("nothing has come since").hasToString("[ab]");
        body.add(bytes("c"), false);
        body.pause();
        body.add(bytes("d"), true);
        assertThat(passed).hasToString("[ab][c][d].");
    }

    @Test
    void aPauseIsNotForgottenWhileThereIsNoRoom() {
        TransformedBody body = through(FakeTransform.gathering());
        room = 0;
        body.add(bytes("a"), false);
        body.pause();
        assertThat(passed).isEmpty();
        room = 2;
        body.run();
        assertThat(passed).hasToString("[a]");
        body.close();
    }

    @Test
    void trailersFollowAllElse() {
        TransformedBody body = through(FakeTransform.gathering());
        room = 0;
        body.add(bytes("a"), false);
        body.end(trailers());
        body.end(trailers());
        assertThat(passed).isEmpty();
        room = 2;
        body.run();
        assertThat(passed).hasToString("[a] then x-sum: 1\n");
        assertThat(credited).isEqualTo(1);
    }

    @Test
    void trailersMayFollowNothing() {
        TransformedBody body = through(FakeTransform.swallowing());
        body.add(bytes("a"), false);
        body.end(trailers());
        assertThat(passed).hasToString(" then x-sum: 1\n");
    }

    @Test
    void whatComesInsideACallKeepsItsPlace() {
        TransformedBody body = through(FakeTransform.repeating(1));
        onCredit = () -> body.add(bytes("c"), false);
        body.add(bytes("ab"), false);
        assertThat(passed).hasToString("abc");
        onPass = () -> body.add(bytes("e"), true);
        body.add(bytes("d"), false);
        assertThat(passed).hasToString("abcde.");
    }

    @Test
    void whoClosesItInsideACallHasItStop() {
        TransformedBody body = through(FakeTransform.repeating(1));
        onPass = body::close;
        body.add(bytes("abc"), true);
        assertThat(passed).hasToString("a");
        body.add(bytes("d"), false);
        body.close();
        assertThat(passed).hasToString("a");
    }

    @Test
    void aFailureEndsIt() {
        TransformedBody body = through(FakeTransform.repeating(1));
        body.add(bytes("a!"), false);
        assertThat(events).containsExactly("failed: body_too_large");
        body.add(bytes("b"), true);
        assertThat(passed).hasToString("a");
    }

    @Test
    void aDefectEndsIt() {
        through(FakeTransform.repeating(1)).add(bytes("a?"), false);
        assertThat(events).containsExactly("defect: a defect");
    }

    @Test
    void aTransformThatDoesNotReadWouldNeverGoOn() {
        through(FakeTransform.refusingToRead()).add(bytes("a"), false);
        assertThat(events).containsExactly("defect: a transform asks for more input before it has read all");
    }

    @Test
    void aTransformMustNotEndBeforeItsInput() {
        through(FakeTransform.endingEarly()).add(bytes("ab"), true);
        assertThat(events).containsExactly("defect: a transform ended the body before the input ended");
        assertThat(passed).isEmpty();
    }

    @Test
    void whatWaitsIsCutWhenMemoryRunsLow() {
        TransformedBody body = through(FakeTransform.repeating(1));
        room = 1;
        body.add(bytes("abc"), false);
        assertThat(stalled()).isEqualTo(3);
        assertThat(told).containsExactly("failed: overload");
        body.close();
    }

    @Test
    void whoHasRoomAgainIsNotCut() {
        TransformedBody body = through(FakeTransform.repeating(1));
        room = 0;
        body.add(bytes("abc"), false);
        room = 3;
        body.run();
        assertThat(stalled()).isZero();
        room = 0;
        body.add(bytes("abc"), false);
        body.close();
        assertThat(stalled()).isZero();
    }

    // ---- two of them

    private TransformedBody through(FakeTransform first, FakeTransform second) {
        transforms.add(first);
        transforms.add(second);
        BodyTransform both = new TransformsInTurn(first, second);
        return new TransformedBody(both, output, exchangeContext);
    }

    @Test
    void theSecondGetsWhatTheFirstMakes() {
        TransformedBody body = through(FakeTransform.repeating(2), FakeTransform.repeating(3));
        body.add(bytes("a"), false);
        assertThat(passed).hasToString("aaaaaa");
        body.add(bytes("b"), true);
        assertThat(passed).hasToString("aaaaaabbbbbb.");
        assertThat(credited).isEqualTo(2);
    }

    @Test
    void aPauseReachesBoth() {
        TransformedBody body = through(FakeTransform.gathering(), FakeTransform.gathering());
        body.add(bytes("a"), false);
        assertThat(passed).isEmpty();
        body.pause();
        assertThat(passed).hasToString("[[a]]");
        body.pause();
        body.add(bytes("b"), true);
        assertThat(passed).hasToString("[[a]][[b]].");
    }

    @Test
    void theEndReachesBothHoweverTheFirstTellsIt() {
        TransformedBody body = through(FakeTransform.repeating(2), FakeTransform.gathering());
        body.add(bytes("a"), false);
        body.add(bytes("b"), true);
        assertThat(passed).hasToString("[aabb].");
    }

    @Test
    void theSecondMayHaveNothingToSay() {
        TransformedBody body = through(FakeTransform.gathering(), FakeTransform.swallowing());
        body.add(bytes("a"), true);
        assertThat(passed).hasToString(".");
        assertThat(credited).isEqualTo(1);
    }

    @Test
    void whatIsBetweenThemWaitsForRoom() {
        TransformedBody body = through(FakeTransform.repeating(2), FakeTransform.repeating(1));
        room = 1;
        body.add(bytes("ab"), true);
        assertThat(passed).hasToString("a");
        room = 9;
        body.run();
        assertThat(passed).hasToString("aabb.");
    }

    @Test
    void whatIsBetweenThemIsReleased() {
        TransformedBody body = through(FakeTransform.repeating(2), FakeTransform.repeating(1));
        room = 1;
        body.add(bytes("ab"), false);
        body.close();
    }

    @Test
    void theSecondMayFail() {
        through(FakeTransform.saying("!"), FakeTransform.repeating(1)).add(bytes("a"), true);
        assertThat(events).containsExactly("failed: body_too_large");
    }

    @Test
    void theSecondMustReadToo() {
        through(FakeTransform.gathering(), FakeTransform.refusingToRead()).add(bytes("a"), true);
        assertThat(events).containsExactly("defect: a transform asks for more input before it has read all");
    }
}
