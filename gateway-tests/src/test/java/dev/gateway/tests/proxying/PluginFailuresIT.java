package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.filter.BodyInspector;
import dev.gateway.filter.BodyTransform;
import dev.gateway.filter.ErrorAnswer;
import dev.gateway.filter.ErrorBody;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.FilterPlugin;
import dev.gateway.filter.InspectionContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.plugin.Settings;
import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Filters of plugins that throw something: their own exchange fails with a cause, and others on the connection go on. */
class PluginFailuresIT {
    private static final FieldName FINE = FieldName.of("x-fine");

    /** What goes wrong. */
    private enum Fault {
        REQUEST,
        RECURSION,
        NO_VERDICT,
        INSPECTOR,
        INSPECTION,
        REQUEST_BODY,
        REQUEST_PIECE,
        NO_RESULT,
        REQUEST_TRAILERS,
        RESPONSE,
        RESPONSE_BODY,
        RESPONSE_PIECE,
        RESPONSE_TRAILERS
    }

    /** Has a fault. Besides, it throws at the end of each exchange. */
    private record Throwing(Fault fault) implements FilterPlugin, Filter {
        @Override
        public String type() {
            return "Throwing";
        }

        @Override
        public String description() {
            return "Throws.";
        }

        @Override
        public Filter create(Settings settings) {
            return this;
        }

        @Override
        public boolean guards() {
            return false;
        }

        private void at(Fault other) {
            if (fault == other) {
                throw new NoClassDefFoundError("com/example/Missing");
            }
        }

        @SuppressWarnings("InfiniteRecursion") // which is the mistake
        private static int recursion(int depth) {
            return recursion(depth + 1) + 1;
        }

        private static boolean isFine(FilterContext context) {
            return context.kept() != null;
        }

        @Override
        @SuppressWarnings("NullAway") // which is the mistake
        public Verdict onRequest(RequestHead head, FilterContext context) {
            if (head.fields().contains(FINE)) {
                context.keep("fine");
                return Verdict.PROCEED;
            }
            at(Fault.REQUEST);
            if (fault == Fault.RECURSION) {
                recursion(0);
            }
            return fault == Fault.NO_VERDICT ? null : Verdict.PROCEED;
        }

        @Override
        public @Nullable BodyInspector inspector(RequestHead head, InspectionContext context) {
            if (head.fields().contains(FINE)) {
                return null;
            }
            at(Fault.INSPECTOR);
            return (soFar, last) -> {
                at(Fault.INSPECTION);
                return BodyInspector.PASS;
            };
        }

        @Override
        public @Nullable BodyTransform requestBody(RequestHead head, FilterContext context) {
            if (isFine(context)) {
                return null;
            }
            at(Fault.REQUEST_BODY);
            return new Pieces(Fault.REQUEST_PIECE);
        }

        @Override
        public @Nullable BodyTransform responseBody(ResponseHead head, boolean last, FilterContext context) {
            if (isFine(context)) {
                return null;
            }
            at(Fault.RESPONSE_BODY);
            return new Pieces(Fault.RESPONSE_PIECE);
        }

        private final class Pieces implements BodyTransform {
            private final Fault fails;

            Pieces(Fault fails) {
                this.fails = fails;
            }

            @Override
            @SuppressWarnings("NullAway") // which is the mistake
            public Result transform(ByteBuf in, Input input) {
                at(fails);
                if (fault == Fault.NO_RESULT) {
                    return null;
                }
                return in.isReadable() ? new Piece(in.readRetainedSlice(in.readableBytes()), false) : MORE;
            }

            @Override
            public void close() {
                throw new IllegalStateException("closed");
            }
        }

        @Override
        public void onRequestTrailers(Fields trailers, FilterContext context) {
            if (!isFine(context)) {
                at(Fault.REQUEST_TRAILERS);
            }
        }

        @Override
        public void onResponse(ResponseHead head, FilterContext context) {
            if (!isFine(context)) {
                at(Fault.RESPONSE);
            }
        }

        @Override
        public void onResponseTrailers(Fields trailers, FilterContext context) {
            if (!isFine(context)) {
                at(Fault.RESPONSE_TRAILERS);
            }
        }

        @Override
        public void onFailure(Fields answer, FilterContext context) {
            throw new IllegalStateException("failed");
        }

        @Override
        public ErrorBody errorBody(ErrorAnswer answer, FilterContext context) {
            throw new IllegalStateException("no body");
        }

        @Override
        public void onEnd(FilterContext context) {
            throw new IllegalStateException("ended");
        }
    }

    private static Rig rig(Origin origin, Pairing pairing, Fault fault) throws IOException {
        return Rig.to(origin, pairing)
                .rule("filters: [{type: Throwing, throwing: {}}]")
                .plugin(new Throwing(fault))
                .start();
    }

    @ParameterizedTest
    @EnumSource
    void whateverThrowsFailsItsExchangeOnly(Fault fault) throws Exception {
        for (Pairing pairing : Pairing.values()) {
            try (Origin origin = Origin.start().on("/", Behaviors.echo());
                    Rig rig = rig(origin, pairing, fault);
                    Peer client = rig.connect(pairing);
                    Peer other = rig.connect(pairing)) {
                boolean shares = pairing.client == Peers.H2C; // one connection for both
                PeerStream fine = (shares ? client : other).open();
                fine.send(Head.request("POST", "/", "x-fine", "1"), false);
                fine.send("a", false);
                PeerStream stream = client.open();
                assertThatThrownBy(() -> {
                            stream.send(Head.request("POST", "/"), false);
                            stream.send("x", false);
                            stream.sendTrailers("x-trailer", "1");
                            Head answer = stream.receiveFinal();
                            stream.receiveBody();
                            if (answer.status() == 500) {
                                throw new IOException("refused");
                            }
                        })
                        .as("%s of %s", fault, pairing)
                        .isInstanceOf(IOException.class);
                assertThat(rig.awaitAccessLog(1).get(0)).contains("filter_error", "Throwing threw java.lang.");
                fine.send("b", true);
                assertThat(fine.receiveFinal().status()).isEqualTo(200);
                assertThat(fine.receiveBody()).isEqualTo("ab");
            }
        }
    }

    @Test
    void whatThrowsWhileAnotherFailureIsToldChangesNothing() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.resetBeforeHead());
                Rig rig = rig(origin, Pairing.H1_TO_H1, Fault.INSPECTOR);
                Peer client = rig.connect(Pairing.H1_TO_H1)) {
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "x-fine", "1"), false);
            stream.send("a", true);
            assertThat(stream.receiveFinal().status()).isEqualTo(502);
            assertThat(rig.awaitAccessLog(1).get(0)).doesNotContain("filter_error");
        }
    }
}
