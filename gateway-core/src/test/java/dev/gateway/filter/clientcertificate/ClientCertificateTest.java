package dev.gateway.filter.clientcertificate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.value.Position;
import dev.gateway.filter.FakeContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.certificate.CertificateName;
import dev.gateway.filter.certificate.CertificateName.Kind;
import dev.gateway.filter.clientcertificate.ClientCertificateConfig.Part;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Heads;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientChain;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Identity;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.CertificateBuilder.KeyUsage;
import io.netty.pkitesting.X509Bundle;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which client certificates the filter accepts, and which fields it sends to the upstream. */
@SuppressWarnings("NullAway.Init") // the authority, which JUnit makes
class ClientCertificateTest {
    private static final Position AT = new Position("gateway.yaml", 1, 1);
    private static final List<Part> CERTIFICATE_AND_CHAIN = List.of(Part.CERTIFICATE, Part.CHAIN);
    private static final String ALTERNATIVE_NAMES = "2.5.29.17";
    private static final int EMAIL = 0x81;
    private static final int DNS = 0x82;
    private static final int URI_NAME = 0x86;
    private static final int IP = 0x87;

    private static X509Bundle authority;

    private final RequestHead head = Heads.get("shop.example", "/", "Client-Cert: :AA==:", "client_cert-chain: :AA==:");

    @BeforeAll
    static void makeTheAuthority() throws Exception {
        authority = new CertificateBuilder()
                .ecp256()
                .subject("CN=CA")
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
    }

    /**
     * A general name.
     *
     * @param value its content in DER, a character for each byte
     */
    private record Name(int tag, String value) {
        static Name of(int tag, String text) {
            return new Name(tag, text);
        }

        static Name of(int tag, byte[] content) {
            return new Name(tag, new String(content, StandardCharsets.ISO_8859_1));
        }
    }

    private static CertificateBuilder builder(String subject) {
        return new CertificateBuilder().ecp256().subject(subject);
    }

    private static X509Certificate issue(String subject, Name... names) throws Exception {
        CertificateBuilder builder = builder(subject);
        if (names.length > 0) {
            builder.addExtensionOctetString(ALTERNATIVE_NAMES, false, der(names));
        }
        return builder.buildIssuedBy(authority).getCertificate();
    }

    private static byte[] der(Name... names) {
        ByteArrayOutputStream inner = new ByteArrayOutputStream();
        for (Name name : names) {
            inner.writeBytes(tagged(name.tag, name.value.getBytes(StandardCharsets.ISO_8859_1)));
        }
        return tagged(0x30, inner.toByteArray());
    }

