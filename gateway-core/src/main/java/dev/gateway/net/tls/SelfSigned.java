package dev.gateway.net.tls;

import dev.gateway.config.listener.TlsConfig.CertificateRef;
import dev.gateway.config.value.Position;
import dev.gateway.files.FilePermissions;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Self-signed certificate: makes a certificate for this machine at first start, so that TLS can be tried without one. */
public final class SelfSigned {
    private static final Duration VALID = Duration.ofDays(365);
    private static final String UNIX = "unix"; // a view of a file's attributes
    private static final Integer ROOT = 0;
    private static final int WRITABLE_FOR_OTHERS = 0002;
    private static final Duration RENEW_BEFORE = Duration.ofDays(14);

    private SelfSigned() {}

    /**
     * Returns the certificate in a directory; makes it if there is none, or if it ends soon. It is valid for localhost,
     * 127.0.0.1 and ::1. The key is readable by its owner only; one that others may have put there is replaced.
     *
     * @throws IOException if the files cannot be read or written
     * @throws GeneralSecurityException if this JDK cannot make the certificate
     */
    public static CertificateRef in(Path directory) throws IOException, GeneralSecurityException {
        CertificateRef files = new CertificateRef(
                Position.NOWHERE, directory.resolve("self-signed.crt"), directory.resolve("self-signed.key"));
        if (Files.exists(files.certFile())
                && Files.exists(files.keyFile())
                && isOurs(files.keyFile())
                && Pem.certificates(files.certFile())[0]
                        .getNotAfter()
                        .toInstant()
                        .isAfter(Instant.now().plus(RENEW_BEFORE))) {
            return files;
        }
        SelfSignedCertificate made = make();
        Files.createDirectories(directory);
        // The key first: a certificate without its key would be taken for complete only if both exist.
        write(files.keyFile(), made.keyPem(), "rw-------");
        write(files.certFile(), made.certificatePem(), "rw-r--r--");
        return files;
    }

    /** Whether only root or the user of this process can have written a file. Otherwise another user may have the key. */
    private static boolean isOurs(Path file) throws IOException {
        Path process = Path.of("/proc/self");
        if (!file.getFileSystem().supportedFileAttributeViews().contains(UNIX) || !Files.exists(process)) {
            return true; // nobody tells
        }
        Map<String, Object> attributes = Files.readAttributes(file, UNIX + ":uid,mode", LinkOption.NOFOLLOW_LINKS);
        Object owner = attributes.get("uid");
        int mode = (Integer) Objects.requireNonNull(attributes.get("mode"));
        boolean others = (mode & WRITABLE_FOR_OTHERS) != 0;
        return !others
                && (ROOT.equals(owner)
                        || Files.getAttribute(process, UNIX + ":uid").equals(owner));
    }

    private static SelfSignedCertificate make() throws IOException, GeneralSecurityException {
        Instant now = Instant.now();
        return SelfSignedCertificate.make(
                "CN=localhost,O=Gateway self-signed",
                now.minus(Duration.ofDays(1)),
                now.plus(VALID),
                List.of("localhost"),
                List.of(InetAddress.getByName("127.0.0.1"), InetAddress.getByName("::1")));
    }

    private static void write(Path file, String content, String permissions) throws IOException {
        Path directory = file.toAbsolutePath().getParent();
        Path temporary = Files.createTempFile(directory, "new-", ".pem", FilePermissions.of(permissions));
        Files.write(temporary, content.getBytes(StandardCharsets.US_ASCII));
        Files.move(temporary, file, StandardCopyOption.REPLACE_EXISTING);
    }
}
