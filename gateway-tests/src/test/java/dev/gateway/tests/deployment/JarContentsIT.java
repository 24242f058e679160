package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.GatewayJar;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The jars have all that our classes reach of libraries of which they have a part only: the filters of the shade plugin in
 * gateway-core's POM. Each reference in a class file counts, whether the code comes there or not.
 */
@Tag("jar")
@Timeout(120)
class JarContentsIT {
    /** Where classes are left out. */
    private static final List<String> IN_PART =
            List.of("org/bouncycastle/", "org/apache/commons/codec/", "io/netty/handler/codec/");

    /**
     * Works with Bouncy Castle, which it looks for by name, and not without: Netty's reader of private keys, which asks the
     * JDK then. The gateway reads keys by itself.
     */
    private static final String OPTIONAL = "io/netty/handler/ssl/BouncyCastlePemReader";

    private static Set<String> entries(Path jar) throws IOException {
        try (JarFile file = new JarFile(jar.toFile())) {
            return file.stream()
                    .filter(entry -> !entry.isDirectory())
                    .map(JarEntry::getName)
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    private static boolean isNative(String entry) {
        return entry.matches("(META-INF/native|lib|linux)/.*");
    }

    private static boolean exists(String name) {
        return JarContentsIT.class.getClassLoader().getResource(name) != null;
    }

    @Test
    void everyClassThatIsReachedIsThere() throws Exception {
        Set<String> reached = new TreeSet<>();
        Map<String, String> missing = new TreeMap<>();
        try (JarFile jar = new JarFile(GatewayJar.file().toFile())) {
            Deque<String> next = new ArrayDeque<>();
            jar.stream()
                    .map(JarEntry::getName)
                    .filter(name -> name.startsWith("dev/gateway/") && name.endsWith(".class"))
                    .forEach(next::add);
            reached.addAll(next);
            while (!next.isEmpty()) {
                String from = next.remove();
                if (from.startsWith(OPTIONAL)) {
                    continue;
                }
                byte[] content;
                try (InputStream in = jar.getInputStream(jar.getJarEntry(from))) {
                    content = in.readAllBytes();
                }
                for (String to : ClassReferences.in(content)) {
                    String entry = to + ".class";
                    if (jar.getJarEntry(entry) != null) {
                        if (reached.add(entry)) {
                            next.add(entry);
                        }
                    } else if (IN_PART.stream().anyMatch(entry::startsWith) && exists(entry)) {
                        missing.putIfAbsent(entry, "reached from " + from);
                    }
                }
            }
        }
        assertThat(missing).isEmpty();
        // Otherwise it has looked at nothing.
        assertThat(reached)
                .contains(
                        "org/apache/commons/codec/digest/Md5Crypt.class",
                        "org/bouncycastle/crypto/digests/Blake2bDigest.class",
                        "org/bouncycastle/asn1/DEROutputStream.class",
                        "io/netty/handler/codec/http/HttpHeaderNames.class");
    }

    @Test
    void whatIsLeftOutIsNotThere() throws Exception {
        assertThat(entries(GatewayJar.file()))
                .noneMatch(entry -> entry.matches("META-INF/versions/[0-9]+/org/bouncycastle/.*"))
                .noneMatch(entry -> entry.startsWith("org/bouncycastle/jce/"))
                .noneMatch(entry -> entry.startsWith("org/bouncycastle/pqc/"))
                .noneMatch(entry -> entry.startsWith("io/netty/pkitesting/"))
                .noneMatch(entry ->
                        entry.matches("io/lettuce/core/(.*/coroutines|dynamic|failover|masterreplica|support)/.*"))
                .noneMatch(entry -> entry.contains("protobuf/"))
                .noneMatch(entry -> entry.matches(".*[/_]quic(he)?[/_.].*"));
    }

    @Test
    void theJarOfAPlatformLacksNativeLibrariesOfOthersOnly() throws Exception {
        Set<String> all = entries(GatewayJar.file());
        Map<String, String> patterns = Map.of(
                "linux-x86_64", ".*_x86_64\\.so|lib/linux-x86_64/.*|linux/amd64/.*",
                "linux-aarch_64", ".*_aarch_64\\.so|lib/linux-aarch64/.*|linux/aarch64/.*");
        for (Map.Entry<String, String> platform : patterns.entrySet()) {
            Set<String> expected = all.stream()
                    .filter(entry -> !isNative(entry) || entry.matches(platform.getValue()))
                    .collect(Collectors.toCollection(TreeSet::new));
            assertThat(expected).hasSizeLessThan(all.size());
            Path jar = GatewayJar.file(platform.getKey());
            assertThat(entries(jar)).isEqualTo(expected);
            assertThat(expected.stream().filter(JarContentsIT::isNative))
                    .as("BoringSSL, epoll, io_uring, Brotli, Zstandard")
                    .hasSize(5);
        }
    }
}
