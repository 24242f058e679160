package dev.gateway.filter;

import dev.gateway.message.ClientTarget;
import dev.gateway.stream.ClientChain;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.Identity;
import dev.gateway.stream.SourceAddress;
import dev.gateway.upstream.Upstream;
import io.netty.util.AsciiString;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.security.cert.X509Certificate;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** What a filter sees of an exchange, with an event loop that is moved by hand. */
public final class FakeContext implements InspectionContext {
    /** What the filter was resumed with. */
    public final List<Verdict> resumed = new ArrayList<>();

    /** The calls that the filter has begun, which the test answers. */
    public final List<FakeCall> calls = new ArrayList<>();

    /** Where the filter has copies of the request sent. */
    public final List<MirrorTarget> mirrors = new ArrayList<>();

    /** A call, as the filter has begun it. */
    public static final class FakeCall implements UpstreamCall {
        public final Upstream upstream;
        public final Request request;
        public final Callback callback;
        public boolean cancelled;

        private FakeCall(Upstream upstream, Request request, Callback callback) {
            this.upstream = upstream;
            this.request = request;
            this.callback = callback;
        }

        @Override
        public void cancel() {
            cancelled = true;
        }
    }

    /** What TLS asks for in the tunnel, as far as the filter said. */
    public @Nullable String tunnelServerName;

    /** What its clock shows. */
    public long nanos;

    /** By how much it goes on each time it is read. */
    public long tick;

    /** How many bytes have passed. */
    public long moved;

    /** How many bytes the exchange may hold; half of them of what one can do without. */
    public long room = Long.MAX_VALUE;

    /** How many it holds. */
    public long held;

    /** How many bytes the request's body may have, 0 if the filter has said nothing. */
    public long maxBody;

    /** What the filter says has that limit. */
    public @Nullable String limitedBy;

    /** What is known of the request. */
    public final Map<RequestWord, String> words = new EnumMap<>(RequestWord.class);

    /** What the client used. */
    public ClientTarget target;

    /** How much of the path the match of the rule covers. */
    public int matchedPrefixLength;

    private final ConnectionInfo connection;
    private @Nullable Object kept;
    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private final @Nullable SourceAddress client;
    private @Nullable Identity identity;
    private Map<String, String> claims = Map.of();
    private @Nullable Executor loop;

    public FakeContext(ConnectionInfo connection) {
        this(connection, null);
    }

    private FakeContext(ConnectionInfo connection, @Nullable SourceAddress client) {
        this.connection = connection;
        this.client = client;
        this.target = ClientTarget.of(connection.scheme(), AsciiString.EMPTY_STRING);
    }

    /** Makes the context of a request whose client has an address, behind a proxy. */
    public static FakeContext of(SourceAddress client) {
        return new FakeContext(connection("127.0.0.1", null), client);
    }

    /** Makes the context of a request from an address. */
    public static FakeContext from(String peer) {
        return new FakeContext(connection(peer, null));
    }

    /** Makes the context of a request over TLS with a verified client certificate. */
    public static FakeContext withCertificate(@Nullable String subject) {
        return new FakeContext(connection(
                "192.0.2.9", new ConnectionInfo.TlsInfo("TLSv1.3", "TLS_AES_128_GCM_SHA256", null, subject, false, 0)));
    }

    /** Makes the context of a request over TLS whose client has sent certificates, its own first. */
    public static FakeContext withCertificates(X509Certificate... chain) {
        return new FakeContext(connection(
                "192.0.2.9",
                new ConnectionInfo.TlsInfo(
                        "TLSv1.3",
                        "TLS_AES_128_GCM_SHA256",
                        null,
                        chain[0].getSubjectX500Principal().getName(),
                        new ClientChain(List.of(chain)),
                        ConnectionInfo.TlsInfo.NEVER,
                        false,
                        0)));
    }

    private static ConnectionInfo connection(String peer, ConnectionInfo.@Nullable TlsInfo tls) {
        InetSocketAddress address;
        try {
            address = new InetSocketAddress(InetAddress.getByName(peer), 40000);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e);
        }
        return new ConnectionInfo(0, "egress", HttpVersion.HTTP_1_1, address, null, tls);
    }

    /** Has another event loop than its own: one that several requests share. */
    public FakeContext on(Executor shared) {
        loop = shared;
        return this;
    }

    /** Says who the client is. */
    public FakeContext as(String name, String... groups) {
        identity = new Identity(name, Set.of(groups));
        return this;
    }

    /** Runs what waits for the event loop. */
    public void runLoop() {
        for (Runnable task = next(); task != null; task = next()) {
            task.run();
        }
    }

    private @Nullable Runnable next() {
        synchronized (tasks) {
            return tasks.poll();
        }
    }

    @Override
    public ConnectionInfo connection() {
        return connection;
    }

    @Override
    public CharSequence word(RequestWord word) {
        return words.getOrDefault(word, "");
    }

    @Override
    public ClientTarget target() {
        return target;
    }

    @Override
    public SourceAddress client() {
        return client != null ? client : connection.client();
    }

    @Override
    public int matchedPrefixLength() {
        return matchedPrefixLength;
    }

    @Override
    public @Nullable Identity identity() {
        return identity;
    }

    @Override
    public void setIdentity(Identity identity) {
        this.identity = identity;
    }

    @Override
    public Map<String, String> claims() {
        return claims;
    }

    @Override
    public void setClaims(Map<String, String> claims) {
        this.claims = claims;
    }

    @Override
    public void setTunnelServerName(String name) {
        tunnelServerName = name;
    }

    @Override
    public long nanoTime() {
        long now = nanos;
        nanos += tick;
        return now;
    }

    @Override
    public long movedBytes() {
        return moved;
    }

    @Override
    public void keep(Object state) {
        kept = state;
    }

    @Override
    public @Nullable Object kept() {
        return kept;
    }

    @Override
    public UpstreamCall call(Upstream upstream, UpstreamCall.Request request, UpstreamCall.Callback callback) {
        FakeCall call = new FakeCall(upstream, request, callback);
        calls.add(call);
        return call;
    }

    @Override
    public void mirror(MirrorTarget target) {
        mirrors.add(target);
    }

    @Override
    public boolean tryHold(long bytes, boolean needed) {
        boolean fits = held + bytes <= (needed ? room : room / 2);
        held += fits ? bytes : 0;
        return fits;
    }

    @Override
    public void release(long bytes) {
        held -= bytes;
    }

    @Override
    public void limitRequestBody(long maxBytes, String by) {
        maxBody = maxBytes;
        limitedBy = by;
    }

    @Override
    public Executor loop() {
        return loop != null
                ? loop
                : task -> {
                    synchronized (tasks) {
                        tasks.add(task);
                    }
                };
    }

    @Override
    public void resume(Verdict verdict) {
        resumed.add(verdict);
    }
}
