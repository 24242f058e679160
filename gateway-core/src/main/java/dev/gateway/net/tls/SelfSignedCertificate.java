package dev.gateway.net.tls;

import java.io.IOException;
import java.math.BigInteger;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import java.util.List;
import java.util.stream.Stream;
import javax.security.auth.x500.X500Principal;
import org.bouncycastle.asn1.ASN1Encodable;
import org.bouncycastle.asn1.ASN1Encoding;
import org.bouncycastle.asn1.ASN1Integer;
import org.bouncycastle.asn1.DERBitString;
import org.bouncycastle.asn1.DEROctetString;
import org.bouncycastle.asn1.DERSequence;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.AlgorithmIdentifier;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.Extensions;
import org.bouncycastle.asn1.x509.ExtensionsGenerator;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.asn1.x509.SubjectPublicKeyInfo;
import org.bouncycastle.asn1.x509.TBSCertificate;
import org.bouncycastle.asn1.x509.Time;
import org.bouncycastle.asn1.x509.V3TBSCertificateGenerator;
import org.bouncycastle.asn1.x9.X9ObjectIdentifiers;

/**
 * A certificate of a server (RFC 5280) that its own key has signed, with that key. The key is of P-256. The certificate is
 * also its own authority, so clients can trust it alone; it can sign no other authority. Immutable.
 *
 * @param certificatePem the certificate as a file has it (RFC 7468)
 * @param keyPem the unencrypted key as a file has it: PKCS#8
 */
record SelfSignedCertificate(String certificatePem, String keyPem) {
    private static final int SERIAL_BITS = 159; // positive in 20 bytes, which is what RFC 5280, 4.1.2.2 allows
    private static final Base64.Encoder LINES = Base64.getMimeEncoder(64, new byte[] {'\n'});

    /**
     * Makes a key and its certificate. Fractions of a second are cut off.
     *
     * @param subject who the certificate is of, such as {@code CN=localhost}
     * @throws GeneralSecurityException if this JDK lacks elliptic curves
     */
    static SelfSignedCertificate make(
            String subject, Instant notBefore, Instant notAfter, List<String> hosts, List<InetAddress> addresses)
            throws GeneralSecurityException {
        SecureRandom random = new SecureRandom();
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"), random);
        KeyPair keys = generator.generateKeyPair();
        AlgorithmIdentifier algorithm = new AlgorithmIdentifier(X9ObjectIdentifiers.ecdsa_with_SHA256);
        X500Name name = X500Name.getInstance(new X500Principal(subject).getEncoded());
        V3TBSCertificateGenerator content = new V3TBSCertificateGenerator();
        content.setSerialNumber(new ASN1Integer(new BigInteger(SERIAL_BITS, random)));
        content.setSignature(algorithm);
        content.setIssuer(name);
        content.setSubject(name);
        content.setStartDate(new Time(Date.from(notBefore)));
        content.setEndDate(new Time(Date.from(notAfter)));
        content.setSubjectPublicKeyInfo(
                SubjectPublicKeyInfo.getInstance(keys.getPublic().getEncoded()));
        try {
            content.setExtensions(extensions(hosts, addresses));
            TBSCertificate signed = content.generateTBSCertificate();
            Signature signature = Signature.getInstance("SHA256withECDSA");
            signature.initSign(keys.getPrivate(), random);
            signature.update(signed.getEncoded(ASN1Encoding.DER));
            DERSequence certificate =
                    new DERSequence(new ASN1Encodable[] {signed, algorithm, new DERBitString(signature.sign())});
            return new SelfSignedCertificate(
                    pem("CERTIFICATE", certificate.getEncoded(ASN1Encoding.DER)),
                    pem("PRIVATE KEY", keys.getPrivate().getEncoded()));
        } catch (IOException e) { // of writing to memory: what is encoded would be wrong
            throw new GeneralSecurityException("cannot encode a certificate", e);
        }
    }

    private static Extensions extensions(List<String> hosts, List<InetAddress> addresses) throws IOException {
        GeneralName[] names = Stream.concat(
                        hosts.stream().map(host -> new GeneralName(GeneralName.dNSName, host)),
                        addresses.stream()
                                .map(address -> new GeneralName(
                                        GeneralName.iPAddress, new DEROctetString(address.getAddress()))))
                .toArray(GeneralName[]::new);
        ExtensionsGenerator extensions = new ExtensionsGenerator();
        extensions.addExtension(Extension.basicConstraints, true, new BasicConstraints(0)); // an authority of no other
        extensions.addExtension(
                Extension.keyUsage, true, new KeyUsage(KeyUsage.digitalSignature | KeyUsage.keyCertSign));
        extensions.addExtension(Extension.extendedKeyUsage, false, new ExtendedKeyUsage(KeyPurposeId.id_kp_serverAuth));
        extensions.addExtension(Extension.subjectAlternativeName, false, new GeneralNames(names));
        return extensions.generate();
    }

    private static String pem(String label, byte[] der) {
        return "-----BEGIN " + label + "-----\n"
                + new String(LINES.encode(der), StandardCharsets.US_ASCII)
                + "\n-----END " + label + "-----\n";
    }
}
