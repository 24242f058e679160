package dev.gateway.exchange;

import dev.gateway.config.listener.ListenerConfig.ForwardedHeaders;
import dev.gateway.config.observe.TracingConfig;
import dev.gateway.exchange.route.Route;
import dev.gateway.exchange.route.Router;
import dev.gateway.exchange.settings.BodyRate;
import dev.gateway.exchange.settings.ClientTrust;
import dev.gateway.exchange.settings.ExchangeSettings;
import dev.gateway.exchange.settings.ListenerRoutes;
import dev.gateway.exchange.settings.RequestIdSettings;
import dev.gateway.exchange.settings.ServerHeader;
import dev.gateway.filter.ErrorAnswer;
import dev.gateway.filter.ErrorBody;
import dev.gateway.filter.Filter;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.message.forwarded.ForwardedFields;
import dev.gateway.message.path.PathForm;
import dev.gateway.observe.ConnectWaitResult;
import dev.gateway.observe.ExchangeObserver;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.SessionResult;
import dev.gateway.observe.counts.EndpointMeters;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.Stream;
import dev.gateway.stream.ViaSignature;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.stream.ClientPreamble;
import dev.gateway.upstream.stream.StreamKind;
import dev.gateway.upstream.stream.StreamOpener;
import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;
import java.net.InetSocketAddress;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The two sides an exchange stands between, as tests play them. */
public final class Fakes {
    private Fakes() {}

    /** Writes down what is done to it. */
    public abstract static class FakeStream implements Stream {
        public final StringBuilder body = new StringBuilder();
        Charset charset = StandardCharsets.UTF_8; // of the body
        boolean writable = true;
        long unsent;
        long lingering;
        public boolean ended;
        int consumed;
        public int flushes;
        int unflushed;

        @Nullable
        Fields trailers;

        @Nullable
        Failure reset;

        @Nullable
        Failure closed; // in order

        Runnable onNextCall = () -> {};
        Runnable onFlush = () -> {};
        Runnable onReset = () -> {};

        private void called() {
            Runnable run = onNextCall;
            onNextCall = () -> {};
            run.run();
        }

        final void headSent(boolean last) {
            if (ended) {
                throw new IllegalStateException("a head after the end");
            }
            ended = last;
            unflushed++;
            called();
        }

        @Override
        public void data(ByteBuf data, boolean last) {
            String text = data.toString(charset);
            data.release();
            if (reset != null || closed != null) {
                return;
            }
            if (ended) {
                throw new IllegalStateException("data after the end");
            }
            body.append(text);
            ended = last;
            unflushed++;
            called();
        }

        @Override
        public void trailers(Fields fields) {
            if (ended) {
                throw new IllegalStateException("trailers after the end");
            }
            trailers = fields;
            ended = true;
            unflushed++;
        }

        @Override
        public void flush() {
            onFlush.run();
            if (unflushed > 0) {
                flushes++;
                unflushed = 0;
            }
        }

        @Override
        public long unsent() {
            return unsent;
        }

        @Override
        public long lingering() {
            return lingering;
        }

        @Override
        public boolean isWritable() {
            return writable;
        }

        @Override
        public void consumed(int bytes) {
            consumed += bytes;
        }

        @Override
        public void reset(Failure failure) {
            if (reset != null) {
                throw new IllegalStateException("reset twice");
            }
            reset = failure;
            onReset.run();
        }

        @Override
        public void close(Failure failure) {
            if (reset != null || closed != null) {
                throw new IllegalStateException("closed after the end");
            }
            closed = failure;
        }
    }

    public static final class FakeServerStream extends FakeStream implements ServerStream {
        static final ConnectionInfo CONNECTION = new ConnectionInfo(
                0,
                "web",
                HttpVersion.HTTP_1_1,
                new InetSocketAddress("192.0.2.7", 5555),
                new InetSocketAddress("127.0.0.1", 8080),
                null);

        public final List<ResponseHead> heads = new ArrayList<>();
        public HttpVersion version = CONNECTION.version();

        Account account = new Account(new LoopBudget(new MemoryBudget(1L << 40, 1)));

        /** Whether there is memory for the body of a reply. */
        public boolean roomForReplies = true;

        /** Whether its protocol has a word for a request with which nothing was done. */
        boolean canRefuse;

        @Nullable
        Failure refused;

        boolean closeAnnounced;

        @Override
        public boolean announceClose() {
            boolean before = closeAnnounced;
            closeAnnounced = true;
            return !before;
        }

        @Override
        public boolean hasRoomFor(ByteBuf reply) {
            return roomForReplies;
        }

        @Override
        public boolean refuse(Failure failure) {
            refused = canRefuse ? failure : null;
            return canRefuse;
        }

