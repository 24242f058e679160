package dev.gateway.filter.rewrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatObject;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.MirrorTarget;
import dev.gateway.filter.RequestWord;
import dev.gateway.filter.UpstreamCall;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.fields.FieldEdits;
import dev.gateway.message.ClientTarget;
import dev.gateway.message.FieldName;
import dev.gateway.message.Heads;
import dev.gateway.message.RequestHead;
import dev.gateway.message.Scheme;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.Identity;
import dev.gateway.stream.SourceAddress;
import dev.gateway.upstream.Upstream;
import io.netty.util.AsciiString;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RewriteTest {
    private record Context(ConnectionInfo connection, int matchedPrefixLength, ClientTarget target)
            implements FilterContext {
        @Override
        public CharSequence word(RequestWord word) {
            return word == RequestWord.IDENTITY ? "" : word == RequestWord.CLIENT ? "192.0.2.1" : "r\u20ac\n1";
        }

        @Override
        public SourceAddress client() {
            return connection.client();
        }

        @Override
        public @Nullable Identity identity() {
            return null;
        }

        @Override
        public boolean tryHold(long bytes, boolean needed) {
            return true;
        }

        @Override
        public void limitRequestBody(long maxBytes, String by) {}

        @Override
        public void setIdentity(Identity identity) {
            throw new AssertionError("none of these filters asks who it is");
        }

        @Override
        public Map<String, String> claims() {
            return Map.of();
        }

        @Override
        public void setClaims(Map<String, String> claims) {
            throw new AssertionError("none of these filters verifies tokens");
        }

        @Override
        public long nanoTime() {
            throw new AssertionError("none of these filters asks for the time");
        }

        @Override
        public long movedBytes() {
            return 0;
        }

        @Override
        public void keep(Object state) {
            throw new AssertionError("none of these filters keeps anything");
        }

        @Override
        public @Nullable Object kept() {
            return null;
        }

        @Override
        public UpstreamCall call(Upstream upstream, UpstreamCall.Request request, UpstreamCall.Callback callback) {
            throw new AssertionError("none of these filters calls anybody");
        }

        @Override
        public void mirror(MirrorTarget target) {
            throw new AssertionError("none of these filters copies requests");
        }

        @Override
        public Executor loop() {
            return Runnable::run;
        }

        @Override
        public void resume(Verdict verdict) {
            throw new AssertionError("none of these filters waits");
        }
    }

    private static Context context(int prefixLength, int localPort, boolean tls) {
        return context(prefixLength, localPort, tls, ClientTarget.of(Scheme.of(tls), AsciiString.EMPTY_STRING));
    }

    private static Context context(int prefixLength, int localPort, boolean tls, ClientTarget target) {
        ConnectionInfo.TlsInfo tlsInfo = tls ? new ConnectionInfo.TlsInfo("TLSv1.3", "x", null, null, false, 0) : null;
        InetSocketAddress local = localPort == 0 ? null : new InetSocketAddress("127.0.0.1", localPort);
        return new Context(
                new ConnectionInfo(0, "web", HttpVersion.HTTP_1_1, null, local, tlsInfo), prefixLength, target);
    }

    private static FieldEdits.Field field(String name, String value) {
        return FieldEdits.Field.of(name, value);
    }

    @Test
    void aRedirectMayHaveFurtherFields() {
        Filter filter = new RequestRedirect(
                "https", null, 0, null, 301, List.of(field("Cache-Control", "max-age=60"), field("Location", "/x")));
        Verdict.Reply reply = (Verdict.Reply) filter.onRequest(Heads.get("a", "/"), context(0, 80, false));
        assertThat(reply.head().fields()).hasToString("Cache-Control: max-age=60\nLocation: https://a/\n");
    }

    @ParameterizedTest // the table of the Gateway API's ReplacePrefixMatch, then the cases it leaves out
    @CsvSource({
        "/foo/bar,4,/xyz,/xyz/bar",
        "/foo/bar,4,/xyz/,/xyz/bar",
        "/foo,4,/xyz,/xyz",
        "/foo/,4,/xyz,/xyz/",
        "/foo/bar,4,'',/bar",
        "/foo/,4,'',/",
        "/foo,4,'',/",
        "/foo/,4,/,/",
        "/foo,4,/,/",
        "/foo,4,/xyz/,/xyz/",
        "/foo/,4,/xyz/,/xyz/",
        "/foo?a=/b,4,/xyz,/xyz?a=/b",
        "/foo/bar?q,4,/,/bar?q",
        "/,0,/xyz,/xyz/",
        "/bar,0,/xyz,/xyz/bar",
        "/?q,0,/xyz,/xyz/?q",
        "/b,9,/xyz,/xyz",
        "*,0,/xyz,*"
    })
    void theMatchedPrefixIsReplacedByWholeElements(String path, int prefixLength, String replacement, String expected) {
        RequestHead head = Heads.get("a", path);

        new UrlRewrite(null, PathRewrite.prefix(replacement)).onRequest(head, context(prefixLength, 80, false));

        assertThatObject(head.path()).hasToString(expected);
        assertThatObject(head.authority()).hasToString("a");
    }

    @ParameterizedTest
    @CsvSource({"/foo/bar,/x/y,/x/y", "/foo?a=b,/x/,/x/?a=b", "/,'',/"})
    void theWholePathIsReplacedAndTheQueryKept(String path, String replacement, String expected) {
        RequestHead head = Heads.get("a", path, "Host: a");

        new UrlRewrite("b.example", PathRewrite.full(replacement)).onRequest(head, context(1, 80, false));

        assertThatObject(head.path()).hasToString(expected);
        assertThatObject(head.authority()).hasToString("b.example");
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "/a?b", "/a b", "/..", "/a#b", "/\u20ac", "*"})
    void aReplacementIsAPath(String replacement) {
        assertThatThrownBy(() -> PathRewrite.full(replacement)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> PathRewrite.prefix(replacement)).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest // scheme, hostname, port, listener's port, TLS, the request's host; then the Location
    @CsvSource({
        ",,0,8080,false,a.com:9999,http://a.com:8080/p?q",
        ",,0,80,false,a.com:9999,http://a.com/p?q",
        ",,0,443,true,a.com,https://a.com/p?q",
        ",,0,80,true,a.com,https://a.com:80/p?q",
        ",,0,8443,true,[::1]:8443,https://[::1]:8443/p?q",
        "https,,0,8080,false,a.com:8080,https://a.com/p?q",
        "http,,0,8443,true,a.com:8443,http://a.com/p?q",
        "https,,8443,80,false,a.com,https://a.com:8443/p?q",
        "https,,443,80,false,a.com,https://a.com/p?q",
        "http,,443,80,false,a.com,http://a.com:443/p?q",
        ",b.org,0,8080,false,a.com,http://b.org:8080/p?q",
        ",b.org,80,8080,false,a.com,http://b.org/p?q",
        ",b.org,0,0,false,a.com:81,http://b.org:81/p?q",
        ",b.org,0,80,false,'',http://b.org/p?q",
        ",,0,80,false,'',/p?q"
    })
    void aRedirectPointsWhereTheGatewayApiSays(
            @Nullable String scheme,
            @Nullable String hostname,
            int port,
            int listenerPort,
            boolean tls,
            String authority,
            String location) {
        Filter filter = new RequestRedirect(scheme, hostname, port, null, 302);

        ClientTarget target = ClientTarget.of(Scheme.of(tls), new AsciiString(authority));
        Verdict verdict = filter.onRequest(Heads.get(authority, "/p?q"), context(0, listenerPort, tls, target));

        Verdict.Reply reply = (Verdict.Reply) verdict;
        assertThat(reply.head().status()).isEqualTo(302);
        assertThat(reply.head().contentLength()).isZero();
        assertThat(reply.body().isReadable()).isFalse();
        assertThatObject(reply.head().fields().first(FieldName.LOCATION)).hasToString(location);
    }

    @ParameterizedTest // scheme and port of the filter, then of the client as a trusted proxy says
    @CsvSource({
        ",0,https,443,https://a.com/p",
        ",0,https,8444,https://a.com:8444/p",
        ",0,http,80,http://a.com/p",
        ",81,https,443,https://a.com:81/p",
        "https,0,http,8081,https://a.com/p",
    })
    void aRedirectGoesByWhatATrustedProxySays(
            @Nullable String scheme, int port, String clientScheme, int clientPort, String location) {
        ClientTarget target =
                new ClientTarget(new AsciiString(clientScheme), new AsciiString("b.com"), clientPort, true);
        Verdict.Reply reply = (Verdict.Reply) new RequestRedirect(scheme, null, port, null, 302)
                .onRequest(Heads.get("a.com", "/p"), context(0, 8080, false, target));
        assertThatObject(reply.head().fields().first(FieldName.LOCATION)).hasToString(location);
    }

    @Test
    void aRedirectReplacesThePrefix() {
        Filter filter = new RequestRedirect(null, null, 0, PathRewrite.prefix("/new"), 308);

        Verdict.Reply reply = (Verdict.Reply) filter.onRequest(Heads.get("a", "/old/x?y"), context(4, 80, false));
        Verdict.Reply star = (Verdict.Reply) filter.onRequest(Heads.get("a", "*"), context(0, 80, false));

        assertThatObject(reply.head().fields().first(FieldName.LOCATION)).hasToString("http://a/new/x?y");
        assertThatObject(star.head().fields().first(FieldName.LOCATION)).hasToString("http://a/");
    }

    @Test
    void aRedirectThatIsNoneIsRefused() {
        assertThatThrownBy(() -> new RequestRedirect(null, null, 0, null, 304))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new RequestRedirect("ftp", null, 0, null, 302))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new RequestRedirect(null, "a:80", 0, null, 302))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new RequestRedirect(null, null, 65536, null, 302))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
