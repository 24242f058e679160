package dev.gateway.exchange;

import dev.gateway.exchange.body.DroppedBody;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.overload.memory.Account;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.stream.LoginPins;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.stream.RetrySafety;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.dial.ServerName;
import dev.gateway.upstream.stream.ClientPreamble;
import dev.gateway.upstream.stream.StreamKind;
import dev.gateway.upstream.stream.StreamOpener;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of an exchange at an endpoint: an opening, then a stream. Once it is over, it drops all further events, so
 * that the exchange only gets events of its current attempt.
 */
final class Attempt implements ResponseEvents, StreamOpener.Callback {
    /** The reason for resetting streams that are no longer needed although nothing failed. */
    static final Failure ABANDONED = Failure.of(Cause.CLIENT_CLOSED, "not needed any more");

    private Caller caller;
    private final Sink sink;
    private StreamOpener.@Nullable Opening opening;
    private @Nullable ClientStream stream;
    private boolean answered; // the opening has got its answer, so there is nothing to cancel
    private @Nullable String serverName;
    private boolean responded; // the head of the final response has come
    private @Nullable Failure silence; // the endpoint was found not to answer, and no head has come since
    private boolean over;
    private @Nullable DroppedBody dropped; // the rest of a response that was replaced

    /** The maker of the attempt, or who has taken it over; called until the attempt is over. */
    interface Caller {
        /** Returns whose request it is, as accounts of memory have it: equal for all requests of one client. */
        default Object culprit() {
            return connection().culprit();
        }

        /** Returns the connection that the request came by. */
        ConnectionInfo connection();

        /** Returns the upstream connections on which the client logs in; null if it cannot do so. */
        default @Nullable LoginPins logins() {
            return null;
        }

        /** Whether the request was at this endpoint before. */
        boolean isTried(Endpoint endpoint);

        /** Whether the attempt may be at an ejected endpoint if no other can be reached. */
        default boolean takesEjected() {
            return false;
        }

        /** The attempt moves to another endpoint than the chosen one. */
        void onMoved(Endpoint to);

        /** A connection was made for it, which took this time. */
        void onDialed(long nanos);

        /** It has a stream. */
        void onOpened(Attempt from, ClientStream stream, DialedPeer peer);

        /** It has failed and released everything. */
        void onFailed(Failure failure);

        /** A head has arrived, interim or final. */
        void onHead(ResponseHead head, boolean last);

        /** The response ends with trailers. */
        void onTrailers(Fields trailers);

        /** The upstream has room again. */
        void onWritable();

        /** The endpoint was found not to answer. */
        default void onUnresponsive(String why) {}
    }

    /** Takes the body of its response. */
    interface Sink {
        /** Bytes came, which are the sink's. */
        void onData(ByteBuf data, boolean last);

        /** What the socket had has been read. */
        void flush();
    }

    /**
     * Makes an attempt that has not begun.
     *
     * @param sink takes the bytes of the response's body directly, not through the caller
     */
    Attempt(Caller caller, Sink sink) {
        this.caller = caller;
        this.sink = sink;
    }

    void open(
            StreamOpener opener,
            Upstream upstream,
            Endpoint endpoint,
            StreamKind kind,
            RequestHead head,
            @Nullable ClientPreamble preamble) {
        serverName = upstream.settings().followsHost() ? ServerName.of(head) : null;
        StreamOpener.Opening begun = opener.open(upstream, endpoint, kind, preamble, this, this);
        if (answered) {
            return;
        }
        if (over) {
            begun.cancel(); // abandoned inside the call, before there was an opening to cancel
        } else {
            opening = begun;
        }
    }

    /** Whether the stream was opened inside the call of {@link #open}. */
    boolean isOpenedAtOnce() {
        return stream != null && opening == null;
    }

    boolean isOver() {
        return over;
    }

    /** From now on, this caller gets the events of the attempt. */
    void adopt(Caller by) {
        caller = by;
    }

    /** It has succeeded: nothing is left to undo. */
    void finish() {
        over = true;
    }

    /** Ends it without a failure, and drops the rest of its response. */
    void drop(TimerWheel wheel) {
        if (!over && stream != null) {
            dropped = new DroppedBody(stream, ABANDONED);
            wheel.arm(dropped, DroppedBody.MOST_MILLIS);
        }
        over = true;
    }