    private static byte[] tagged(int tag, byte[] value) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(tag);
        if (value.length < 0x80) {
            out.write(value.length);
        } else {
            out.write(0x83);
            out.write(value.length >> 16);
            out.write(value.length >> 8);
            out.write(value.length);
        }
        out.writeBytes(value);
        return out.toByteArray();
    }

    private static ClientCertificate filter(CertificateName... allowed) {
        return new ClientCertificate(settings(true, List.of(), 16_384, allowed));
    }

    private static ClientCertificateConfig settings(
            boolean required, List<Part> forward, long most, CertificateName... allowed) {
        return new ClientCertificateConfig(AT, required, List.of(allowed), forward, most);
    }

    private static CertificateName uri(String value) {
        return new CertificateName(Kind.URI, value);
    }

    private static CertificateName dns(String value) {
        return new CertificateName(Kind.DNS, value);
    }

    private static CertificateName common(String value) {
        return new CertificateName(Kind.COMMON_NAME, value);
    }

    /** Returns who the client is, null if it has no name. */
    private @Nullable String pass(ClientCertificate filter, X509Certificate... chain) {
        FakeContext context = FakeContext.withCertificates(chain);
        assertThat(filter.onRequest(head, context)).isSameAs(Verdict.PROCEED);
        Identity identity = context.identity();
        if (identity == null) {
            return null;
        }
        assertThat(identity.groups()).isEqualTo(Set.of());
        return identity.name();
    }

    /** Returns why the client is refused. */
    private String refused(ClientCertificate filter, X509Certificate... chain) {
        return refused(filter, FakeContext.withCertificates(chain));
    }

    private String refused(ClientCertificate filter, FakeContext context) {
        Verdict verdict = filter.onRequest(head, context);
        assertThat(verdict).isInstanceOf(Verdict.Refuse.class);
        Verdict.Refuse refusal = (Verdict.Refuse) verdict;
        assertThat(refusal.failure().cause()).isEqualTo(Cause.AUTHZ_DENIED);
        assertThat(refusal.failure().status()).isEqualTo(403);
        assertThat(refusal.fields().size()).isZero();
        assertThat(context.identity()).isNull();
        assertThat(head.fields().contains(FieldName.CLIENT_CERT)).isFalse();
        return refusal.failure().detail();
    }

    @Test
    void aClientWithoutACertificateIsRefusedIfOneIsRequired() {
        assertThat(refused(filter(), FakeContext.from("192.0.2.1"))).isEqualTo("no client certificate");
        assertThat(refused(filter(dns("a")), FakeContext.withCertificate(null))).isEqualTo("no client certificate");
        assertThat(filter().guards()).isTrue();
    }

    @Test
    void aClientWithoutACertificateHasNoIdentityIfNoneIsRequired() throws Exception {
        ClientCertificate optional =
                new ClientCertificate(settings(false, CERTIFICATE_AND_CHAIN, 16_384, dns("billing.internal")));
        FakeContext context = FakeContext.from("192.0.2.1");
        assertThat(optional.onRequest(head, context)).isSameAs(Verdict.PROCEED);
        assertThat(context.identity()).isNull();
        assertThat(head.fields().size()).isEqualTo(0); // what the client has sent is gone
        // One with another certificate is not a client without one.
        assertThat(refused(optional, issue("CN=x", Name.of(DNS, "shop.internal"))))
                .isEqualTo("client certificate of shop.internal is not among those allowed");
    }

    @Test
    void theIdentityIsTheFirstAllowedNameThatTheCertificateHas() throws Exception {
        X509Certificate certificate = issue(
                "CN=ann",
                Name.of(DNS, "a.internal"),
                Name.of(DNS, "B.Internal"),
                Name.of(EMAIL, "Ann@Example.COM"),
                Name.of(URI_NAME, "spiffe://example.org/ns/shop/sa/cart"));
        assertThat(pass(filter(dns("b.internal"), dns("a.internal")), certificate))
                .isEqualTo("b.internal");
        assertThat(pass(filter(dns("c.internal"), dns("a.internal"), common("ann")), certificate))
                .isEqualTo("a.internal");
        assertThat(pass(filter(common("ann"), uri("spiffe://example.org/*")), certificate))
                .isEqualTo("ann");
        assertThat(pass(filter(dns("c"), uri("spiffe://example.org/*"), common("ann")), certificate))
                .isEqualTo("spiffe://example.org/ns/shop/sa/cart");
        assertThat(pass(
                        filter(uri("spiffe://example.org/ns/pay/*"), uri("spiffe://example.org/ns/shop/sa/cart")),
                        certificate))
                .isEqualTo("spiffe://example.org/ns/shop/sa/cart");
        assertThat(pass(filter(new CertificateName(Kind.EMAIL, "Ann@example.com")), certificate))
                .isEqualTo("Ann@example.com");
        // Names of one kind are not names of another.
        assertThat(refused(filter(dns("ann"), common("a.internal"), uri("urn:ann")), certificate))
                .isEqualTo("client certificate of spiffe://example.org/ns/shop/sa/cart is not among those allowed");
    }

    @Test
    void withoutAListTheMostExactKindOfNameIsTheIdentity() throws Exception {
        Name email = Name.of(EMAIL, "ann@example.com");
        Name host = Name.of(DNS, "a.internal");
        Name workload = Name.of(URI_NAME, "spiffe://example.org/a");
        assertThat(pass(filter(), issue("CN=ann", email, host, workload))).isEqualTo("spiffe://example.org/a");
        assertThat(pass(filter(), issue("CN=ann", email, host))).isEqualTo("a.internal");
        assertThat(pass(filter(), issue("CN=ann", email))).isEqualTo("ann@example.com");
        assertThat(pass(filter(), issue("O=Example,CN=ann"))).isEqualTo("ann");
        assertThat(pass(filter(), issue("O=Example"))).isNull();
        assertThat(refused(filter(common("ann")), issue("O=Example")))
                .isEqualTo("client certificate without a usable name is not among those allowed");
    }

    @Test
    void aWorkloadHasOneUriAndIsNoAuthority() throws Exception {
        ClientCertificate shop = filter(uri("spiffe://example.org/ns/shop/*"), dns("a.internal"));
        Name workload = Name.of(URI_NAME, "spiffe://example.org/ns/shop/a");
        Name other = Name.of(URI_NAME, "https://example.org/a");
        assertThat(pass(shop, issue("CN=x", workload))).isEqualTo("spiffe://example.org/ns/shop/a");
        assertThat(refused(shop, issue("CN=x", workload, other)))
                .isEqualTo(
                        "client certificate of https://example.org/a is not among those allowed: it has a SPIFFE ID and"
                                + " another URI");
        assertThat(refused(shop, issue("CN=x", workload, Name.of(URI_NAME, "spiffe://example.org/ns/shop/b"))))
                .contains("it has a SPIFFE ID and another URI");
        // Its other names are what they are.
        assertThat(pass(shop, issue("CN=x", workload, other, Name.of(DNS, "a.internal"))))
                .isEqualTo("a.internal");
        X509Certificate signer = builder("CN=x")
                .addSanUriName(URI.create("spiffe://example.org/ns/shop/a"))
                .setIsCertificateAuthority(true)
                .buildIssuedBy(authority)
                .getCertificate();
        assertThat(refused(shop, signer)).contains("its SPIFFE ID is that of a certificate authority");
        X509Certificate lists = builder("CN=x")
                .addSanUriName(URI.create("spiffe://example.org/ns/shop/a"))
                .setKeyUsage(true, KeyUsage.digitalSignature, KeyUsage.cRLSign)
                .buildIssuedBy(authority)
                .getCertificate();
        assertThat(refused(shop, lists)).contains("its SPIFFE ID is that of a certificate authority");
        X509Certificate signs = builder("CN=x")
                .addSanUriName(URI.create("spiffe://example.org/ns/shop/a"))
                .setKeyUsage(true, KeyUsage.digitalSignature)
                .buildIssuedBy(authority)
                .getCertificate();
        assertThat(pass(shop, signs)).isEqualTo("spiffe://example.org/ns/shop/a");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "spiffe://example.org/ns/shop/../pay",
                "spiffe://example.org/ns/shop//a",
                "spiffe://example.org/ns/shop/a%2e",
                "spiffe://Example.org/ns/shop/a",
                "SPIFFE://example.org/ns/shop/a",
                "spiffe://example.org:1/ns/shop/a",
            })
    void aMalformedSpiffeIdIsNobodys(String id) throws Exception {
        X509Certificate certificate = issue("CN=x", Name.of(URI_NAME, id));
        assertThat(refused(filter(uri("spiffe://example.org/*"), uri("spiffe://example.org/ns/shop/*")), certificate))
                .isEqualTo("client certificate of x is not among those allowed: its SPIFFE ID is malformed");
        assertThat(pass(filter(), certificate)).isEqualTo("x");
    }

    /** What no certificate should have: none of it counts, none of it is told on, and nothing breaks. */
    @ParameterizedTest
    @CsvSource({
        "130, 'billing.internal\u0000.evil.test'",
        "130, 'billing.internal\u0000'",
        "130, 'billing.internal '",
        "130, 'b\u00edlling.internal'",
        "130, 'billing.internal\r\nX: y'",
        "130, '*.internal'",
        "130, ''",
        "129, 'billing.internal'",
        "129, '@billing.internal'",
        "129, 'a\r\n@billing.internal'",
        "129, 'a@b@billing.internal'",
        "134, 'urn:a\r\nb'",
        "134, 'urn:\u0000'",
        "134, 'urn:\u00fc'",
        "134, '%'",
        "135, 'abc'",
        "128, 'abc'",
        "160, 'abc'",
        "164, 'abc'",
        "136, ''",
        "255, 'a'",
    })
    void oddNamesDoNotCount(int tag, String text) throws Exception {
        String raw = text.replace("\\r", "\r").replace("\\n", "\n").replace("\\u0000", "\0");
        X509Certificate certificate = issue("CN=x", Name.of(tag, raw));
        assertThat(pass(filter(), certificate)).isIn("x", null);
        assertThat(refused(filter(dns("billing.internal"), uri("urn:ab")), certificate))
                .matches("client certificate (of x|without a usable name) is not among those allowed(: it has malformed"
                        + " names)?");
    }

    @Test
    void anAddressThatTheJdkCannotPrintIsOneMalformedNameMore() throws Exception {
        byte[] address = new byte[32]; // an address and a mask, of which the mask is invalid
        address[31] = 5;
        Name[] names = {Name.of(DNS, "billing.internal"), Name.of(IP, address)};
        assertThat(refused(filter(dns("billing.internal")), issue("CN=x", names)))
                .isEqualTo(
                        "client certificate without a usable name is not among those allowed: it has malformed names");
        assertThat(pass(filter(), issue("CN=x", names))).isNull(); // a new one: the JDK fails once for each
    }

    @Test
    void oddSubjectsDoNotCount() throws Exception {
        assertThat(pass(filter(), issue("CN=ann\\00"))).isNull();
        assertThat(pass(filter(), issue("CN=ann\\0d\\0aX: y"))).isNull();
        assertThat(refused(filter(common("ann")), issue("CN=ann\\00")))
                .isEqualTo("client certificate without a usable name is not among those allowed");
        assertThat(pass(filter(), issue("CN=" + "a".repeat(2048)))).hasSize(2048);
        assertThat(pass(filter(), issue("CN=" + "a".repeat(2049)))).isNull();
    }

    @ParameterizedTest
    @ValueSource(ints = {100, 101, 10_000})
    void tooManyNamesAreNone(int count) throws Exception {
        List<Name> names = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            names.add(Name.of(DNS, "n" + i));
        }
        X509Certificate certificate = issue("CN=ann", names.toArray(Name[]::new));
        if (count == 100) {
            assertThat(pass(filter(dns("n99")), certificate)).isEqualTo("n99");
        } else {
            assertThat(refused(filter(dns("n0"), common("ann")), certificate))
                    .isEqualTo(
                            "client certificate without a usable name is not among those allowed: it has more than 100"
                                    + " names");
        }
    }

    // ---- what the upstream gets

    private static ClientCertificateConfig forwarding(boolean chain, long most) {
        return settings(true, chain ? CERTIFICATE_AND_CHAIN : List.of(Part.CERTIFICATE), most);
    }

    private static byte[] decoded(String item) {
        assertThat(item).startsWith(":").endsWith(":");
        return Base64.getDecoder().decode(item.substring(1, item.length() - 1));
    }

    private static String only(Fields fields, FieldName name) {
        int at = fields.find(name, 0);
        assertThat(at).isNotNegative();
        assertThat(fields.find(name, at + 1)).isNegative();
        return fields.value(at).toString();
    }

    @Test
    void theUpstreamGetsCertificateAndChainAsByteSequences() throws Exception {
        X509Certificate own = issue("CN=ann");
        X509Certificate other = issue("CN=other");
        pass(new ClientCertificate(forwarding(true, 16_384)), own, authority.getCertificate(), other);
        Fields fields = head.fields();
        assertThat(fields.size()).isEqualTo(2);
        assertThat(decoded(only(fields, FieldName.CLIENT_CERT))).isEqualTo(own.getEncoded());
        String[] chain = only(fields, FieldName.CLIENT_CERT_CHAIN).split(", ");
        assertThat(chain).hasSize(2);
        assertThat(decoded(chain[0])).isEqualTo(authority.getCertificate().getEncoded());
        assertThat(decoded(chain[1])).isEqualTo(other.getEncoded());
    }

    @Test
    void aFieldThatIsNotForwardedOrHasNothingToSayIsNotThere() throws Exception {
        X509Certificate own = issue("CN=ann");
        pass(new ClientCertificate(forwarding(false, 16_384)), own, authority.getCertificate());
        assertThat(head.fields().size()).isEqualTo(1);
        assertThat(head.fields().contains(FieldName.CLIENT_CERT)).isTrue();
        pass(new ClientCertificate(forwarding(true, 16_384)), own);
        assertThat(head.fields().size()).isEqualTo(1); // the one of before was replaced
        pass(filter(), own);
        assertThat(head.fields().size()).isZero();
    }

    @Test
    void trailersDoNotTellOfACertificateEither() throws Exception {
        Fields trailers = Heads.fields("Client-Cert: :AA==:", "Digest: a", "Client_Cert_Chain: :AA==:");
        filter().onRequestTrailers(trailers, FakeContext.withCertificates(issue("CN=ann")));
        assertThat(trailers.toString()).isEqualTo("Digest: a\n");
    }

    @Test
    void aRequestIsRefusedRatherThanForwardedWithoutItsCertificate() throws Exception {
        X509Certificate own = issue("CN=ann");
        int certificate = 2 + (own.getEncoded().length + 2) / 3 * 4;
        int chain = 2 + (authority.getCertificate().getEncoded().length + 2) / 3 * 4;
        X509Certificate[] both = {own, authority.getCertificate()};
        pass(new ClientCertificate(forwarding(true, certificate + chain)), both);
        assertThat(only(head.fields(), FieldName.CLIENT_CERT)).hasSize(certificate);
        assertThat(only(head.fields(), FieldName.CLIENT_CERT_CHAIN)).hasSize(chain);
        pass(new ClientCertificate(forwarding(false, certificate)), both);
        FakeContext context = FakeContext.withCertificates(both);
        Verdict verdict = new ClientCertificate(forwarding(true, certificate + chain - 1)).onRequest(head, context);
        assertThat(((Verdict.Refuse) verdict).failure().detail())
                .isEqualTo("client certificate too large to be forwarded: " + (certificate + chain)
                        + " bytes, more than " + (certificate + chain - 1) + " (maxForwardedSize)");
        assertThat(head.fields().size()).isZero();
        assertThat(chainOf(context).charged()).isZero();
    }

    private static ClientChain chainOf(FakeContext context) {
        ConnectionInfo.TlsInfo tls = Objects.requireNonNull(context.connection().tls());
        return Objects.requireNonNull(tls.clientChain());
    }

    @Test
    void aConnectionsCertificateIsReadAndWrittenOnce() throws Exception {
        FakeContext context = FakeContext.withCertificates(issue("CN=ann"), authority.getCertificate());
        ClientCertificate first = new ClientCertificate(forwarding(true, 16_384));
        ClientCertificate afterReload =
                new ClientCertificate(settings(true, CERTIFICATE_AND_CHAIN, 16_384, common("ann")));
        first.onRequest(head, context);
        Identity identity = context.identity();
        long charged = chainOf(context).charged();
        assertThat(charged)
                .isEqualTo(only(head.fields(), FieldName.CLIENT_CERT).length()
                        + only(head.fields(), FieldName.CLIENT_CERT_CHAIN).length());
        afterReload.onRequest(head, context);
        assertThat(context.identity()).isSameAs(identity);
        assertThat(chainOf(context).charged()).isEqualTo(charged);
        assertThat(refused(filter(dns("ann")), new FakeContext(context.connection())))
                .contains("of ann is not");
    }
}
