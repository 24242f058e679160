package dev.gateway.protocol.http2;

import dev.gateway.message.RequestHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.stream.RetrySafety;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The streams that are opened on an upstream connection: how many there may be, and what their losing the connection
 * means. A stream counts from when it is opened, and has its number once its head is sent. Part of the connection, on its
 * event loop.
 */
final class ClientStreams {
    /**
     * So many requests are given up on one connection in {@link #WORN_NANOS}. Servers end one with too many resets, and the
     * requests of others with it: Netty's do so from 200 in 30 seconds. Those that are still open may be given up as well.
     */
    static final int MAX_GIVEN_UP = 100;

    static final long WORN_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final Http2ClientConnection connection;
    private final Http2ClientSettings settings;
    private final Codec codec;
    private final Http2Connection netty;
    private final OpenStreams streams;
    private final StreamContext shared;
    private final SilenceProbe probe;
    private final StreamLimit limit;
    private final List<Http2ClientStream> waiting = new ArrayList<>(); // whose heads or trailers it has not taken
    private int covered; // so many streams have twice their windows in the connection's
    private int reserved; // streams opened whose head was not sent yet
    private int served; // streams that ended
    private int givenUp; // streams that were reset in the current period
    private long givenUpSinceNanos; // when that period began
    private boolean wasIdle; // a stream began when none was open, on a connection that had served some
    private int batchesWhenIdle; // how often the connection had been read then
    private boolean extendedConnect;
    private @Nullable Failure ended;
    private boolean http1Required;
    private boolean http1Follows; // what is tried again gets a connection of HTTP/1.1

    ClientStreams(
            Http2ClientConnection connection,
            Http2ClientSettings settings,
            Codec codec,
            StreamContext shared,
            SilenceProbe probe) {
        this.connection = connection;
        this.settings = settings;
        this.codec = codec;
        this.netty = codec.connection();
        this.streams = shared.streams();
        this.shared = shared;
        this.probe = probe;
        this.limit = new StreamLimit(settings.assumedStreams(), codec.timers(), this::capacityChanged);
        this.covered = settings.assumedStreams();
        netty.local().allowPushTo(false);
    }

    // What the pool asks for.

    /** Returns how many more streams the upstream allows now. */
    int available() {
        return Math.max(0, limit.current() - active());
    }

    /** Returns how many streams are open. */
    int active() {
        return netty.local().numActiveStreams() + reserved;
    }

    Http2ClientStream open(ResponseEvents events) {
        reserved++;
        return new Http2ClientStream(this, shared, events);
    }

    /** Whether the answer of a stream is still wanted. A stream that was reset is open until the upstream takes the reset. */
    boolean areWanted() {
        return reserved > 0 || streams.any(stream -> !stream.isDead());
    }

    /** Whether a request was sent that has no answer yet, not even the head of one. */
    boolean areAwaited() {
        return streams.any(each -> each instanceof Http2ClientStream stream && stream.isAwaited());
    }

    /** Tells all streams. They may be reset meanwhile, and others may be opened. */
    void tellUnresponsive(String why) {
        List<Http2ClientStream> told = new ArrayList<>();
        streams.forEach(each -> {
            if (each instanceof Http2ClientStream stream) {
                told.add(stream);
            }
        });
        told.forEach(stream -> stream.tellUnresponsive(why));
    }

    /** The connection is being ended; its streams get this failure. */
    void end(Failure failure) {
        ended = failure;
    }

    /** The connection is closed. */
    void cancel() {
        limit.cancel();
        onTaken();
    }

    // What streams ask for.

    /** Whether the upstream takes extended CONNECT (RFC 8441). */
    boolean allowsExtendedConnect() {
        return extendedConnect;
    }

    SilenceProbe probe() {
        return probe;
    }

    /**
     * A stream is given up, and is about to be reset.
     *
     * @param batchesWhenSent how often the connection had been read when the head was sent
     */
    void onGivenUp(int batchesWhenSent) {
        probe.onGivenUp(batchesWhenSent);
        if (++givenUp == 1) {
            givenUpSinceNanos = codec.timers().nanoTime();
        } else if (givenUp == MAX_GIVEN_UP) {
            givenUp = 0;
            if (codec.timers().nanoTime() - givenUpSinceNanos <= WORN_NANOS) {
                connection.onWorn();
            }
        }
    }

    /** A stream has ended before it was sent, so that it does not count any more. */
    void onGivenUpUnsent() {
        reserved--;
        capacityChanged();
    }

    /** There is room for a stream again. */
    void capacityChanged() {
        if (connection.isOpen()) {
            connection.onCapacityChanged();
        }
    }

    /** Gives a stream its number and sends its head; returns false if the connection takes no stream any more. */
    boolean send(Http2ClientStream stream, RequestHead head, boolean last) {
        reserved--;
        if (!connection.isOpen()) {
            return false;
        }
        if (netty.local().numActiveStreams() == 0) {
            wasIdle = served > 0;
            batchesWhenIdle = probe.batches();
        }
        int id = netty.local().incrementAndGetNextStreamId();
        Http2Stream h2;
        try {
            h2 = netty.local().createStream(id, false);
        } catch (Http2Exception e) {
            // Out of numbers, or the upstream went away or takes fewer streams since the stream was opened.
            if (id < 0 || netty.goAwayReceived()) {
                connection.onExhausted();
            }
            return false;
        }
        codec.guard().onStreamOpened();
        streams.attach(h2, stream);
        stream.onFieldsWritten(shared.sender().request(h2, head, last));
        probe.onSent();
        return true;
    }

