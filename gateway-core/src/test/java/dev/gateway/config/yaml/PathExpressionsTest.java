package dev.gateway.config.yaml;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.message.path.PathNormalizer;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The configuration knows by itself what the gateway makes of escapes in paths. */
class PathExpressionsTest {
    @Test
    void anExpressionMayHaveTheEscapesThatPathsHave() {
        for (int octet = 1; octet < 256; octet++) {
            for (String escape : new String[] {"%%%02X", "%%%02x"}) {
                String path = "/x" + String.format(Locale.ROOT, escape, octet) + "y";
                AsciiString bytes = new AsciiString(path);
                assertThat(hasNoProblem(path)).as(path).isEqualTo(bytes.equals(PathNormalizer.normalize(bytes)));
            }
        }
    }

    private static boolean hasNoProblem(String expression) {
        String config =
                """
                listeners: [{name: web, port: 8080, protocol: HTTP}]
                routes:
                  - rules:
                      - matches: [{path: {type: RegularExpression, value: "%s"}}]
                        backendRefs: [{name: app}]
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: 9000}]}]
                """
                        .formatted(expression);
        return ConfigLoader.parse("a.yaml", config.getBytes(StandardCharsets.UTF_8), Path.of("."), Map.of())
                .problems()
                .isEmpty();
    }
}