        @Override
        public void head(ResponseHead head, boolean last) {
            heads.add(head);
            headSent(last);
        }

        @Override
        public ConnectionInfo connection() {
            ConnectionInfo info = CONNECTION;
            return new ConnectionInfo(
                    info.listener(),
                    info.listenerName(),
                    version,
                    info.peer(),
                    info.client(),
                    info.local(),
                    info.tls(),
                    account);
        }

        public int status() {
            return heads.isEmpty() ? 0 : heads.get(heads.size() - 1).status();
        }

        public @Nullable String field(String name) {
            AsciiString value = heads.get(heads.size() - 1).fields().first(dev.gateway.message.FieldName.of(name));
            return value == null ? null : value.toString();
        }
    }

    static final class FakeClientStream extends FakeStream implements ClientStream {
        private @Nullable RequestHead head;

        RequestHead head() {
            return Objects.requireNonNull(head, "no head was sent");
        }

        @Override
        public void head(RequestHead head, boolean last) {
            if (this.head != null) {
                throw new IllegalStateException("a second head");
            }
            this.head = head;
            headSent(last);
        }
    }

    /** One call of {@link StreamOpener#open}, to be answered by the test. */
    static final class FakeOpening implements StreamOpener.Opening {
        final Endpoint endpoint;
        final StreamKind kind;
        final ResponseEvents events;
        final StreamOpener.Callback callback;
        final FakeClientStream stream = new FakeClientStream();
        boolean cancelled;
        boolean expired;

        FakeOpening(Endpoint endpoint, StreamKind kind, ResponseEvents events, StreamOpener.Callback callback) {
            this.endpoint = endpoint;
            this.kind = kind;
            this.events = events;
            this.callback = callback;
        }

        void succeed() {
            callback.onOpened(stream, new DialedPeer("192.0.2.1:8080", ""));
        }

        /** The connection leads to a listener of the gateway itself. */
        void succeedHere() {
            callback.onOpened(stream, new DialedPeer("127.0.0.1:8080", "", true));
        }

        void fail(Failure failure) {
            callback.onOpenFailed(failure);
        }

        @Override
        public void cancel() {
            if (cancelled) {
                throw new IllegalStateException("cancelled twice");
            }
            cancelled = true;
        }

        @Override
        public void expire() {
            expired = true;
            cancel();
        }
    }

    static final class FakeOpener implements StreamOpener {
        final List<FakeOpening> openings = new ArrayList<>();

        /** Answers inside open; null to leave it to the test. */
        java.util.function.@Nullable Consumer<FakeOpening> atOnce;

        @Override
        public StreamOpener.Opening open(
                Upstream upstream,
                Endpoint endpoint,
                StreamKind kind,
                @Nullable ClientPreamble preamble,
                ResponseEvents events,
                StreamOpener.Callback callback) {
            FakeOpening opening = new FakeOpening(endpoint, kind, events, callback);
            openings.add(opening);
            if (atOnce != null) {
                atOnce.accept(opening);
            }
            return opening;
        }

        FakeOpening last() {
            return openings.get(openings.size() - 1);
        }
    }

    /** One route to one upstream. */
    public static final class Settings implements ListenerRoutes, ExchangeSettings {
        final ViaSignature signature = ViaSignature.random();
        boolean preserveHost = true;
        boolean signsAll;
        PathForm path = PathForm.NORMAL;

        Route.@Nullable Hedging hedging;

        Router router = head -> null;

        @Nullable
        Router tunnels;

        Route.Upgrades upgrades = Route.Upgrades.NONE;
        int serving = 1; // listeners
        public long maxBody;

        @Nullable
        BodyRate bodyRate;

        @Nullable
        TracingConfig traces;

        ClientTrust trust = ClientTrust.NOBODY;
        RequestIdPolicy requestId = RequestIdPolicy.OFF;
        RequestIdSettings requestIds = RequestIdSettings.DEFAULT;
        ServerHeader serverHeader = ServerHeader.DEFAULT;
        Function<ErrorAnswer, ErrorBody> errorBody = answer -> ErrorBody.UNCHANGED;
        Runnable onNextAfterHead = () -> {};
        ExchangeSettings afterHead = this;

        @Override
        public ExchangeSettings afterHead() {
            Runnable run = onNextAfterHead;
            onNextAfterHead = () -> {};
            run.run();
            return afterHead;
        }

        @Override
        public ExchangeSettings settings(int listener) {
            return this;
        }

        @Override
        public boolean offersTunnels() {
            return tunnels != null;
        }

        @Override
        public int listeners() {
            return serving;
        }

        @Override
        public boolean serves(int listener) {
            return listener < serving;
        }

