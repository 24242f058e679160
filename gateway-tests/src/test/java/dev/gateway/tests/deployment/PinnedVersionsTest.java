package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the build and the tests download is pinned, and {@code renovate.json} finds each pin. */
@Timeout(60)
class PinnedVersionsTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern INSTALL_GO = Pattern.compile("(?m)^\\s*install_go (\\S+) \\S+@(\\S+)");

    @TempDir
    private Path directory;

    private static JsonNode renovate() throws IOException {
        return new ObjectMapper().readTree(ROOT.resolve("renovate.json").toFile());
    }

    /** Returns the versions that the robot finds in files below a directory, by the names that it looks for. */
    private static Map<String, String> found(String below) throws IOException {
        Map<String, String> found = new TreeMap<>();
        List<Path> files;
        try (Stream<Path> list = Files.list(ROOT.resolve(below))) {
            files = list.filter(Files::isRegularFile).toList();
        }
        for (JsonNode manager : renovate().get("customManagers")) {
            String pattern = manager.get("managerFilePatterns").get(0).asText();
            Pattern names = Pattern.compile(pattern.substring(1, pattern.length() - 1));
            Pattern pins = Pattern.compile(manager.get("matchStrings").get(0).asText());
            for (Path file : files) {
                if (names.matcher(ROOT.relativize(file).toString()).find()) {
                    pins.matcher(Files.readString(file))
                            .results()
                            .forEach(pin -> found.put(pin.group(1), pin.group(2)));
                }
            }
        }
        return found;
    }

    @Test
    void theRobotFindsEachProgramThatCiInstalls() throws IOException {
        List<String> versions = new ArrayList<>();
        for (String script : List.of("run", "advisories")) {
            INSTALL_GO
                    .matcher(Files.readString(ROOT.resolve(".ci").resolve(script)))
                    .results()
                    .forEach(call -> versions.add(call.group(2)));
        }
        assertThat(versions).hasSizeGreaterThan(3).doesNotContain("latest");
        Map<String, String> found = found(".ci");
        assertThat(found.remove("go")).matches("1\\.\\d+\\.\\d+");
        assertThat(found.values()).containsExactlyInAnyOrderElementsOf(versions);
        assertThat(found)
                .containsOnlyKeys(
                        "github.com/google/osv-scanner/v2",
                        "github.com/summerwind/h2spec",
                        "helm.sh/helm/v3",
                        "sigs.k8s.io/kustomize/kustomize/v5");
    }

    @Test
    void ciAndThePublicSuitesTakeTheSameH2spec() throws IOException {
        assertThat(found("gateway-tests/suites/driver"))
                .containsEntry("github.com/summerwind/h2spec", found(".ci").get("github.com/summerwind/h2spec"));
    }

    @Test
    void theRobotKnowsTheNewestErrorProneThatIsTaken() throws IOException {
        Matcher version =
                Pattern.compile("<error-prone.version>(.*?)</").matcher(Files.readString(ROOT.resolve("pom.xml")));
        assertThat(version.find()).isTrue();
        assertThat(renovate().get("packageRules").findValuesAsText("allowedVersions"))
                .contains("<=" + version.group(1));
    }

    @ParameterizedTest
    @CsvSource({"applications", "clients", "autobahn", "autobahn/tools"})
    void eachPythonPackageHasAVersionAndHashes(String name) throws IOException {
        String pins = Files.readString(Path.of(name, "requirements.txt"));
        assertThat(pins).contains("pip-compile").doesNotContain("index-url http", "--find-links");
        List<String> packages =
                Stream.of(pins.split("\n(?=[A-Za-z0-9])")).skip(1).toList();
        assertThat(packages).isNotEmpty().allSatisfy(one -> assertThat(one)
                .matches("(?s)[\\w.-]+==\\S+.*")
                .contains("--hash=sha256:"));
    }

    @Test
    void theWrapperChecksWhatItDownloads() throws IOException {
        assertThat(ROOT.resolve(".mvn/wrapper/maven-wrapper.properties"))
                .content()
                .containsPattern("(?m)^distributionType=only-script$")
                .containsPattern("(?m)^distributionUrl=https://.*apache-maven-3\\.9\\.\\d+-bin\\.zip$")
                .containsPattern("(?m)^distributionSha256Sum=[0-9a-f]{64}$");
    }

    /** Another version of a program is replaced, the one that is named is taken as it is. */
    @Test
    void aProgramOfAnotherVersionIsInstalledAnew() throws Exception {
        program(
                "go",
                """
                #!/bin/bash
                case $1 in
                  env) if [ "$2" = GOVERSION ]; then echo go1.21.0; else echo /nowhere; fi ;;
                  version) printf '\\tpath\\texample.com/tool/cmd/tool\\n\\tmod\\texample.com/tool\\t%s\\th1:x\\n' "$(cat "$HERE/is")" ;;
                  install) echo "${2##*@}" >"$HERE/is"; echo x >>"$HERE/installs" ;;
                esac
                """);
        program("tool", "#!/bin/bash\n");
        Files.writeString(directory.resolve("is"), "v1.0.0\n");
        String script = "export HERE=" + directory + " PATH=" + directory + ":$PATH; . " + ROOT.resolve(".ci/go-tools")
                + "; set -e; for i in 1 2; do install_go tool example.com/tool/cmd/tool@v1.1.0; done";
        Tools.Result result = Tools.run("bash", "-c", script);
        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(directory.resolve("is")).hasContent("v1.1.0");
        assertThat(directory.resolve("installs")).hasContent("x");
    }

    @Test
    void aGoThatIsTooOldIsReplaced() throws Exception {
        program(
                "go",
                """
                #!/bin/bash
                case $1 in
                  env) case $2 in GOVERSION) echo go1.19.8 ;; GOARCH) echo amd64 ;; *) echo /nowhere ;; esac ;;
                  mod) printf '{\\n\\t"Version": "%s",\\n\\t"Dir": "%s"\\n}\\n' "${4#*@}" "$HERE/new" ;;
                esac
                """);
        Path programs = Files.createDirectories(directory.resolve("new/bin"));
        Files.createDirectories(directory.resolve("new/pkg/tool/linux_amd64"));
        Files.writeString(directory.resolve("new/pkg/tool/linux_amd64/compile"), "");
        Files.writeString(programs.resolve("go"), "#!/bin/bash\necho /nowhere\n"); // may not be run yet
        Tools.Result result = Tools.run(
                "bash",
                "-euc",
                "HERE=" + directory + "; export HERE; PATH=" + directory + ":$PATH; . " + ROOT.resolve(".ci/go-tools")
                        + "; command -v go");
        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output().strip().lines())
                .last()
                .isEqualTo(programs.resolve("go").toString());
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "1, 1", "127, 3", "128, 3", "129, 3", "2, 2"})
    void theCheckOfAdvisoriesTellsWhetherItCompared(int scanner, int status) throws Exception {
        Path tool = program("scanner", "#!/bin/sh\nexit " + scanner + "\n");
        Path sbom = Files.writeString(directory.resolve("gateway.cdx.json"), "{}");
        Tools.Result result = Tools.run(
                "env", "OSV_SCANNER=" + tool, ROOT.resolve(".ci/advisories").toString(), sbom.toString());
        assertThat(result.exit()).as(result.output()).isEqualTo(status);
        assertThat(result.output().contains("nothing was compared")).isEqualTo(status == 3);
    }

    @Test
    void theCheckOfAdvisoriesSaysThatItHasNoScannerIfGoIsTooOldAndCannotBeReplaced() throws Exception {
        program(
                "go",
                """
                #!/bin/bash
                case $1 in
                  env) case $2 in GOVERSION) echo go1.19.8 ;; *) echo /nowhere ;; esac ;;
                  *) exit 1 ;;
                esac
                """);
        Path sbom = Files.writeString(directory.resolve("gateway.cdx.json"), "{}");
        Tools.Result result = Tools.run(
                "env",
                "-u",
                "OSV_SCANNER",
                "PATH=" + directory + ":" + System.getenv("PATH"),
                ROOT.resolve(".ci/advisories").toString(),
                sbom.toString());
        assertThat(result.exit()).as(result.output()).isEqualTo(2);
    }

    private Path program(String name, String content) throws IOException {
        Path file = Files.writeString(directory.resolve(name), content);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
}
