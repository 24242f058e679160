package dev.gateway.runtime.plugins;

import dev.gateway.filter.FilterPlugin;
import dev.gateway.filter.plugin.PluginType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarFile;
import java.util.zip.ZipException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Loaded jar with plugins. Its own class loader shares a few packages with the gateway ({@link SharedClasses}), and reads a
 * private copy. Somebody who overwrites a jar in place would take the code away from a JVM that has it open. When the last
 * user has released the jar, a thread of its own closes the plugins and the class loader, and deletes the copy. Any thread
 * may call it.
 */
final class PluginJar implements PluginType.Code {
    private static final Logger log = LoggerFactory.getLogger(PluginJar.class);

    private static final Set<Thread> CLOSING = ConcurrentHashMap.newKeySet();

    private final String name;
    private final byte[] hash;
    private final Path copy;
    private final Level news;
    private final URLClassLoader loader;
    private final List<FilterPlugin> made = new ArrayList<>();
    private int users = 1;

    private PluginJar(String name, byte[] hash, Path copy, Level news) throws IOException {
        this.name = name;
        this.news = news;
        this.hash = hash;
        this.copy = copy;
        this.loader = new URLClassLoader(name, new URL[] {copy.toUri().toURL()}, new SharedClasses());
    }

    /**
     * Opens the jar; the caller is its first user.
     *
     * @param name for messages
     * @param hash of its bytes, which tells whether it has changed
     * @param news the level of messages about what went well
     * @throws IllegalArgumentException if it is not a jar
     */
    static PluginJar open(String name, byte[] bytes, byte[] hash, Level news) throws IOException {
        Path copy = Files.createTempFile("gateway-plugin", ".jar"); // which only this user may read and write
        copy.toFile().deleteOnExit();
        try {
            Files.write(copy, bytes);
            checkForm(copy);
            return new PluginJar(name, hash, copy, news);
        } catch (IOException | RuntimeException e) {
            Files.deleteIfExists(copy);
            throw e;
        }
    }

    /** A class loader would take a file that is no archive for an empty one. */
    private static void checkForm(Path file) throws IOException {
        try (JarFile jar = new JarFile(file.toFile())) {
            log.debug("{} has {} entries", file, jar.size());
        } catch (ZipException e) {
            throw new IllegalArgumentException("it is not a jar: " + e.getMessage(), e);
        }
    }

    /** Whether it has been made of a jar with this hash. */
    boolean has(byte[] other) {
        return Arrays.equals(hash, other);
    }

    /**
     * Makes the plugins that the jar names.
     *
     * @throws IllegalArgumentException if it names none, or one declares what cannot be
     * @throws RuntimeException whatever a plugin throws
     * @throws LinkageError if a class cannot be loaded
     */
    List<PluginType> plugins() {
        List<PluginType> plugins = new ArrayList<>();
        Iterator<ServiceLoader.Provider<FilterPlugin>> found =
                ServiceLoader.load(FilterPlugin.class, loader).stream().iterator();
        while (found.hasNext()) {
            ServiceLoader.Provider<FilterPlugin> provider = found.next();
            if (provider.type().getClassLoader() == loader) { // others are on the class path of the program
                FilterPlugin plugin = provider.get();
                made.add(plugin);
                plugins.add(new PluginType(plugin, name, this));
            }
        }
        if (plugins.isEmpty()) {
            throw new IllegalArgumentException("it names no class in META-INF/services/" + FilterPlugin.class.getName()
                    + "; the classes of a library belong into the jar of the plugin that uses them");
        }
        return plugins;
    }

    @Override
    public synchronized void retain() {
        if (users == 0) {
            throw new IllegalStateException(name + " is closed");
        }
        users++;
    }

    @Override
    public synchronized void release() {
        if (--users == 0) {
            Thread thread = new Thread(this::closeHere, "close " + name);
            thread.setDaemon(true);
            CLOSING.add(thread);
            thread.start();
        }
    }

    /** Waits until all that nobody uses are closed, but not longer than this; returns whether they are. */
    static boolean awaitClosed(long millis) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        for (Thread each : CLOSING) {
            each.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())));
            if (each.isAlive()) {
                return false;
            }
        }
        return true;
    }

    /** Closes plugins, on a thread that nobody waits for long: a plugin may not return. */
    private void closeHere() {
        try {
            closeAll();
        } finally {
            CLOSING.remove(Thread.currentThread());
        }
    }

    private void closeAll() {
        made.forEach(this::close);
        try {
            loader.close();
            Files.deleteIfExists(copy);
            log.atLevel(news).log("Closed {}", name);
        } catch (IOException | UncheckedIOException e) {
            log.warn("Closing the plugin {}", name, e);
        }
    }

    private void close(FilterPlugin plugin) {
        try {
            plugin.close();
        } catch (Throwable e) { // the classes must be freed, whatever it is
            log.error("A plugin of {} failed to close", name, e);
        }
    }
}
