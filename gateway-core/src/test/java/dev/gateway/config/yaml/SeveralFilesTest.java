package dev.gateway.config.yaml;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.route.RouteConfig;
import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.files.FileWatch;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A configuration in several files: {@code include}, or a directory in place of a file. */
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class SeveralFilesTest {
    private static final String LISTENER = "listeners: [{name: web, port: 8080, protocol: HTTP}]\n";
    private static final String APP =
            """
            routes: [{name: app, hostnames: [app.test], rules: [{backendRefs: [{name: app}]}]}]
            upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: 9000}]}]
            """;

    @TempDir
    Path directory;

    private Path write(String name, String text) throws IOException {
        Path file = directory.resolve(name);
        Files.createDirectories(file.getParent());
        return Files.writeString(file, text);
    }

    private static String site(String name) {
        return APP.replace("app", name);
    }

    private LoadResult load(String name) {
        return ConfigLoader.load(directory.resolve(name), Map.of("STAGE", "test"));
    }

    /** Returns what is said about a file, with names that start at the directory. */
    private List<String> problems(String name) {
        return load(name).problems().stream()
                .map(each -> each.toString().replace(directory + "/", "").replace(directory.toString(), "."))
                .toList();
    }

    private GatewayConfig valid(String name) {
        LoadResult result = load(name);
        assertThat(result.problems()).isEmpty();
        return ((LoadResult.Valid) result).config();
    }

    private List<String> routes(String name) {
        return valid(name).routes().stream().map(RouteConfig::name).toList();
    }

    @Test
    void listsAreJoinedInOrderAndSectionsMayStandAnywhere() throws IOException {
        write("gateway.yaml", "include: [last.yaml, sites/*.yaml]\n" + LISTENER + site("own"));
        write("last.yaml", site("last") + "workers: 3\n");
        write("sites/b.yaml", site("b"));
        write("sites/a.yaml", site("a") + "drain: {timeout: 7s}\ninclude: [more/*.yaml]\n");
        write("sites/more/c.yaml", site("c") + "listeners: [{name: more, port: 8081, protocol: HTTP}]\n");
        GatewayConfig config = valid("gateway.yaml");
        assertThat(config.routes().stream().map(RouteConfig::name)).containsExactly("own", "last", "a", "c", "b");
        assertThat(config.upstreams().stream().map(UpstreamConfig::name)).containsExactly("own", "last", "a", "c", "b");
        assertThat(config.listeners().stream().map(ListenerConfig::name)).containsExactly("web", "more");
        assertThat(config.workers()).isEqualTo(3);
        assertThat(config.drain().timeout()).hasSeconds(7);
        assertThat(config.routes().get(3).position()).hasToString(directory.resolve("sites/more/c.yaml") + ":1:10");
    }

    @Test
    void whatIsPrintedIsOneFileThatLoadsAgain() throws IOException {
        write("gateway.yaml", "include: [site.yaml]\n" + LISTENER);
        write("site.yaml", APP);
        String printed = ConfigPrinter.yaml(valid("gateway.yaml"));
        assertThat(printed).doesNotContain("include:").contains("name: app");
        write("printed/gateway.yaml", printed);
        assertThat(ConfigPrinter.yaml(valid("printed/gateway.yaml"))).isEqualTo(printed);
    }

    @Test
    void aDirectoryStandsForItsYamlFilesByName() throws IOException {
        write("conf/20-b.yaml", site("b"));
        write("conf/10-a.yaml", site("a"));
        write("conf/listeners.yaml", LISTENER);
        write("conf/.hidden.yaml", "x");
        write("conf/notes.txt", "x");
        write("conf/endpoints.json", "[]");
        write("conf/below/c.yaml", "x");
        assertThat(routes("conf")).containsExactly("a", "b");
        write("conf/c.yml", site("c"));
        assertThat(problems("conf"))
                .containsExactly(
                        "conf/c.yml: warning: this file is not read: the name of a file in a directory must end"
                                + " in .yaml");
    }

    @Test
    void aDirectoryWithoutFilesIsAMistake() throws IOException {
        Files.createDirectory(directory.resolve("conf"));
        assertThat(problems("conf")).containsExactly("conf: no file in this directory is named *.yaml");
        write("conf/a.yaml", APP);
        assertThat(problems("conf")).containsExactly("conf: a configuration needs 'listeners'");
    }

    /** As Kubernetes mounts a ConfigMap: what it was updated from lies beside it, and begins with dots. */
    @Test
    void aMountedConfigMapHasEachFileOnce() throws IOException {
        write("mount/..2026_01/a.yaml", LISTENER.replace("port: 8080", "unix: web.sock") + "include: [more]\n");
        write("mount/..2026_01/b.yaml", site("b"));
        write("mount/..2026_01/more", site("c"));
        Path mount = directory.resolve("mount");
        Files.createSymbolicLink(mount.resolve("..data"), Path.of("..2026_01"));
        for (String name : List.of("a.yaml", "b.yaml", "more")) {
            Files.createSymbolicLink(mount.resolve(name), Path.of("..data", name));
        }
        assertThat(routes("mount")).containsExactly("c", "b");
        assertThat(valid("mount").listeners().get(0).bind().unix())
                .as("relative paths start beside the link")
                .isEqualTo(mount.resolve("web.sock"));
    }

    @Test
    void relativePathsStartAtTheDirectoryOfTheirFile() throws IOException {
        write("gateway.yaml", "include: [sub/more.yaml]\nlisteners: [{name: a, unix: a.sock, protocol: HTTP}]\n" + APP);
        write(
                "sub/more.yaml",
                """
                listeners:
                  - {name: b, unix: b.sock, protocol: HTTP}
                  - {name: c, port: 8443, protocol: HTTPS, tls: {selfSigned: true}}
                accessLog: {path: access.log}
                """);
        GatewayConfig config = valid("gateway.yaml");
        assertThat(config.listeners().get(0).bind().unix()).isEqualTo(directory.resolve("a.sock"));
        assertThat(config.listeners().get(1).bind().unix()).isEqualTo(directory.resolve("sub/b.sock"));
        assertThat(config.accessLog().target().file()).isEqualTo(directory.resolve("sub/access.log"));
        assertThat(ConfigPrinter.yaml(config))
                .as("it stays where it is when a listener moves to another file")
                .contains("selfSignedDirectory: " + directory.resolve(".gateway"));
        write("sub/more.yaml", "admin: {tokenFile: token}\n");
        write("token", "0123456789abcdef0123456789abcdef\n");
        assertThat(problems("gateway.yaml")).singleElement().asString().startsWith("sub/more.yaml:1:20: tokenFile: ");
        Path token = write("sub/token", "0123456789abcdef0123456789abcdef\n");
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-rw-rw-"));
        assertThat(problems("gateway.yaml"))
                .singleElement()
                .asString()
                .startsWith("sub/more.yaml:1:20: warning: tokenFile: every user of this machine may write sub/token");
    }

    @Test
    void everyMistakeHasItsFileInTheOrderOfTheFiles() throws IOException {
        write("gateway.yaml", "include: [b.yaml, a.yaml]\n\n\n\nworkers: none\n" + LISTENER);
        write("b.yaml", APP.replace("port: 9000", "prt: 9000"));
        write("a.yaml", "drain: {timeout: 5}\n");
        assertThat(problems("gateway.yaml"))
                .map(each -> each.replaceAll("(expected|an endpoint).*", "$1"))
                .containsExactly(
                        "gateway.yaml:5:10: workers: expected",
                        "b.yaml:2:55: unknown key 'prt' in an endpoint",
                        "a.yaml:1:18: timeout: expected");
    }

    @Test
    void whatStandsTwiceIsShownWithBothPlaces() throws IOException {
        write("gateway.yaml", "include: [more.yaml]\n" + LISTENER + APP + "admin: {port: 9902}\nworkers: 1\n");
        write("more.yaml", LISTENER + "\n" + APP + "workers: 1\nadmin: {port: 9903}\nadmi: {}\n");
        assertThat(problems("gateway.yaml"))
                .containsExactly(
                        "more.yaml:1:20: duplicate listener 'web': first defined in gateway.yaml:2:20",
                        "more.yaml:1:31: port 8080 is already bound by listener 'web' in gateway.yaml:2:31",
                        "more.yaml:3:17: duplicate route 'app': first defined in gateway.yaml:3:17",
                        "more.yaml:3:53: warning: this match is never reached: gateway.yaml:3:53 has the same one, and"
                                + " comes first",
                        "more.yaml:4:20: duplicate upstream 'app': first defined in gateway.yaml:4:20",
                        "more.yaml:5:1: duplicate key 'workers', first written in gateway.yaml:6:1: only lists are joined",
                        "more.yaml:6:1: duplicate key 'admin', first written in gateway.yaml:5:1: only lists are joined",
                        "more.yaml:7:1: unknown key 'admi' in a configuration: did you mean 'admin', which is already in"
                                + " gateway.yaml:5:1?");
    }

    @Test
    void aKeyThatThereIsNotIsNamedInEachFile() throws IOException {
        write("gateway.yaml", "include: [a.yaml]\nclusterz: []\n" + LISTENER + APP);
        write("a.yaml", "clusterz: []\n");
        assertThat(problems("gateway.yaml"))
                .hasSize(2)
                .anyMatch(each -> each.startsWith("gateway.yaml:2:1: unknown key 'clusterz'"))
                .anyMatch(each -> each.startsWith("a.yaml:1:1: unknown key 'clusterz'"));
    }

    /** Lists are joined, so the list of another file is not in the way, and what the misspelt one has is not missed. */
    @Test
    void aMisspeltListIsToldByItsFile() throws IOException {
        String entry = "[{name: b, endpoints: [{host: 127.0.0.1, port: 9001}]}]\n";
        String route = "routes: [{name: b, hostnames: [b.test], rules: [{backendRefs: [{name: b}]}]}]\n";
        write("gateway.yaml", "include: [a.yaml]\n" + LISTENER + APP);
        write("a.yaml", "upstream: " + entry + route);
        String message = "a.yaml:1:1: unknown key 'upstream' in a configuration: did you mean 'upstreams'";
        assertThat(problems("gateway.yaml")).containsExactly(message + "?");
        write("a.yaml", "upstream: []\nupstreams: " + entry + route);
        assertThat(problems("gateway.yaml")).containsExactly(message + ", which is already in line 2?");
        write("gateway.yaml", "include: [a.yaml]\nupstream: []\n" + LISTENER + APP);
        write("a.yaml", "upstream: " + entry + route);
        assertThat(problems("gateway.yaml"))
                .containsExactly(
                        "gateway.yaml:2:1: unknown key 'upstream' in a configuration: did you mean 'upstreams', which is"
                                + " already in line 5?",
                        message + "?");
    }

    @Test
    void aListThatIsNoneIsAllThatIsSaid() throws IOException {
        write("gateway.yaml", "include: [a.yaml, b.yaml]\n" + LISTENER + APP);
        write("a.yaml", "upstreams: {name: b, endpoints: []}\n");
        write("b.yaml", "routes: [{name: b, hostnames: [b.test], rules: [{backendRefs: [{name: b}]}]}]\n");
        assertThat(problems("gateway.yaml"))
                .singleElement()
                .asString()
                .startsWith("a.yaml:1:12: upstreams: expected a list, not a mapping");
        write("gateway.yaml", "include: [a.yaml, b.yaml]\n" + LISTENER);
        write("b.yaml", APP);
        assertThat(problems("gateway.yaml"))
                .as("the first value is not a list")
                .singleElement()
                .asString()
                .startsWith("a.yaml:1:12: upstreams: expected a list");
    }

    /** It would be said that what it defines is missing. */
    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            quoteCharacter = '`',
            textBlock =
                    """
                    ` `              => site.yaml:1:1: the file is empty: write {} for nothing, or remove the file
                    `# nothing`      => site.yaml:1:1: the file is empty: write {} for nothing, or remove the file
                    `a: [`           => site.yaml:1:5: not valid YAML
                    `[app]`          => site.yaml:1:1: the file: expected a mapping (a configuration with keys such as
                    `routes: []\ta:` => site.yaml:1:12: not valid YAML
                    `a: &a 1`        => site.yaml:1:1: unknown key 'a'
                    `include: {}`    => site.yaml:1:10: include: expected a list, not a mapping
                    """)
    void aFileThatCannotBeReadIsAllThatIsSaid(String text, String problem) throws IOException {
        write(
                "gateway.yaml",
                "include: [site.yaml]\n" + LISTENER
                        + (problem.contains("unknown")
                                ? APP
                                : site("x").lines().findFirst().orElseThrow()));
        write("site.yaml", text);
        assertThat(problems("gateway.yaml")).singleElement().asString().startsWith(problem);
        write("gateway.yaml", "include: [site.yaml]\n");
        assertThat(problems("gateway.yaml")).as("without listeners").anyMatch(each -> each.startsWith(problem));
    }

    @Test
    void whatIsMissingIsAMistakeAndAPatternWithoutFilesAWarning() throws IOException {
        write("gateway.yaml", "include: [no.yaml, sites, none/*.yaml, gateway.yaml/*.yaml]\n" + LISTENER + APP);
        Files.createDirectory(directory.resolve("sites"));
        assertThat(problems("gateway.yaml"))
                .containsExactly(
                        "gateway.yaml:1:11: include: there is no file no.yaml",
                        "gateway.yaml:1:20: include: sites is a directory: write sites/*.yaml",
                        "gateway.yaml:1:27: include: there is no directory none",
                        "gateway.yaml:1:40: include: gateway.yaml is a file, not a directory");
        write("gateway.yaml", "include: [sites/*.yaml]\n" + LISTENER + APP);
        assertThat(problems("gateway.yaml"))
                .containsExactly("gateway.yaml:1:11: warning: include: no file matches sites/*.yaml");
    }

    @Test
    void aCycleIsAMistake() throws IOException {
        write("gateway.yaml", "include: [a.yaml]\n" + LISTENER + APP);
        write("a.yaml", "include: [b.yaml, a.yaml]\n");
        write("b.yaml", "include: [gateway.yaml, a.yaml]\n");
        assertThat(problems("gateway.yaml"))
                .containsExactly(
                        "a.yaml:1:19: include: a file cannot include itself",
                        "b.yaml:1:11: include: a cycle: gateway.yaml leads to this file by its own 'include'",
                        "b.yaml:1:25: include: a cycle: a.yaml leads to this file by its own 'include'");
        write("a.yaml", "{}");
        write("gateway.yaml", "include: ['*.yaml']\n" + LISTENER + APP);
        Files.delete(directory.resolve("b.yaml"));
        assertThat(problems("gateway.yaml"))
                .containsExactly("gateway.yaml:1:11: include: a file cannot include itself");
    }

    /** Also by another name. */
    @Test
    void aLinkToAFileIsTheFile() throws IOException {
        write("gateway.yaml", "include: [link.yaml]\n" + LISTENER + APP);
        Files.createSymbolicLink(directory.resolve("link.yaml"), Path.of("gateway.yaml"));
        assertThat(problems("gateway.yaml"))
                .containsExactly("gateway.yaml:1:11: include: a file cannot include itself");
    }

    @Test
    void aFileIsPartOfAConfigurationOnce() throws IOException {
        write("gateway.yaml", "include: [a.yaml, sub/../a.yaml, link.yaml, '*.yam?']\n" + LISTENER);
        write("a.yaml", APP);
        Files.createDirectory(directory.resolve("sub"));
        Files.createSymbolicLink(directory.resolve("link.yaml"), Path.of("a.yaml"));
        assertThat(problems("gateway.yaml"))
                .containsExactly(
                        "gateway.yaml:1:19: include: a.yaml is included already, in line 1",
                        "gateway.yaml:1:34: include: link.yaml is included already, in line 1",
                        "gateway.yaml:1:45: include: a.yaml is included already, in line 1",
                        "gateway.yaml:1:45: include: a file cannot include itself",
                        "gateway.yaml:1:45: include: link.yaml is included already, in line 1");
        Files.delete(directory.resolve("gateway.yaml"));
        write("l.yaml", LISTENER);
        assertThat(problems("")).containsExactly("link.yaml: link.yaml is read already, as a.yaml");
    }

    @Test
    void linksAreFollowedAndLinksToNothingAreMistakes() throws IOException {
        write("gateway.yaml", "include: [sites/*.yaml]\n" + LISTENER);
        write("elsewhere/app", APP);
        Files.createDirectory(directory.resolve("sites"));
        Files.createSymbolicLink(directory.resolve("sites/app.yaml"), Path.of("../elsewhere/app"));
        assertThat(routes("gateway.yaml")).containsExactly("app");
        Files.createSymbolicLink(directory.resolve("sites/b.yaml"), Path.of("nothing"));
        assertThat(problems("gateway.yaml"))
                .containsExactly("gateway.yaml:1:11: include: sites/b.yaml is a symbolic link to nothing, which does"
                        + " not exist");
    }

    @Test
    void filesMayLieAnywhereAndVariablesMayNameThem() throws IOException {
        write(
                "conf/gateway.yaml",
                "include: [../%s, '${STAGE}.yaml', %s]\n".formatted("up.yaml", directory + "/abs.yaml"));
        write("up.yaml", LISTENER);
        write("conf/test.yaml", APP);
        write("abs.yaml", site("absolute"));
        assertThat(routes("conf/gateway.yaml")).containsExactly("app", "absolute");
    }

    @Test
    void thereIsAnEndToFilesAndToTheirSize() throws IOException {
        write("gateway.yaml", "include: [sites/*.yaml]\n" + LISTENER + APP);
        String padding = "# ".repeat(500_000) + "\n";
        write("sites/a.yaml", "# ".repeat(600_000) + "\n{}");
        assertThat(problems("gateway.yaml"))
                .containsExactly("gateway.yaml:1:11: include: sites/a.yaml is larger than 1 MiB");
        for (int i = 0; i < 9; i++) {
            write("sites/a" + i + ".yaml", padding + "{}");
        }
        Files.delete(directory.resolve("sites/a.yaml"));
        assertThat(problems("gateway.yaml"))
                .containsExactly("gateway.yaml:1:11: include: all files together are larger than 8 MiB");
        for (int i = 0; i < ConfigTree.MOST_FILES; i++) {
            write("sites/a" + i + ".yaml", "{}");
        }
        assertThat(problems("gateway.yaml")).containsExactly("gateway.yaml:1:11: include: more than 1000 files");
        Files.delete(directory.resolve("sites/a0.yaml"));
        assertThat(routes("gateway.yaml")).containsExactly("app");
    }

    @Test
    void whatEverybodyMayWriteIsNamed() throws IOException {
        write("gateway.yaml", "include: [sites/*.yaml]\n" + LISTENER);
        Path site = write("sites/app.yaml", APP);
        Files.setPosixFilePermissions(site, PosixFilePermissions.fromString("rw-rw-rw-"));
        Files.setPosixFilePermissions(site.resolveSibling(""), PosixFilePermissions.fromString("rwxrwxrwx"));
        assertThat(problems("gateway.yaml"))
                .containsExactly(
                        "gateway.yaml:1:11: warning: include: every user of this machine may add files to sites: 'chmod o-w'"
                                + " prevents that",
                        "gateway.yaml:1:11: warning: include: every user of this machine may write sites/app.yaml: 'chmod"
                                + " o-w' prevents that");
    }

    /** As Kubernetes mounts a ConfigMap, in a directory of mode 777. */
    @Test
    void whatNobodyCanWriteIsNotNamed() throws IOException {
        Path zip = directory.resolve("mount.zip");
        Map<String, String> forWriting = Map.of("create", "true", "enablePosixFileAttributes", "true");
        try (FileSystem files = FileSystems.newFileSystem(zip, forWriting)) {
            Path mount = Files.createDirectory(files.getPath("/mount"));
            Files.setPosixFilePermissions(mount, PosixFilePermissions.fromString("rwxrwxrwx"));
            Path site = Files.writeString(mount.resolve("site.yaml"), LISTENER + APP);
            Files.setPosixFilePermissions(site, PosixFilePermissions.fromString("rw-rw-rw-"));
            assertThat(ConfigLoader.load(mount).problems()).hasSize(2);
        }
        Map<String, String> readOnly = Map.of("accessMode", "readOnly", "enablePosixFileAttributes", "true");
        try (FileSystem files = FileSystems.newFileSystem(zip, readOnly)) {
            int writable = files.isReadOnly() ? 0 : 2; // Java 17 opens an archive of the superuser for writing, too
            assertThat(ConfigLoader.load(files.getPath("/mount")).problems()).hasSize(writable);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            textBlock =
                    """
                    https://a.test/x.yaml => expected a file name, not 'https://a.test/x.yaml': a URL cannot be included; name a file
                    sites/**/x.yaml => expected * and ? in the name of the file only, not 'sites/**/x.yaml': write a pattern for each directory
                    sites/*/x.yaml => expected * and ? in the name of the file only, not 'sites/*/x.yaml': write a pattern for each directory
                    a.{yaml,yml} => expected a file name in which only * and ? have a meaning, not 'a.{yaml,yml}': write each pattern alone
                    ~/x.yaml => expected a file name, not '~/x.yaml': write the home directory out
                    """)
    void anIncludeInAnotherFormIsExplained(String written, String problem) throws IOException {
        write("gateway.yaml", "include: ['" + written + "']\n" + LISTENER + APP);
        assertThat(problems("gateway.yaml")).containsExactly("gateway.yaml:1:11: include: " + problem);
    }

    @Test
    void filesMayBeJson() throws IOException {
        String root =
                """
                {
                  "include": ["sites/*.json"],
                  "listeners": [{"name": "web", "port": 8080, "protocol": "HTTP", "limits": {"maxBody": "10MiB"}}],
                  "admin": ADMIN
                }
                """;
        String upstreams =
                """
                {"upstreams":[{"name":"app","endpoints":[{"host":"127.0.0.1","prt":9000}]}]}
                """;
        write("gateway.json", root.replace("ADMIN", "null"));
        write(
                "sites/app.json",
                "{\n\t\"routes\": [{\"name\": \"app\",\n\t\"rules\": [{\"backendRefs\": [{\"name\": \"app\"}]}]}]\n}");
        write("sites/upstreams.json", upstreams);
        assertThat(problems("gateway.json"))
                .anyMatch(each -> each.startsWith("gateway.json:4:12: admin has no value"))
                .anyMatch(each -> each.startsWith("sites/upstreams.json:1:62: unknown key 'prt' in an endpoint"));
        write("gateway.json", root.replace("ADMIN", "{\"port\": 9901}"));
        write("sites/upstreams.json", upstreams.replace("prt", "port"));
        assertThat(routes("gateway.json")).containsExactly("app");
    }

    @Test
    void aTextMayIncludeFiles() throws IOException {
        write("site.yaml", APP);
        LoadResult result = ConfigLoader.parse(
                "text", ("include: [site.yaml]\n" + LISTENER).getBytes(StandardCharsets.UTF_8), directory, Map.of());
        assertThat(result).isInstanceOf(LoadResult.Valid.class);
    }

    @Test
    void everyFileIsWatchedWhateverIsWrongWithIt() throws IOException {
        write("gateway.yaml", "include: [a.yaml, missing.yaml, sites/*.yaml]\n" + LISTENER);
        write("a.yaml", "[");
        write("sites/b.yaml", "x: 1");
        FileWatch watch = ConfigLoader.watch(directory.resolve("gateway.yaml"));
        assertThat(watch.hasChanged()).isFalse();
        for (String each : List.of("gateway.yaml", "a.yaml", "missing.yaml", "sites/b.yaml", "sites/new.yaml")) {
            watch.reading();
            write(each, "changed: " + each);
            assertThat(watch.hasChanged()).as(each).isTrue();
        }
        watch.reading();
        write("sites/.c.yaml.swp", "not a file of the configuration");
        assertThat(watch.hasChanged()).isFalse();
    }

    /** Else a reload that fails would be repeated for ever. */
    @Test
    void whatIsNamedAsAFileAndAsADirectoryDoesNotChangeByItself() throws IOException {
        Path root = write("gateway.yaml", "include: [sites, sites/*.yaml, gateway.yaml/*.yaml]\n" + LISTENER);
        write("sites/a.yaml", APP);
        FileWatch watch = ConfigLoader.watch(root);
        assertThat(watch.hasChanged()).isFalse();
        write("sites/.a.yaml.swp", "what an editor keeps");
        assertThat(watch.hasChanged()).isFalse();
        write("gateway.yaml", "include: [sites/*.yaml]\n" + LISTENER);
        assertThat(watch.hasChanged()).isTrue();
    }

    @Test
    void filesThatAreTooManyAreNotWatched() throws IOException {
        Path root = write("gateway.yaml", "include: [a/*.yaml, b/*.yaml, c/*.yaml]\n" + LISTENER);
        for (int i = 0; i < 600; i++) {
            write("a/" + i + ".yaml", "{}");
            write("b/" + i + ".yaml", "{}");
        }
        write("c/c.yaml", "{}");
        FileWatch watch = ConfigLoader.watch(root);
        write("c/c.yaml", "changed");
        assertThat(watch.hasChanged()).isFalse();
        Files.delete(directory.resolve("b/599.yaml"));
        assertThat(watch.hasChanged()).isTrue();
    }
}
