package dev.gateway.config.yaml;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.filter.FilterDeclaration;
import dev.gateway.config.yaml.ConfigTree.Joined;
import dev.gateway.config.yaml.check.Checks;
import dev.gateway.config.yaml.schema.RootSchema;
import dev.gateway.config.yaml.schema.filter.FilterTypes;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Problems;
import dev.gateway.config.yaml.type.Scope;
import dev.gateway.config.yaml.type.Variables;
import dev.gateway.files.FileWatch;
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
 *
 * <p>A configuration is a file with all that it includes, or a directory with all its files. Relative paths start at the
 * directory of the file that has them.
 */
public final class ConfigLoader {
    private ConfigLoader() {}

    /** Reads a configuration, with this process's environment variables. */
    public static LoadResult load(Path source) {
        return load(source, System.getenv());
    }

    /** Reads a configuration. */
    public static LoadResult load(Path source, Map<String, String> environment) {
        return load(source, environment, List.of());
    }

    /** Reads a configuration, which may have filters of plugins, too. */
    public static LoadResult load(
            Path source, Map<String, String> environment, List<? extends FilterDeclaration> plugins) {
        return load(source, environment, FilterTypes.with(plugins));
    }

    /** Reads a configuration with filters of these types. */
    public static LoadResult load(Path source, Map<String, String> environment, FilterTypes types) {
        return load(source, environment, types, new FileWatch(List.of()));
    }

    /**
     * Reads a configuration with filters of these types.
     *
     * @param watch watches from now on every file that was read, or would have been
     */
    public static LoadResult load(Path source, Map<String, String> environment, FilterTypes types, FileWatch watch) {
        ObjectType<GatewayConfig> schema = RootSchema.of(types);
        Scope scope = scope(directory(source), environment, Instant.now());
        return result(ConfigTree.load(source, scope, schema, watch), scope, schema);
    }

    /** Begins to watch every file of a configuration, with this process's environment variables. */
    public static FileWatch watch(Path source) {
        FileWatch watch = new FileWatch(List.of());
        Scope scope = scope(directory(source), System.getenv(), Instant.now());
        ConfigTree.load(source, scope, RootSchema.ROOT, watch);
        return watch;
    }

    /** Returns the directory beside whose files a configuration stands: itself, if it is one. */
    public static Path directory(Path source) {
        Path absolute = source.toAbsolutePath();
        Path parent = absolute.getParent();
        return parent == null || Files.isDirectory(source) ? absolute : parent;
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
        Scope scope = scope(directory, environment, now);
        Joined tree = ConfigTree.parse(name, bytes, scope, RootSchema.ROOT, new FileWatch(List.of()));
        return result(tree, scope, RootSchema.ROOT);
    }

    private static Scope scope(Path directory, Map<String, String> environment, Instant now) {
        return new Scope(new Problems(), new Variables(environment), directory, now);
    }

    private static LoadResult result(@Nullable Joined tree, Scope scope, ObjectType<GatewayConfig> schema) {
        if (tree == null) {
            return new LoadResult.Invalid(scope.problems.inOrder());
        }
        GatewayConfig config = schema.read(tree.root(), "the file", scope);
        if (tree.complete()) {
            Checks.run(config, scope, tree.root(), tree.unsure());
            EndpointFile.check(config, scope);
        }
        return scope.problems.hasErrors()
                ? new LoadResult.Invalid(scope.problems.inOrder())
                : new LoadResult.Valid(config, scope.problems.inOrder());
    }
}