    /** Ends its stream in order; does nothing if it is over. */
    void close(Failure failure) {
        if (!over && stream != null) {
            over = true;
            stream.close(failure);
        } else {
            abandon(failure);
        }
    }

    /** Cancels it at once; does nothing if it is over. */
    void abandon(Failure failure) {
        if (over) {
            return;
        }
        over = true;
        if (stream != null) {
            stream.reset(failure);
        } else if (opening != null && !answered) {
            if (failure.cause() == Cause.UPSTREAM_TIMEOUT) {
                opening.expire();
            } else {
                opening.cancel();
            }
        }
    }

    @Override
    public @Nullable String serverName() {
        return serverName;
    }

    @Override
    public Object client() {
        return caller.culprit();
    }

    @Override
    public Account account() {
        return caller.connection().account();
    }

    @Override
    public @Nullable LoginPins logins() {
        return caller.logins();
    }

    @Override
    public boolean isTried(Endpoint endpoint) {
        return caller.isTried(endpoint);
    }

    @Override
    public boolean takesEjected() {
        return caller.takesEjected();
    }

    @Override
    public void onMoved(Endpoint to) {
        if (!over) {
            caller.onMoved(to);
        }
    }

    @Override
    public void onDialed(long nanos) {
        if (!over) {
            caller.onDialed(nanos);
        }
    }

    @Override
    public void onOpened(ClientStream opened, DialedPeer peer) {
        answered = true;
        stream = opened;
        if (over) {
            opened.reset(ABANDONED);
        } else {
            caller.onOpened(this, opened, peer);
        }
    }

    @Override
    public void onOpenFailed(Failure failure) {
        answered = true;
        if (!over) {
            over = true;
            caller.onFailed(failure);
        }
    }

    @Override
    public void onHead(ResponseHead head, boolean last) {
        silence = null;
        responded |= !head.isInterim();
        if (!over) {
            caller.onHead(head, last);
        }
    }

    @Override
    public void onData(ByteBuf data, boolean last) {
        if (dropped != null) {
            dropped.onData(data, last);
        } else if (over) {
            data.release();
        } else {
            sink.onData(data, last);
        }
    }

    @Override
    public void onTrailers(Fields trailers) {
        if (dropped != null) {
            dropped.end();
        } else if (!over) {
            caller.onTrailers(trailers);
        }
    }

    @Override
    public void onWritable() {
        if (!over) {
            caller.onWritable();
        }
    }

    @Override
    public ConnectionInfo clientConnection() {
        return caller.connection();
    }

    @Override
    public void onUnresponsive(String why) {
        if (!over) {
            silence = responded ? null : unresponsive(why);
            caller.onUnresponsive(why);
        }
    }

    @Override
    public void onReadComplete() {
        sink.flush();
    }

    @Override
    public void onReset(Failure failure) {
        if (dropped != null) {
            dropped.end();
        } else if (!over) {
            over = true;
            // An endpoint that is removed while it does not answer, as by DNS, has failed by its silence.
            caller.onFailed(silence != null && failure.cause() == Cause.DRAIN ? silence : failure);
        }
    }

    /** Returns the failure of an attempt whose endpoint was found not to answer. */
    static Failure unresponsive(String why) {
        return Failure.of(
                Cause.UPSTREAM_TIMEOUT, RetrySafety.IF_IDEMPOTENT, "the endpoint was found not to answer: " + why);
    }

    /** Returns the failure with its exact cause. An adapter need not know whether the response has begun. */
    static Failure exact(Failure failure, boolean responding) {
        return switch (failure.cause()) {
            case UPSTREAM_RESET_BEFORE_HEADERS ->
                responding ? withCause(failure, Cause.UPSTREAM_RESET_IN_BODY) : failure;
            case UPSTREAM_RESET_IN_BODY ->
                responding ? failure : withCause(failure, Cause.UPSTREAM_RESET_BEFORE_HEADERS);
            default -> failure;
        };
    }

    private static Failure withCause(Failure failure, Cause cause) {
        return new Failure(cause, cause.status(), failure.retry(), failure.stale(), failure.detail());
    }
}
