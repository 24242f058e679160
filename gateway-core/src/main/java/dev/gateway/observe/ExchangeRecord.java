package dev.gateway.observe;

import dev.gateway.message.ClientTarget;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.Scheme;
import dev.gateway.message.forwarded.ForwardedClaims;
import dev.gateway.observe.counts.EndpointMeters;
import dev.gateway.observe.trace.Trace;
import dev.gateway.observe.trace.TraceLink;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.EndpointName;
import dev.gateway.stream.Failure;
import dev.gateway.stream.SourceAddress;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Access record of one exchange: what is recorded of one exchange. The exchange fills it as it goes, on its event loop;
 * observers read it there, during the call only. Fields instead of accessors because it is a form that is filled in, once
 * per request. Texts are views of what the client sent, as it was before any filter changed it.
 */
public final class ExchangeRecord {
    /** What a request asks for. */
    public enum Kind {
        /** A response. */
        HTTP,
        /** A tunnel to where a plain CONNECT, or the first bytes of a connection, lead. */
        TUNNEL,
        WEBSOCKET,
        /** A tunnel of any other protocol that HTTP can be left for. */
        UPGRADE
    }

    /** Who takes part in an exchange. */
    public enum Side {
        CLIENT,
        UPSTREAM,
        GATEWAY
    }

    /** Why an attempt is made. */
    public enum AttemptKind {
        FIRST,
        /** The one before has failed. */
        RETRY,
        /** The one before takes long. */
        HEDGE
    }

    /** How a hedge ended. */
    public enum HedgeResult {
        /** Its response was forwarded, and is no error. */
        WON(1, "won"),
        /** The other attempt was faster, or the exchange ended. */
        LOST(2, "lost"),
        /** It failed, or got an error as its answer. */
        FAILED(3, "failed");

        private final byte code; // in the record
        private final String label;

        HedgeResult(int code, String label) {
            this.code = (byte) code;
            this.label = label;
        }

        /** Returns its name in logs and metrics. */
        public String label() {
            return label;
        }
    }

    /** How many earlier attempts are kept; there are seldom more, such as after many stale connections. */
    private static final int MOST_TRIED = 16;

    /**
     * An attempt that another one followed, or took the place of.
     *
     * @param endpoint where it went
     * @param status what it was answered with, 0 if it was not
     * @param cause why it failed, null if it was answered, or another one was sooner
     */
    public record Tried(EndpointName endpoint, int status, @Nullable Cause cause) {}

    private static final ClientTarget NO_TARGET = ClientTarget.of(Scheme.HTTP, AsciiString.EMPTY_STRING);

    /** The downstream connection. Behind a trusted proxy, its account is that of the request's client. */
    public ConnectionInfo connection;

    /** Where the request comes from: the connection's client, unless that is a trusted proxy and names another. */
    public SourceAddress client;

    /** Whether the connection is that of a trusted proxy, whose word about its clients counts. */
    public boolean fromProxy;

    /** Scheme, host and port that the client used: what cookies, redirects and upstreams go by. */
    public ClientTarget target = NO_TARGET;

    /** What trusted proxies have said of the request, null if the peer is not a trusted proxy. */
    public @Nullable ForwardedClaims claims;

    /** Whether fields were dropped, or the request refused, because of names that upstreams may take for others. */
    public boolean hasOddNames;

    /** What the client requests, whether or not it gets it; a request whose upgrade was refused is HTTP. */
    public Kind kind = Kind.HTTP;

    /** As routes see it: GET for what WebSocket begins with. Null if the head could not be made out. */
    public @Nullable Method method;

    public AsciiString scheme = AsciiString.EMPTY_STRING;
    public AsciiString authority = AsciiString.EMPTY_STRING;

    /** Path and query as the client sent them. */
    public AsciiString path = AsciiString.EMPTY_STRING;

    /** The request's fields, which filters may have edited; null if there are none. */
    public @Nullable Fields fields;

    /** The fields of the final response that was forwarded, past the filters; null if there was none. */
    public @Nullable Fields responseFields;

    /** The trace that the exchange is a sampled part of, for exemplars; null if there is none. */
    public @Nullable TraceLink sampledTrace;

    /** Accepted from the client or generated; null if the policy is to have none. */
    public @Nullable AsciiString requestId;

    /** Which trace it is part of; null if traces are off. */
    public @Nullable Trace trace;

    /** Who the client has proven to be, empty if nobody asked. */
    public String identity = "";