    /** Returns what it means that a stream was closed with the connection. */
    Failure lost(@Nullable Http2Stream h2, boolean responded) {
        Failure known = ended;
        if (known != null) {
            return known;
        }
        if (!responded && http1Required && !http1Follows) {
            return http1Required();
        }
        if (!responded && isUnprocessed(h2)) {
            return Failure.of(
                    Cause.UPSTREAM_RESET_BEFORE_HEADERS,
                    RetrySafety.ALWAYS,
                    "the upstream went away before the request");
        }
        String offence = connection.offence();
        String detail = offence == null ? shared.ending().lossDetail() : "the upstream broke the protocol: " + offence;
        Cause cause = offence != null
                ? Cause.UPSTREAM_PROTOCOL_ERROR
                : responded ? Cause.UPSTREAM_RESET_IN_BODY : Cause.UPSTREAM_RESET_BEFORE_HEADERS;
        return responded
                ? Failure.of(cause, detail)
                : new Failure(cause, cause.status(), RetrySafety.IF_IDEMPOTENT, offence == null && isStale(), detail);
    }

    /** Returns what it means that the upstream requires HTTP/1.1. */
    Failure http1Required() {
        return http1Follows
                ? Failure.of(
                        Cause.UPSTREAM_RESET_BEFORE_HEADERS,
                        RetrySafety.ALWAYS,
                        "the upstream takes the request by HTTP/1.1 only (HTTP_1_1_REQUIRED)")
                : Failure.of(
                        Cause.UPSTREAM_PROTOCOL_ERROR,
                        RetrySafety.NEVER,
                        "the upstream takes the request by HTTP/1.1 only (HTTP_1_1_REQUIRED);"
                                + " 'protocol: http1' of the upstream speaks that");
    }

    /**
     * Whether the upstream may have closed the connection while it was idle: it has sent nothing since then. If it has, it
     * gave up requests that it had.
     */
    private boolean isStale() {
        return wasIdle && probe.batches() == batchesWhenIdle;
    }

    /** Whether the upstream said by GOAWAY that it has not acted on this stream and never will. */
    private boolean isUnprocessed(@Nullable Http2Stream h2) {
        return h2 != null && netty.goAwayReceived() && h2.id() > netty.local().lastStreamKnownByPeer();
    }

    /** Head or trailers of a stream wait for the upstream, and are to be released when that takes them. */
    void onWaiting(Http2ClientStream stream) {
        waiting.add(stream);
    }

    /** A stream's answer is not wanted any more. */
    void onUnwanted() {
        connection.onUnwanted();
    }

    // What the upstream does.

    /** It has taken the heads and trailers that waited. */
    void onTaken() {
        waiting.forEach(Http2ClientStream::releaseFields);
        waiting.clear();
    }

    void onHeaders(Http2Stream h2, ReceivedHeaders headers, boolean last) throws Http2Exception {
        if (streams.of(h2) instanceof Http2ClientStream stream) {
            if (stream.hasResponse()) {
                shared.windows().ended(h2);
                stream.onTrailers(headers);
            } else {
                String problem = HeadMapper.responseProblem(headers, last);
                if (problem != null || headers.isTooMany()) {
                    throw stream.streamError(problem != null ? problem : "too many header fields");
                }
                stream.onHead(HeadMapper.response(headers), last);
            }
        }
    }

    /** The upstream has reset a stream, which is still to be told. */
    void onReset(long errorCode) {
        if (errorCode == Http2Error.REFUSED_STREAM.code()) {
            limit.onRefused(netty.local().numActiveStreams() - 1);
        }
    }

    /**
     * The upstream requires HTTP/1.1.
     *
     * @param follows whether another connection will speak that
     * @param ofAll whether it says so of all streams, not of one
     */
    void onHttp1Required(boolean follows, boolean ofAll) {
        http1Required |= ofAll;
        http1Follows = follows;
    }

    void onClosed(@Nullable MultiplexedStream stream) {
        served++;
        if (stream instanceof Http2ClientStream client) {
            client.releaseFields();
            if (client.hasResponse()) {
                limit.onAnswered();
            }
        }
        capacityChanged();
    }

    void onSettings(Http2Settings received) {
        extendedConnect |= Boolean.TRUE.equals(received.connectProtocolEnabled());
        Long said = received.maxConcurrentStreams();
        if (said != null) {
            int most = (int) Math.min(said, settings.maxConcurrentStreams());
            limit.onSaid(most);
            cover(most);
        }
    }

    /** Slow clients shall not stop others, however many share the connection. */
    private void cover(int most) {
        if (most > covered) {
            long more = 2L * settings.streamWindow() * (most - covered);
            shared.windows().addForAll((int) Math.min(Integer.MAX_VALUE, more));
            covered = most;
        }
    }
}
