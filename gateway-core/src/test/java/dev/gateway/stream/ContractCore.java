package dev.gateway.stream;

import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The core as an adapter sees it: writes down what it is told, and does what a test says. */
public final class ContractCore implements RequestHandler {
    private final List<Told> requests = new ArrayList<>();

    /** What the core does before it returns from a request's beginning. */
    Consumer<Told> onRequest = told -> {};

    /** What the core does when a request fails. */
    Consumer<Told> onReset = told -> {};

    /** Whether it keeps the bytes that it is given, and gives no credit for them. */
    boolean keeping;

    Told last() {
        return requests.get(requests.size() - 1);
    }

    int requests() {
        return requests.size();
    }

    @Override
    public StreamEvents onRequest(ServerStream stream, RequestHead head, boolean last) {
        Told told = new Told(stream, last ? "whole request" : "request");
        requests.add(told);
        onRequest.accept(told);
        return told;
    }

    @Override
    public void onRefused(ServerStream stream, @Nullable RequestHead head, Failure failure) {
        requests.add(new Told(stream, "refused"));
    }

    /** One request, and the events that the adapter has told the core of it. */
    final class Told implements StreamEvents {
        final ServerStream stream;

        /** Names of the events in their order, but for readComplete. Pieces of a body that follow one another are one. */
        final List<String> events = new ArrayList<>();

        final List<ByteBuf> kept = new ArrayList<>();
        final StringBuilder body = new StringBuilder();
        final List<Failure> failures = new ArrayList<>();
        int length;
        int readCompletes;
        boolean writableWhenTold;

        Told(ServerStream stream, String beginning) {
            this.stream = stream;
            events.add(beginning);
        }

        @Override
        public void onData(ByteBuf data, boolean last) {
            int bytes = data.readableBytes();
            length += bytes;
            body.append(data.toString(StandardCharsets.ISO_8859_1));
            if (bytes > 0 && !events.get(events.size() - 1).equals("data")) {
                events.add("data");
            }
            if (last) {
                events.add("end");
            }
            if (keeping) {
                kept.add(data);
            } else {
                data.release();
                stream.consumed(bytes);
            }
        }

        @Override
        public void onTrailers(Fields trailers) {
            events.add("trailers");
        }

        @Override
        public void onWritable() {
            events.add("writable");
            writableWhenTold = stream.isWritable();
        }

        @Override
        public void onReadComplete() {
            readCompletes++;
        }

        @Override
        public void onDraining() {
            events.add("draining");
        }

        @Override
        public void onReset(Failure failure) {
            events.add("reset");
            failures.add(failure);
            onReset.accept(this);
        }
    }
}
