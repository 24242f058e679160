package dev.gateway.tests.clients;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.Tools;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** h2spec's suites generic, http2 and hpack, in its strict mode. */
@Tag("platform")
class H2specIT {
    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void allCasesPass(boolean tls) throws Exception {
        String h2spec = Tools.find("h2spec");
        // On a port that speaks HTTP/1.1 as well, a wrong preface is a wrong HTTP/1.1 request.
        List<String> expected = tls ? List.of() : List.of("Sends invalid connection preface");
        Path report = directory.resolve("report.xml");
        try (Origin origin = Origin.start().on("/", Behaviors.text("hello"));
                Rig rig = Rig.to(origin, Pairing.H2_TO_H1).start()) {
            List<String> command = new ArrayList<>(List.of(h2spec, "-h", "127.0.0.1", "-p"));
            command.add(Integer.toString(tls ? rig.tlsPort() : rig.port()));
            command.addAll(List.of("-S", "-P", "/", "-o", "3", "-j", report.toString()));
            if (tls) {
                command.addAll(List.of("-t", "-k"));
            }
            command.addAll(List.of("generic", "http2", "hpack"));
            Tools.Result result = Tools.run(240, command);
            String counts = result.output()
                    .lines()
                    .filter(line -> line.matches("\\d+ tests, .*"))
                    .reduce((a, b) -> b)
                    .orElse("no counts");
            System.out.println("h2spec: " + (tls ? "TLS: " : "cleartext: ") + counts);

            assertThat(Files.exists(report)).as(result.output()).isTrue();
            List<String> failed = failures(report);
            assertThat(failed).as(result.output()).containsExactlyInAnyOrderElementsOf(expected);
            assertThat(counts).startsWith("146 tests, ").contains(" 0 skipped");
        }
    }

    private static List<String> failures(Path report) throws Exception {
        NodeList cases = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(report.toFile())
                .getElementsByTagName("testcase");
        assertThat(cases.getLength()).isGreaterThan(140);
        List<String> failed = new ArrayList<>();
        for (int i = 0; i < cases.getLength(); i++) {
            Element test = (Element) cases.item(i);
            if (test.getElementsByTagName("failure").getLength() > 0
                    || test.getElementsByTagName("error").getLength() > 0) {
                failed.add(test.getAttribute("classname"));
            }
        }
        return failed;
    }
}
