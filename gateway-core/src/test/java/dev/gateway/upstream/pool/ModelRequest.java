package dev.gateway.upstream.pool;

import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.stream.StreamKind;
import dev.gateway.upstream.stream.StreamOpener;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A request, tunnel or check that is sent through the pools, as an exchange does it. It is to get one answer, and no more. */
final class ModelRequest implements StreamOpener.Callback, ResponseEvents {
    private static final AsciiString SCHEME = new AsciiString("http");
    private static final AsciiString AUTHORITY = new AsciiString("origin.test");
    private static final AsciiString PATH = new AsciiString("/");

    final int number;
    final ModelUpstream upstream;
    final int loop;
    final StreamKind kind;
    final int attempt;
    final long sinceNanos;
    private final Owner owner;
    private final Set<Endpoint> tried = new HashSet<>();
    private Endpoint endpoint;
    private @Nullable Host host; // that it waits at; an endpoint that went and came back is another one
    private State state = State.WAITING;
    private int turn; // its place among those who wait
    private boolean asked; // the call that asks has returned
    private int status;
    private StreamOpener.Opening opening = StreamOpener.Opening.DONE;
    private @Nullable ClientStream stream;

    /** How far it is. */
    enum State {
        WAITING,
        OPEN,
        OVER
    }

    /** The schedule that it is part of; told on the loop, within calls of the code under test. */
    interface Owner {
        /** It has a stream. Its owner may give it up at once. */
        void onOpened(ModelRequest request);

        /** It waits elsewhere than it began to. */
        void onMovedLater(ModelRequest request);

        void onAnswered(ModelRequest request, int status);

        void onFailed(ModelRequest request, Failure failure, boolean wasOpen);

        /** Returns the next number; a request that goes to the end of a queue takes it. */
        int nextTurn();

        void violation(String what);
    }

    ModelRequest(
            int number,
            ModelUpstream upstream,
            int loop,
            StreamKind kind,
            int attempt,
            Endpoint endpoint,
            long sinceNanos,
            Owner owner) {
        this.number = number;
        this.upstream = upstream;
        this.loop = loop;
        this.kind = kind;
        this.attempt = attempt;
        this.endpoint = endpoint;
        this.tried.add(endpoint);
        this.sinceNanos = sinceNanos;
        this.owner = owner;
    }

    void ask(StreamOpener opener) {
        turn = owner.nextTurn();
        host = upstream.upstream.host(endpoint);
        StreamOpener.Opening begun = opener.open(upstream.upstream, endpoint, kind, null, this, this);
        asked = true;
        if (state == State.WAITING) {
            opening = begun;
        }
    }

    boolean isWaiting() {
        return state == State.WAITING;
    }

    boolean isOpen() {
        return state == State.OPEN;
    }

    /** Whose it is: there are a few clients, one of which asks most. */
    @Override
    public Object client() {
        return Integer.numberOfTrailingZeros(number | 4);
    }

    /** Whether its wait may have ended because another client has fewer requests that wait. */
    boolean mayLosePlace() {
        return asked;
    }

    /** Whether it waits in the same queue as another of its client, in front of it. */
    boolean isInLineBefore(ModelRequest other) {
        return isPending()
                && asked
                && other.asked
                && turn < other.turn
                && client().equals(other.client())
                && upstream == other.upstream
                && loop == other.loop
                && kind == StreamKind.EXCHANGE // each tunnel makes its own connection, in no order
                && other.kind == kind
                && host == other.host
                && endpoint.equals(other.endpoint);
    }

    Endpoint endpoint() {
        return endpoint;
    }

    /** Whether it counts as waiting for a connection in metrics. */
    boolean isPending() {
        return isWaiting() && kind != StreamKind.CHECK && kind != StreamKind.CONNECTION_CHECK;
    }

    /** Nobody wants it any more. */
    void giveUp(boolean late) {
        ClientStream opened = stream;
        if (state == State.OPEN && opened != null) {
            state = State.OVER;
            opened.reset(Failure.of(late ? Cause.UPSTREAM_TIMEOUT : Cause.CLIENT_CLOSED, "given up"));
        } else if (state == State.WAITING && asked) {
            state = State.OVER;
            if (late) {
                opening.expire();
            } else {
                opening.cancel();
            }
        }
    }

    // The opening

    @Override
    public void onMoved(Endpoint to) {
        expect(State.WAITING, "moved");
        endpoint = to;
        tried.add(to);
        turn = owner.nextTurn();
        host = upstream.upstream.host(to);
        if (asked) {
            owner.onMovedLater(this);
        }
    }

    /** Else those who are slow to connect could move for ever. */
    @Override
    public boolean isTried(Endpoint asked) {
        return tried.contains(asked);
    }

    @Override
    public void onOpened(ClientStream opened, DialedPeer peer) {
        expect(State.WAITING, "opened");
        state = State.OPEN;
        stream = opened;
        owner.onOpened(this);
        if (state == State.OPEN) {
            boolean last = kind != StreamKind.TUNNEL;
            opened.head(new RequestHead(Method.GET, SCHEME, AUTHORITY, PATH, new Fields(), 0), last);
            opened.flush();
        }
    }

    @Override
    public void onOpenFailed(Failure failure) {
        expect(State.WAITING, "failed: " + failure);
        state = State.OVER;
        owner.onFailed(this, failure, false);
    }

    // The stream

    @Override
    public void onHead(ResponseHead head, boolean last) {
        expect(State.OPEN, "answered");
        status = head.status();
        if (last) {
            end();
        }
    }

    @Override
    public void onData(ByteBuf data, boolean last) {
        int bytes = data.readableBytes();
        data.release();
        expect(State.OPEN, "sent a body");
        ClientStream opened = Objects.requireNonNull(stream);
        opened.consumed(bytes);
        if (last) {
            end();
            if (kind == StreamKind.TUNNEL) { // the other direction ends, too
                opened.data(Unpooled.EMPTY_BUFFER, true);
                opened.flush();
            }
        }
    }

    private void end() {
        state = State.OVER;
        owner.onAnswered(this, status);
    }

    @Override
    public void onReset(Failure failure) {
        expect(State.OPEN, "reset: " + failure);
        state = State.OVER;
        owner.onFailed(this, failure, true);
    }

    @Override
    public void onTrailers(Fields trailers) {
        owner.violation(this + " got trailers");
    }

    @Override
    public void onWritable() {}

    @Override
    public void onReadComplete() {}

    private void expect(State wanted, String event) {
        if (state != wanted) {
            owner.violation(this + " was " + event);
        }
    }

    @Override
    public String toString() {
        return kind + " " + number + " on loop " + loop + " for " + endpoint + " of " + upstream + " (" + state + ")";
    }
}
