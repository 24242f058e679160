package dev.gateway.tests.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/**
 * A project that uses the gateway, built by Maven as one of its own from the artifacts of this build. It finds these in a local
 * repository of the test, which has links to everything else that the machine has cached. So it works offline, with each
 * Maven 3, and the machine's own repository stays as it is.
 */
public final class ExampleProject {
    private static final String VERSION = "0.1.0-SNAPSHOT";
    private static final String OURS = "dev/gateway";

    private ExampleProject() {}

    /**
     * Builds one in an empty directory.
     *
     * @param options for Maven, besides the usual
     * @return the directory {@code target} of the project
     */
    public static Path build(Path sources, Path directory, String... options) throws IOException, InterruptedException {
        Path repository = directory.resolve("repository");
        link(cache(), repository, Path.of(OURS));
        install(repository, "gateway", Path.of("../pom.xml"));
        install(repository, "gateway-config", Path.of("../gateway-config/pom.xml"), "");
        install(repository, "gateway-core", Path.of("../gateway-core/pom.xml"), "", "-testkit");
        Path project = directory.resolve("project");
        copy(sources, project);
        List<String> command = new ArrayList<>(List.of(
                "env",
                "-u",
                "MAVEN_ARGS",
                "JAVA_HOME=" + System.getProperty("java.home"),
                maven(),
                "-o",
                "-B",
                "-q",
                "-f",
                project.resolve("pom.xml").toString(),
                "-Dmaven.repo.local=" + repository,
                // What was cached may be used, whatever the remote repository was called that it came from.
                "-Daether.enhancedLocalRepository.trackingFilename=none",
                "package"));
        command.addAll(List.of(options));
        Tools.Result result = Tools.run(300, command);
        assertThat(result.exit()).as(result.output()).isZero();
        return project.resolve("target");
    }

    /** Returns the jars that the manifest of a jar names. */
    public static List<Path> classPath(Path jar) throws IOException {
        try (JarFile file = new JarFile(jar.toFile())) {
            String value = file.getManifest().getMainAttributes().getValue("Class-Path");
            return Stream.of(value.split(" "))
                    .map(each -> Path.of(URI.create(each)))
                    .toList();
        }
    }

    /** Removes the links to the machine's own repository from the directory of a build, before somebody deletes it. */
    public static void removeLinks(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path link : files.filter(Files::isSymbolicLink).toList()) {
                Files.delete(link);
            }
        }
    }

    private static String maven() {
        String home = System.getProperty("maven.home");
        return home == null ? Tools.find("mvn") : Path.of(home, "bin", "mvn").toString();
    }

    private static Path cache() {
        String named = System.getProperty("maven.cache");
        return named != null ? Path.of(named) : Path.of(System.getProperty("user.home"), ".m2", "repository");
    }

    /** Fills a directory with links to what another has, but for what lies at a path below it. */
    private static void link(Path from, Path to, Path without) throws IOException {
        Files.createDirectories(to);
        try (Stream<Path> entries = Files.list(from)) {
            for (Path entry : entries.toList()) {
                Path name = entry.getFileName();
                if (!name.equals(without.getName(0))) {
                    Files.createSymbolicLink(to.resolve(name), entry.toAbsolutePath());
                } else if (without.getNameCount() > 1) {
                    link(entry, to.resolve(name), without.subpath(1, without.getNameCount()));
                }
            }
        }
    }

    /** Copies a POM, and the jars of its module with these ends of their names. */
    private static void install(Path repository, String artifact, Path pom, String... jars) throws IOException {
        Path directory = Files.createDirectories(
                repository.resolve(OURS).resolve(artifact).resolve(VERSION));
        String name = artifact + "-" + VERSION;
        Files.copy(pom, directory.resolve(name + ".pom"));
        for (String end : jars) {
            Path jar = pom.resolveSibling("target/" + name + end + ".jar");
            if (!Files.exists(jar)) {
                Tools.missing(jar + " is not built: mvn package makes it");
            }
            Files.copy(jar, directory.resolve(name + end + ".jar"));
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.filter(Files::isRegularFile)
                    .filter(each -> !each.startsWith(from.resolve("target")))
                    .toList()) {
                Path target = to.resolve(from.relativize(file).toString());
                Files.createDirectories(target.getParent());
                Files.copy(file, target);
            }
        }
    }
}
