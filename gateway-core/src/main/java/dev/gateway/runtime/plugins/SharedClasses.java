package dev.gateway.runtime.plugins;

import dev.gateway.filter.FilterPlugin;
import java.util.List;
import java.util.Set;

/**
 * Class loader of what plugins share with the gateway: the JDK, the published types, and the libraries that these are made
 * of. Plugins bring all else in their jars. The gateway's own jar has only parts of other libraries, and they may change.
 */
final class SharedClasses extends ClassLoader {
    static {
        registerAsParallelCapable();
    }

    private static final ClassLoader GATEWAY = FilterPlugin.class.getClassLoader();

    /** Packages without those below them. */
    private static final Set<String> PACKAGES = Set.of(
            "dev.gateway.filter",
            "dev.gateway.plugin",
            "dev.gateway.message",
            "dev.gateway.stream",
            "dev.gateway.upstream");

    /** Packages with those below them. */
    private static final List<String> LIBRARIES =
            List.of("io.netty.buffer.", "io.netty.util.", "org.slf4j.", "org.jspecify.");

    SharedClasses() {
        super("shared", getPlatformClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        return isShared(name) ? GATEWAY.loadClass(name) : super.loadClass(name, resolve);
    }

    private static boolean isShared(String name) {
        return PACKAGES.contains(name.substring(0, Math.max(0, name.lastIndexOf('.'))))
                || LIBRARIES.stream().anyMatch(name::startsWith);
    }
}
