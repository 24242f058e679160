package dev.gateway.message;

import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * The head of a request, whatever the protocol: control data (RFC 9110, section 6.2) and fields. An adapter makes it
 * from valid input only; filters and the exchange edit it in place; then the other adapter writes it. Confined to the
 * event loop of its exchange.
 *
 * <p>{@code authority} is the one truth about the host. If {@link FieldName#HOST} is among the fields it says the same:
 * {@link #setAuthority} removes it, an HTTP/1.1 writer adds what is missing, an HTTP/2 writer leaves it out.
 */
public final class RequestHead {
    /** The body's length is not known beforehand. */
    public static final long UNKNOWN_LENGTH = -1;

    private static final AsciiString GRPC = AsciiString.cached("application/grpc"); // also of gRPC-Web

    private Method method;
    private AsciiString scheme;
    private AsciiString authority;
    private AsciiString path;
    private @Nullable AsciiString forwardedPath; // null for the path itself
    private @Nullable AsciiString protocol;
    private final Fields fields;
    private long contentLength;
    private int queryStart;
    private boolean absoluteForm;
    private boolean upgrade; // the protocol is a wish, that may be refused
    private boolean switched; // the protocol was a wish, and the upstream has granted it after the request
    private Method wished = Method.GET; // the method of the request that became a CONNECT
    private @Nullable UpgradeWish wish; // that goes upstream with the request

    /**
     * Makes a head.
     *
     * @param scheme {@code http} or {@code https}, in lower case
     * @param authority host and optional port, empty only if an HTTP/1.0 client named none
     * @param path path and query (origin-form), {@code *}, or empty for CONNECT
     * @param contentLength bytes of body announced, or {@link #UNKNOWN_LENGTH}
     */
    public RequestHead(
            Method method,
            AsciiString scheme,
            AsciiString authority,
            AsciiString path,
            Fields fields,
            long contentLength) {
        this.method = method;
        this.scheme = scheme;
        this.authority = authority;
        this.path = path;
        this.fields = fields;
        this.contentLength = contentLength;
        this.queryStart = queryStart(path);
    }

    /** Returns a copy, which can be edited without an effect on this head. It has no wish to switch protocols. */
    public RequestHead copy() {
        RequestHead copy = new RequestHead(method, scheme, authority, path, fields.copy(), contentLength);
        copy.protocol = protocol;
        copy.forwardedPath = forwardedPath;
        copy.absoluteForm = absoluteForm;
        copy.upgrade = upgrade;
        copy.switched = switched;
        copy.wished = wished;
        return copy;
    }

    /** Returns about how many bytes of heap the head takes. */
    public int heldBytes() {
        AsciiString other = forwardedPath;
        return fields.heldBytes() + path.length() + authority.length() + (other == null ? 0 : other.length());
    }

    private static int queryStart(AsciiString path) {
        int question = path.indexOf('?', 0);
        return question < 0 ? path.length() : question;
    }

    /** Returns the method. */
    public Method method() {
        return method;
    }

    /** Returns the method that routes go by: to its path, an extended CONNECT is what it began as, most often a GET. */
    public Method routedMethod() {
        return protocol != null ? wished : method;
    }

    /**
     * Returns {@code http} or {@code https}: what the client used. An upstream is told that of its own connection in
     * {@code :scheme}, and the client's in {@code X-Forwarded-Proto}.
     */
    public AsciiString scheme() {
        return scheme;
    }

    /** Changes the scheme, which is part of the URI that a parent proxy is told. */
    public void setScheme(AsciiString scheme) {
        this.scheme = scheme;
    }

    /** Returns host and optional port as the client wrote them. */
    public AsciiString authority() {
        return authority;
    }

    /** Changes the authority that the upstream is told. */
    public void setAuthority(AsciiString authority) {
        this.authority = authority;
        fields.remove(FieldName.HOST);
    }

    /** Returns path and query, or {@code *}. */
    public AsciiString path() {
        return path;
    }

    /** Changes path and query, also for the upstream. */
    public void setPath(AsciiString path) {
        this.path = path;
        this.forwardedPath = null;
        this.queryStart = queryStart(path);
    }

    /** Returns path and query as the upstream is told them. */
    public AsciiString forwardedPath() {
        AsciiString other = forwardedPath;
        return other == null ? path : other;
    }

    /** Has the upstream told another form of the path. */
    public void setForwardedPath(AsciiString other) {
        this.forwardedPath = other;
    }

    /**
     * Changes the query only, also in the form that the upstream is told.
     *
     * @param query with its question mark, or empty
     */
    public void setQuery(String query) {
        AsciiString other = forwardedPath;
        path = withQuery(path, queryStart, query);
        forwardedPath = other == null ? null : withQuery(other, queryStart(other), query);
    }

    private static AsciiString withQuery(AsciiString path, int length, String query) {
        return new AsciiString(path.subSequence(0, length, false) + query);
    }

    /** Returns where in {@link #path} the question mark stands, or the path's length if there is none. */
    public int queryStart() {
        return queryStart;
    }

    /** Returns the protocol of an extended CONNECT (RFC 8441), such as {@code websocket}, or null. */
    public @Nullable AsciiString protocol() {
        return protocol;
    }

    /** Makes this CONNECT an extended one. */
    public void setProtocol(@Nullable AsciiString protocol) {
        this.protocol = protocol;
    }

    /**
     * Makes this GET, whose client would have the connection switch to another protocol (RFC 9110, section 7.8), the
     * extended CONNECT that says the same. It has no body, but bytes may follow once it has succeeded.
     */
    public void upgradeTo(AsciiString protocol) {
        this.method = Method.CONNECT;
        this.protocol = protocol;
        this.upgrade = true;
    }

    /**
     * Makes this the GET that it was before {@link #upgradeTo}: a server may ignore the request to switch protocols.
     * Both the core and an adapter that finds the upstream to ignore it do so before the response's head goes
     * downstream. The request is then complete: it has no body, and its response is an ordinary one.
     *
     * @return whether it was; any other extended CONNECT cannot be served without its protocol, and stays what it is
     */
    public boolean refuseUpgrade() {
        if (upgrade) { // never after any other method than GET
            upgrade = false;
            method = Method.GET;
            protocol = null;
            return true;
        }
        return false;
    }

    /**
     * Adds the wish of the client to switch protocols after this request, which may have any method and a body; null for no
     * wish. The request stays what it is until the upstream grants the wish by {@link #switchTo}.
     */
    public void wishFor(@Nullable UpgradeWish wish) {
        this.wish = wish;
    }

    /** Returns the wish of the client to switch protocols after this request, null for none. */
    public @Nullable UpgradeWish wish() {
        return wish;
    }

    /** The upstream has the whole request, and switches to this protocol: what follows in both directions is a tunnel. */
    public void switchTo(AsciiString granted) {
        wished = method;
        method = Method.CONNECT;
        protocol = granted;
        wish = null;
        switched = true;
    }

    /** Whether the upstream has granted a wish after the request was complete. */
    public boolean isSwitched() {
        return switched;
    }

    /**
     * Whether the client wrote a whole URI, as to a proxy (RFC 9112, section 3.2.2). In HTTP/2, where all requests have one, this
     * is an {@code http} URI (RFC 9113, section 8.3.1).
     */
    public boolean isAbsoluteForm() {
        return absoluteForm;
    }

    /** Says that the client wrote a whole URI. */
    public void setAbsoluteForm(boolean absoluteForm) {
        this.absoluteForm = absoluteForm;
    }

    /** Returns the fields, which may be edited. */
    public Fields fields() {
        return fields;
    }

    /** Returns the bytes of body announced, or {@link #UNKNOWN_LENGTH}. */
    public long contentLength() {
        return contentLength;
    }

    /** Removes the length of the body: a filter will change the body, and its new length is unknown. */
    public void forgetLength() {
        contentLength = UNKNOWN_LENGTH;
        fields.remove(FieldName.CONTENT_LENGTH);
    }

    /** Whether a successful response turns the streams into a tunnel: bytes both ways without a length. */
    public boolean isConnect() {
        return method.equals(Method.CONNECT);
    }

    /** Whether it is a call of gRPC or gRPC-Web. */
    public boolean isGrpc() {
        AsciiString type = method.equals(Method.POST) ? fields.first(FieldName.CONTENT_TYPE) : null;
        return type != null && type.regionMatches(true, 0, GRPC, 0, GRPC.length());
    }
}
