package dev.gateway.net.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.CertificateBuilder.KeyUsage;
import io.netty.pkitesting.X509Bundle;
import java.net.Socket;
import java.security.KeyPair;
import java.security.KeyStore;
import java.security.PublicKey;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the JDK's trust manager gets of the certificates that a peer sends, and what it says of that. */
@SuppressWarnings("NullAway.Init") // fields that JUnit sets
class AuthoritiesTest {
    private static X509Bundle root;
    private static X509Bundle issuer; // by the root
    private static X509Bundle leaf; // by the issuer
    private static X509Bundle stranger;

    @BeforeAll
    static void issue() throws Exception {
        root = authority("Root").buildSelfSigned();
        issuer = authority("Issuer").buildIssuedBy(root);
        leaf = new CertificateBuilder().subject("CN=leaf").buildIssuedBy(issuer);
        stranger = authority("Stranger").buildSelfSigned();
    }

    private static CertificateBuilder authority(String name) {
        return new CertificateBuilder().ecp256().subject("CN=" + name).setIsCertificateAuthority(true);
    }

    private static CertificateBuilder sameAs(X509Bundle other) {
        return new CertificateBuilder()
                .subject(other.getCertificate().getSubjectX500Principal())
                .keyPair(other.getKeyPair())
                .setIsCertificateAuthority(true);
    }

    // What honest peers send

    @Test
    void theChainAsItShouldBe() throws Exception {
        assertPath(trusting(root), send(leaf, issuer), leaf, issuer);
    }

    @Test
    void theAuthorityNeedNotBeSentAndMayBe() throws Exception {
        assertPath(trusting(root), send(leaf, issuer, root), leaf, issuer);
        assertPath(trusting(root), send(issuer), issuer);
        assertPath(trusting(root), send(issuer, root), issuer);
    }

    @Test
    void anyOrder() throws Exception {
        X509Bundle second = authority("Second").buildIssuedBy(issuer);
        X509Bundle deep = new CertificateBuilder().subject("CN=deep").buildIssuedBy(second);
        assertPath(trusting(root), send(deep, root, issuer, second), deep, second, issuer);
        assertPath(trusting(root), send(deep, issuer, second, root), deep, second, issuer);
    }

    @Test
    void aRootThatAnOlderOneHasCrossSigned() throws Exception {
        X509Bundle old = authority("Old").buildSelfSigned();
        X509Bundle cross = sameAs(root).buildIssuedBy(old);
        X509Certificate[] sent = send(leaf, issuer, cross, old);
        assertPath(trusting(root), sent, leaf, issuer);
        assertPath(trusting(old), sent, leaf, issuer, cross);
        assertPath(trusting(old, root), sent, leaf, issuer);
    }

    @Test
    void anExpiredRootBehindACrossSignature() throws Exception {
        X509Bundle old = expired(authority("Old")).buildSelfSigned();
        X509Bundle cross = expired(sameAs(root)).buildIssuedBy(old);
        assertPath(trusting(root, old), send(leaf, issuer, cross, old), leaf, issuer);
    }

    @Test
    void certificatesThatHaveNothingToDoWithIt() throws Exception {
        X509Bundle other = new CertificateBuilder().subject("CN=other").buildIssuedBy(stranger);
        X509Bundle namesake = authority("Issuer").buildIssuedBy(stranger);
        assertPath(trusting(root), send(leaf, other, namesake, stranger, issuer), leaf, issuer);
    }

    @Test
    void anExpiredCertificateOfTheSameIssuer() throws Exception {
        X509Bundle former = expired(sameAs(issuer)).buildIssuedBy(root);
        assertPath(trusting(root), send(leaf, former, issuer), leaf, issuer);
        assertPath(trusting(root), send(leaf, issuer, former), leaf, issuer);
    }

