package dev.gateway.testing;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterPlugin;
import dev.gateway.message.RequestHead;
import dev.gateway.plugin.Settings;
import dev.gateway.stream.Failure;
import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/** Makes jars of plugins: compiles sources in memory against the class path of the test. */
public final class JarMaker {
    private static final String SERVICE = "META-INF/services/dev.gateway.filter.FilterPlugin";

    /** What plugins are compiled against; the whole class path would take long to look through. */
    private static final String CLASS_PATH = Stream.of(
                    FilterPlugin.class,
                    Filter.class,
                    RequestHead.class,
                    Failure.class,
                    Settings.class,
                    ByteBuf.class,
                    AsciiString.class,
                    Nullable.class)
            .map(JarMaker::place)
            .distinct()
            .collect(Collectors.joining(File.pathSeparator));

    private static final Map<String, Map<String, byte[]>> COMPILED = new ConcurrentHashMap<>(); // by source

    private JarMaker() {}

    /**
     * Compiles a class and packs it with all that it contains, and with a service file that names it.
     *
     * @param name of the class, in no package
     */
    public static void plugin(Path jar, String name, String source) throws IOException {
        plugin(jar, name, source, Map.of());
    }

    /**
     * Compiles and packs a class.
     *
     * @param others further entries of the jar, by their names; they replace those that would be made
     */
    public static void plugin(Path jar, String name, String source, Map<String, byte[]> others) throws IOException {
        Map<String, byte[]> classes = COMPILED.get(source);
        if (classes == null) {
            classes = compile(name, source);
            COMPILED.put(source, classes);
        }
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream out = new JarOutputStream(file)) {
            for (Map.Entry<String, byte[]> each : classes.entrySet()) {
                write(out, each.getKey(), others.getOrDefault(each.getKey(), each.getValue()));
            }
            write(out, SERVICE, others.getOrDefault(SERVICE, name.getBytes(StandardCharsets.UTF_8)));
        }
    }

    private static void write(JarOutputStream out, String name, byte[] bytes) throws IOException {
        if (bytes.length > 0) { // else left out
            out.putNextEntry(new ZipEntry(name));
            out.write(bytes);
            out.closeEntry();
        }
    }

    private static Map<String, byte[]> compile(String name, String source) throws IOException {
        Path directory = Files.createTempDirectory("plugin");
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            SimpleJavaFileObject unit =
                    new SimpleJavaFileObject(URI.create("string:///" + name + ".java"), JavaFileObject.Kind.SOURCE) {
                        @Override
                        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                            return source;
                        }
                    };
            List<String> options =
                    List.of("-d", directory.toString(), "-cp", CLASS_PATH, "--release", "17", "-proc:none");
            if (!compiler.getTask(null, files, null, options, null, List.of(unit))
                    .call()) {
                throw new IOException("the plugin does not compile: " + source);
            }
        }
        Map<String, byte[]> classes = new TreeMap<>();
        try (Stream<Path> found = Files.list(directory)) {
            for (Path each : found.toList()) {
                classes.put(each.getFileName().toString(), Files.readAllBytes(each));
                Files.delete(each);
            }
        }
        Files.delete(directory);
        return classes;
    }

    /** Returns where the class was loaded from. */
    private static String place(Class<?> of) {
        return Path.of(URI.create(
                        of.getProtectionDomain().getCodeSource().getLocation().toString()))
                .toString();
    }
}
