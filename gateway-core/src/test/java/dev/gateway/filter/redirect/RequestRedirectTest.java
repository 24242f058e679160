package dev.gateway.filter.redirect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatObject;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.filter.FakeContext;
import dev.gateway.filter.Filter;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.fields.FieldEdits;
import dev.gateway.filter.rewrite.PathRewrite;
import dev.gateway.message.ClientTarget;
import dev.gateway.message.FieldName;
import dev.gateway.message.Heads;
import dev.gateway.message.Scheme;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.HttpVersion;
import io.netty.util.AsciiString;
import java.net.InetSocketAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RequestRedirectTest {
    private static FakeContext context(int prefixLength, int localPort, boolean tls) {
        ConnectionInfo.TlsInfo tlsInfo = tls ? new ConnectionInfo.TlsInfo("TLSv1.3", "x", null, null, false, 0) : null;
        InetSocketAddress local = localPort == 0 ? null : new InetSocketAddress("127.0.0.1", localPort);
        FakeContext context = new FakeContext(new ConnectionInfo(0, "web", HttpVersion.HTTP_1_1, null, local, tlsInfo));
        context.matchedPrefixLength = prefixLength;
        return context;
    }

    private static FakeContext context(int localPort, boolean tls, ClientTarget target) {
        FakeContext context = context(0, localPort, tls);
        context.target = target;
        return context;
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
        Verdict verdict = filter.onRequest(Heads.get(authority, "/p?q"), context(listenerPort, tls, target));

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
                .onRequest(Heads.get("a.com", "/p"), context(8080, false, target));
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