    @Test
    void anIssuerThatHasExpiredIsToldAsSuch() throws Exception {
        X509Bundle former = expired(sameAs(issuer)).buildIssuedBy(root);
        Counting trust = trusting(root);
        assertThatThrownBy(() -> trust.checkClient(send(leaf, former)))
                .hasStackTraceContaining("validity check failed");
        assertThat(trust.handed).containsExactly(List.of(leaf.getCertificate(), former.getCertificate()));
    }

    @Test
    void newKeysOfAnAuthorityThatKeepsItsName() throws Exception {
        X509Bundle second = authority("Root").buildIssuedBy(root);
        X509Bundle third = authority("Root").buildIssuedBy(second);
        X509Bundle young = new CertificateBuilder().subject("CN=young").buildIssuedBy(third);
        assertPath(trusting(root), send(young, second, third), young, third, second);
        assertPath(trusting(root), send(young, third, second), young, third, second);
        assertPath(trusting(root, third), send(young, third, second), young);
    }

    @Test
    void authoritiesNeedNotBeRoots() throws Exception {
        assertPath(trusting(issuer), send(leaf, issuer, root), leaf);
        assertPath(trusting(leaf), send(leaf, issuer), leaf); // pinned
    }

    // What others send

    /** Every one of them may have signed every other one, by their names. The JDK searches among n^5 paths. */
    @Test
    void aStrangersCertificatesAreNotSearchedForPaths() throws Exception {
        List<X509Bundle> sent = new ArrayList<>();
        sent.add(new CertificateBuilder().subject("CN=leaf").buildIssuedBy(named(stranger, "A")));
        for (int i = 0; i < 4; i++) {
            sent.add(authority("A").buildIssuedBy(named(stranger, "B")));
            sent.add(authority("B").buildIssuedBy(named(stranger, "A")));
        }
        sent.add(authority("A").buildIssuedBy(named(stranger, "Root")));
        Counting trust = trusting(root);
        assertNotTrusted(trust, sent);
        assertThat(trust.verified).isEqualTo(1); // with the key of the real root
    }

    /** Its keys, which may be slow ones, verify nothing at all. */
    @Test
    void aStrangersKeysVerifyNothing() throws Exception {
        KeyPair one = stranger.getKeyPair();
        List<X509Bundle> sent = new ArrayList<>();
        sent.add(new CertificateBuilder().subject("CN=leaf").buildIssuedBy(named(stranger, "Root")));
        for (int i = 1; i < Authorities.MAX_SENT; i++) {
            sent.add(authority("Root").keyPair(one).buildIssuedBy(named(stranger, "Root")));
        }
        Counting trust = trusting(root);
        assertNotTrusted(trust, sent);
        assertThat(trust.verified).isEqualTo(Authorities.MAX_SENT); // each of them once, with the key of the root
    }

    /** Half of these lead to the root, so their keys count; but none has signed the leaf. */
    @Test
    void whoHasAnAuthorityOfItsOwnCannotAskForManySignatures() throws Exception {
        List<X509Bundle> sent = new ArrayList<>();
        sent.add(new CertificateBuilder().subject("CN=leaf").buildIssuedBy(named(stranger, "Issuer")));
        sent.add(sameAs(issuer).buildIssuedBy(root));
        for (int i = 0; i < 4; i++) {
            sent.add(authority("Issuer").buildIssuedBy(issuer));
            sent.add(authority("Issuer").buildIssuedBy(named(stranger, "Issuer")));
        }
        Counting trust = trusting(root);
        assertNotTrusted(trust, sent);
        assertThat(trust.verified).isEqualTo(1 + 32); // the first one with the root's key
    }

    @Test
    void aLeafHasSignedNothing() throws Exception {
        X509Bundle forged = new CertificateBuilder().subject("CN=forged").buildIssuedBy(leaf);
        assertNotTrusted(trusting(root), List.of(forged, leaf, issuer));
        X509Bundle forCode =
                authority("Issuer").setKeyUsage(true, KeyUsage.digitalSignature).buildIssuedBy(root);
        X509Bundle other = new CertificateBuilder().subject("CN=other").buildIssuedBy(forCode);
        assertNotTrusted(trusting(root), List.of(other, forCode));
    }