        @Override
        public Router router(int listener) {
            return router;
        }

        @Override
        public @Nullable Router tunnels(int listener) {
            return tunnels;
        }

        @Override
        public ErrorBody errorBody(ErrorAnswer answer) {
            return errorBody.apply(answer);
        }

        @Override
        public ClientTrust trust() {
            return trust;
        }

        @Override
        public @Nullable ForwardedFields forwarded() {
            return new ForwardedFields(ForwardedHeaders.X_FORWARDED);
        }

        @Override
        public RequestIdSettings requestIds() {
            return requestIds;
        }

        @Override
        public ServerHeader serverHeader() {
            return serverHeader;
        }

        @Override
        public boolean signsAll() {
            return signsAll;
        }

        @Override
        public @Nullable TracingConfig traces() {
            return traces;
        }

        @Override
        public AsciiString name() {
            return new AsciiString("gateway");
        }

        @Override
        public RequestIdPolicy requestId() {
            return requestId;
        }

        @Override
        public long maxRequestBodyBytes() {
            return maxBody;
        }

        @Override
        public @Nullable BodyRate bodyRate() {
            return bodyRate;
        }

        void route(List<Filter> filters, Upstream upstream, Route.Timeouts timeouts, Route.Retry retry) {
            Route route = new Route(
                    "app",
                    filters,
                    new Route.Forwarding(client -> upstream, retry, hedging, preserveHost, path),
                    timeouts,
                    upgrades,
                    signature,
                    null);
            Router.Match match = new Router.Match(route, 0);
            router = head -> head.path().startsWith("/") ? match : null;
        }
    }

    /** Keeps what was recorded, and checks that begins and ends match. */
    static final class Records implements ExchangeObserver {
        final List<ExchangeRecord> completed = new ArrayList<>();
        final List<String> attempts = new ArrayList<>();
        final List<SessionResult> sessions = new ArrayList<>();
        final List<Integer> statuses = new ArrayList<>(); // of ended attempts
        final List<String> tunnels = new ArrayList<>();
        long tunnelReceived;
        long tunnelSent;
        final List<EndpointMeters> meters = new ArrayList<>(); // of each attempt, at each of its endpoints
        final List<ConnectWaitResult> connectWaits = new ArrayList<>();
        int connectWaiting;
        int begun;
        int attemptsBegun;
        int hedgesOverBudget;

        @Override
        public void onBegun(ExchangeRecord exchange) {
            begun++;
        }

        @Override
        public void onAttemptBegun(ExchangeRecord exchange) {
            attemptsBegun++;
            beginAtEndpoint(exchange);
        }

        @Override
        public void onAttemptMoved(ExchangeRecord exchange) {
            Objects.requireNonNull(exchange.endpointMeters).left();
            beginAtEndpoint(exchange);
        }

        private void beginAtEndpoint(ExchangeRecord exchange) {
            EndpointMeters begun = new EndpointMeters();
            begun.begun();
            meters.add(begun);
            exchange.endpointMeters = begun;
        }

        @Override
        public void onSession(ExchangeRecord exchange, SessionResult result) {
            sessions.add(result);
        }

        @Override
        public void onConnectWait(ExchangeRecord exchange) {
            connectWaiting++;
        }

        @Override
        public void onConnectWaitEnded(ExchangeRecord exchange, long nanos) {
            connectWaiting--;
        }

        @Override
        public void onConnectWaited(ExchangeRecord exchange, ConnectWaitResult result) {
            connectWaits.add(result);
        }

        @Override
        public void onHedgeOverBudget(ExchangeRecord exchange) {
            hedgesOverBudget++;
        }

        @Override
        public void onAttemptEnded(ExchangeRecord exchange, int status, @Nullable Failure failure, boolean again) {
            Objects.requireNonNull(exchange.endpointMeters).ended(false, 0);
            exchange.endpointMeters = null;
            statuses.add(status);
            attempts.add((failure == null
                            ? Integer.toString(status)
                            : failure.cause().label())
                    + (again ? " again" : ""));
        }

        @Override
        public void onTunnelOpened(ExchangeRecord exchange) {
            tunnels.add("open");
        }

        @Override
        public void onTunnelBytes(ExchangeRecord exchange, long received, long sent) {
            tunnelReceived += received;
            tunnelSent += sent;
        }

        @Override
        public void onTunnelProgress(ExchangeRecord exchange) {
            tunnels.add(exchange.receivedBytes + " in, " + exchange.sentBytes + " out");
        }

        @Override
        public void onCompleted(ExchangeRecord exchange) {
            completed.add(exchange);
            if (exchange.openedNanos != 0) {
                tunnels.add("close");
            }
        }
    }
}
