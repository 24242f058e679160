package dev.gateway.listener.assembly;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.LoadResult;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.value.ConfigEquality;
import dev.gateway.config.yaml.ConfigLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ListenerAssemblyTest {
    @TempDir
    Path directory;

    /** Files of TLS are read again only if something else comes of it. */
    @ParameterizedTest
    @CsvSource({"keep, close, true", "selfSigned, '\n        selfSigned', true", "refuse, firstCertificate, false"})
    void tlsIsTheSameIfHandshakesGoByTheSame(String from, String to, boolean same) throws Exception {
        String tls = "selfSigned: true, unknownServerName: refuse, clientCaChange: keep";
        String other = tls.replace(from, to);
        assertThat(ConfigEquality.isSame(ListenerAssembly.tls(listener(tls)), ListenerAssembly.tls(listener(other))))
                .isEqualTo(same);
    }

    private ListenerConfig listener(String tls) {
        String text = "listeners: [{name: web, port: 8443, protocol: HTTPS, tls: {" + tls + "}}]\n";
        LoadResult result = ConfigLoader.parse("test", text.getBytes(StandardCharsets.UTF_8), directory, Map.of());
        assertThat(result).as("%s", result.problems()).isInstanceOf(LoadResult.Valid.class);
        return ((LoadResult.Valid) result).config().listeners().get(0);
    }
}
