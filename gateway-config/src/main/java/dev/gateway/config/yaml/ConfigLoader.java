package dev.gateway.config.yaml;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.filter.FilterDeclaration;
import dev.gateway.config.value.Position;
import dev.gateway.config.yaml.check.Checks;
import dev.gateway.config.yaml.schema.RootSchema;
import dev.gateway.config.yaml.schema.filter.FilterTypes;
import dev.gateway.config.yaml.type.Node;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Problems;
import dev.gateway.config.yaml.type.Scope;
import dev.gateway.config.yaml.type.Variables;
import dev.gateway.files.FileFault;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads configurations: finds every problem at once, each with its place. Blocks on files; not for event loops. A
 * configuration that was loaded is complete and consistent, and its certificates could be read.
 */
public final class ConfigLoader {
    private ConfigLoader() {}

    /** Reads a file, with this process's environment variables. Relative paths in it start at its directory. */
    public static LoadResult load(Path file) {
        return load(file, System.getenv());
    }

    /** Reads a file. Relative paths in it start at its directory. */
    public static LoadResult load(Path file, Map<String, String> environment) {
        return load(file, environment, List.of());
    }

    /** Reads a file, which may have filters of plugins, too. Relative paths in it start at its directory. */
    public static LoadResult load(
            Path file, Map<String, String> environment, List<? extends FilterDeclaration> plugins) {
        return load(file, environment, FilterTypes.with(plugins));
    }

    /** Reads a file with filters of these types. Relative paths in it start at its directory. */
    public static LoadResult load(Path file, Map<String, String> environment, FilterTypes types) {
        Problems problems = new Problems();
        String name = file.toString();
        byte[] bytes = read(file, name, problems);
        if (bytes == null) {
            return new LoadResult.Invalid(problems.inOrder());
        }
        Path parent = file.toAbsolutePath().getParent();
        return parse(
                name,
                bytes,
                parent == null ? file.toAbsolutePath() : parent,
                environment,
                Instant.now(),
                RootSchema.of(types));
    }

    /** Reads a text, with this process's environment variables. Relative paths in it start at the working directory. */
    public static LoadResult parse(String text) {
        return parse(
                "config", text.getBytes(StandardCharsets.UTF_8), Path.of("").toAbsolutePath(), System.getenv());
    }

    /**
     * Reads UTF-8 bytes.
     *
     * @param name what positions say instead of a file name
     * @param directory where relative paths start
     */
    public static LoadResult parse(String name, byte[] bytes, Path directory, Map<String, String> environment) {
        return parse(name, bytes, directory, environment, Instant.now());
    }

    /** Reads UTF-8 bytes at a moment, by which it is judged whether certificates are valid. */
    public static LoadResult parse(
            String name, byte[] bytes, Path directory, Map<String, String> environment, Instant now) {
        return parse(name, bytes, directory, environment, now, RootSchema.ROOT);
    }

    private static LoadResult parse(
            String name,
            byte[] bytes,
            Path directory,
            Map<String, String> environment,
            Instant now,
            ObjectType<GatewayConfig> schema) {
        Problems problems = new Problems();
        GatewayConfig config =
                parse(name, bytes, new Scope(problems, new Variables(environment), directory, now), schema);
        return config == null || problems.hasErrors()
                ? new LoadResult.Invalid(problems.inOrder())
                : new LoadResult.Valid(config, problems.inOrder());
    }

    private static @Nullable GatewayConfig parse(
            String name, byte[] bytes, Scope scope, ObjectType<GatewayConfig> schema) {
        Node written = YamlText.CONFIGURATION.read(name, bytes, scope.problems);
        if (written == null) {
            return null;
        }
        Node root = schema.withCurrentNames(written, scope.problems);
        GatewayConfig config = schema.read(root, "the file", scope);
        if (root instanceof Node.Mapping mapping) {
            Checks.run(config, scope, mapping);
            EndpointFile.check(config, scope);
        }
        return config;
    }

    private static byte @Nullable [] read(Path file, String name, Problems problems) {
        Position whole = new Position(name, 0, 0);
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes(YamlText.MAX_BYTES + 1);
            return bytes;
        } catch (IOException e) {
            problems.error(whole, String.valueOf(FileFault.reading(file, e).getMessage()));
        }
        return null;
    }
}