    /** The host that TLS asks for in a tunnel; null if nobody has looked, or it names none. */
    public @Nullable String tunnelServerName;

    /** The name of the matched route, empty if none matched. */
    public String route = "";

    /** The number of the configuration that serves it. */
    public int generation;

    /** What the route says of the access log; null for what the log itself says. */
    public @Nullable LogPolicy logPolicy;

    /** The access log's own: whether this one is part of its sample, null if nobody has asked. */
    @Nullable
    public Boolean isSampled;

    /** The name of the chosen upstream, empty if none was. */
    public String upstream = "";

    /** The endpoint of the last attempt, null if there was none. */
    public @Nullable EndpointName endpoint;

    /** The position of that endpoint in its upstream, negative if the request names it, or there is none. */
    public int endpointIndex = -1;

    /** The counters' own: what counts for that endpoint, null if nothing does. */
    @Nullable
    public EndpointMeters endpointMeters;

    /** What the last attempt's connection was made to; null if it had none. */
    public @Nullable DialedPeer hop;

    /** How often the request was sent upstream, or at least tried to be. */
    public int attempts;

    /** Why the last attempt was made. */
    public AttemptKind attemptKind = AttemptKind.FIRST;

    /** The code of a {@link HedgeResult}, 0 for none; a reference would make the records of all exchanges larger. */
    private byte hedge;

    /** Whether the last attempt was answered with a status after which the retry policy would make another one. */
    public boolean isRetriable;

    /** The attempts but the last one, as they ended; null if there were none. */
    public @Nullable List<Tried> tried;

    /** The status sent to the client, or what stands for it in logs where none could be sent. */
    public int status;

    /** Bytes of request body received, without framing; those of a tunnel as they come. */
    public long receivedBytes;

    /** Bytes of response body sent, without framing; those of a tunnel as they go. */
    public long sentBytes;

    /** Wall-clock time of the request's head, in milliseconds. */
    public long startMillis;

    /** When the request's head was there; this and all below by the loop's nanosecond clock, 0 if it never came to it. */
    public long startNanos;

    /** When the first bytes of the head were there, 0 if all of it came at once. */
    public long headNanos;

    /** When the last attempt began. */
    public long attemptNanos;

    /** How long the last attempt waited for its connection to be made, 0 if it got one that was there. */
    public long dialNanos;

    /** When the last attempt had a stream and its head was sent. */
    public long requestedNanos;

    /** When the tunnel was open, 0 if it never was. */
    public long openedNanos;

    /** When an open tunnel was reported last. */
    public long reportedNanos;

    /** When the final response head was forwarded. */
    public long respondedNanos;

    public long endNanos;

    /** Why the exchange failed, null if it did not. */
    public @Nullable Cause cause;

    /** Who ended its direction of a tunnel first, or ended it as a whole; null while it runs. */
    public @Nullable Side endedBy;

    /** What exactly happened, for people; empty if it did not fail. */
    public String detail = "";

    /** The current attempt is at this endpoint. */
    public void setEndpoint(EndpointName at, int index) {
        endpoint = at;
        endpointIndex = index;
    }

    /** An attempt begins after all others have ended: the first one, or a retry. */
    public void countAttempt() {
        attempts++;
        isRetriable = false;
        attemptKind = attempts == 1 ? AttemptKind.FIRST : AttemptKind.RETRY;
    }

    /** Returns how the hedge ended; null if there was none, or it still runs. */
    public @Nullable HedgeResult hedge() {
        if (hedge == 0) {
            return null; // of most exchanges
        }
        for (HedgeResult each : HedgeResult.values()) {
            if (each.code == hedge) {
                return each;
            }
        }
        return null;
    }

    /** The hedge has ended. */
    public void setHedge(HedgeResult result) {
        hedge = result.code;
    }

    /** The current attempt got this status, failed, or is not needed; another one follows or continues. */
    public void tryAgain(int answered, @Nullable Failure failure) {
        List<Tried> list = tried;
        if (list == null) {
            list = new ArrayList<>(2);
            tried = list;
        }
        if (endpoint != null && list.size() < MOST_TRIED) {
            list.add(new Tried(endpoint, answered, failure == null ? null : failure.cause()));
        }
    }

    /** Makes a record of a request on a connection. */
    public ExchangeRecord(ConnectionInfo connection) {
        this.connection = connection;
        this.client = connection.client();
    }
}