    @Test
    void anotherAuthorityOfThatNameIsNotTrusted() throws Exception {
        X509Bundle namesake = authority("Root").buildSelfSigned();
        X509Bundle forged = new CertificateBuilder().subject("CN=forged").buildIssuedBy(namesake);
        assertNotTrusted(trusting(root), List.of(forged, namesake));
    }

    @Test
    void moreThanTenAreNotLookedAt() throws Exception {
        List<X509Bundle> sent = new ArrayList<>(List.of(leaf, issuer));
        while (sent.size() < Authorities.MAX_SENT) {
            sent.add(stranger);
        }
        assertPath(trusting(root), send(sent.toArray(X509Bundle[]::new)), leaf, issuer);
        sent.add(root);
        Counting trust = trusting(root);
        assertThatThrownBy(() -> trust.checkClient(send(sent.toArray(X509Bundle[]::new))))
                .isInstanceOf(CertificateException.class)
                .hasMessage("more than 10 certificates were sent");
        assertThat(trust.verified).isZero();
    }

    private static CertificateBuilder expired(CertificateBuilder builder) {
        Instant now = Instant.now();
        return builder.notBefore(now.minus(Duration.ofDays(2))).notAfter(now.minus(Duration.ofDays(1)));
    }

    /** Signs with the key of one bundle in the name of somebody else. */
    private static X509Bundle named(X509Bundle key, String name) throws Exception {
        return authority(name).keyPair(key.getKeyPair()).buildSelfSigned();
    }

    private static X509Certificate[] send(X509Bundle... bundles) {
        X509Certificate[] sent = new X509Certificate[bundles.length];
        for (int i = 0; i < sent.length; i++) {
            sent[i] = bundles[i].getCertificate();
        }
        return sent;
    }

    private static void assertPath(Counting trust, X509Certificate[] sent, X509Bundle... path) throws Exception {
        trust.handed.clear();
        trust.checkClient(sent);
        assertThat(trust.handed).containsExactly(List.of(send(path)));
    }

    private static void assertNotTrusted(Counting trust, List<X509Bundle> sent) {
        assertThatThrownBy(() -> trust.checkClient(send(sent.toArray(X509Bundle[]::new))))
                .isInstanceOf(CertificateException.class)
                .hasRootCauseInstanceOf(CertPathBuilderException.class);
        assertThat(trust.handed).isEmpty();
    }

    private static Counting trusting(X509Bundle... trusted) throws Exception {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        for (int i = 0; i < trusted.length; i++) {
            store.setCertificateEntry(Integer.toString(i), trusted[i].getCertificate());
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return new Counting((X509ExtendedTrustManager) factory.getTrustManagers()[0], new ArrayList<>());
    }

    /** Counts signatures, and keeps what it hands to the JDK. */
    private static final class Counting extends Authorities {
        final List<List<X509Certificate>> handed;
        int verified;

        Counting(X509ExtendedTrustManager jdk, List<List<X509Certificate>> handed) {
            super(new Recorder(jdk, handed));
            this.handed = handed;
        }

        @Override
        boolean isSigned(X509Certificate certificate, PublicKey key) {
            verified++;
            return super.isSigned(certificate, key);
        }
    }

    /** Passes on what a client without an engine is asked. */
    private static final class Recorder extends X509ExtendedTrustManager {
        private final X509ExtendedTrustManager jdk;
        private final List<List<X509Certificate>> handed;

        Recorder(X509ExtendedTrustManager jdk, List<List<X509Certificate>> handed) {
            this.jdk = jdk;
            this.handed = handed;
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType) throws CertificateException {
            handed.add(List.of(chain));
            jdk.checkClientTrusted(chain, authType);
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return jdk.getAcceptedIssuers();
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType) {
            throw new AssertionError();
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket) {
            throw new AssertionError();
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket) {
            throw new AssertionError();
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {
            throw new AssertionError();
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {
            throw new AssertionError();
        }
    }
}
