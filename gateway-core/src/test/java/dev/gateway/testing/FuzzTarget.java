package dev.gateway.testing;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** A fuzz target: a class whose public static method {@code fuzzerTestOneInput} takes the bytes that a fuzzer has made. */
final class FuzzTarget {
    private final Method method;

    /** Finds a target by the full name of its class. */
    FuzzTarget(String className) throws ReflectiveOperationException {
        method = Class.forName(className).getMethod("fuzzerTestOneInput", byte[].class);
        method.setAccessible(true);
    }

    /** Runs a target with the files of directories, so that an agent can measure what they reach. */
    public static void main(String[] args) throws ReflectiveOperationException, IOException {
        FuzzTarget target = new FuzzTarget(args[0]);
        for (String directory : List.of(args).subList(1, args.length)) {
            for (Path input : inputs(Path.of(directory))) {
                target.run(input);
            }
        }
    }

    /** Returns the files of a directory. */
    static List<Path> inputs(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.sorted().toList();
        }
    }

    /** Runs the target with a file; fails if the target does. */
    void run(Path input) throws IOException, IllegalAccessException {
        try {
            method.invoke(null, (Object) Files.readAllBytes(input));
        } catch (InvocationTargetException e) {
            throw new AssertionError(input + ": " + e.getCause(), e.getCause());
        }
    }
}
