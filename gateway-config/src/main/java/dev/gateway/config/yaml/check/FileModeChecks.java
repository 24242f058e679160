package dev.gateway.config.yaml.check;

import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.Node;
import dev.gateway.config.yaml.type.Scope;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;

/**
 * Keys, certificates, tokens and users decide who may do what, and endpoints who gets the requests: a warning for each such
 * file that every user of the machine may write. Reading is not looked at, since Kubernetes gives Secrets to pods with mode 0644.
 */
final class FileModeChecks {
    private static final String NAME = "File"; // how keys end that name such a file
    private static final String NAMES = "Files"; // how keys end that name several
    private static final String ENDPOINTS = "file"; // of an upstream

    private final Scope scope;

    private FileModeChecks(Scope scope) {
        this.scope = scope;
    }

    static void run(Node.Mapping root, Scope scope) {
        new FileModeChecks(scope).look(root);
    }

    /** Whether every user of the machine may write a file or directory; not if that cannot be told. */
    static boolean isForAllToWrite(Path file) {
        try {
            return Files.getPosixFilePermissions(file).contains(PosixFilePermission.OTHERS_WRITE);
        } catch (IOException | UnsupportedOperationException e) {
            return false; // who uses it reports what is wrong, and a file system without such permissions has nobody
            // else
        }
    }

    private void look(Node node) {
        if (node instanceof Node.Sequence sequence) {
            sequence.items().forEach(this::look);
        } else if (node instanceof Node.Mapping mapping) {
            mapping.entries().forEach((key, entry) -> {
                if ((key.endsWith(NAME) || key.equals(ENDPOINTS)) && entry.value() instanceof Node.Scalar scalar) {
                    look(key, scalar);
                } else if (key.endsWith(NAMES) && entry.value() instanceof Node.Sequence files) {
                    for (Node file : files.items()) {
                        if (file instanceof Node.Scalar scalar) {
                            look(key, scalar);
                        }
                    }
                } else {
                    look(entry.value());
                }
            });
        }
    }

    private void look(String key, Node.Scalar scalar) {
        try {
            Path file = scope.directory(scalar.position()).resolve(scope.variables.replace(scalar.text()));
            if (Files.isRegularFile(file) && isForAllToWrite(file)) {
                scope.problems.warning(
                        scalar.position(),
                        key + ": every user of this machine may write " + file + ": 'chmod o-w' prevents that");
            }
        } catch (InvalidException | InvalidPathException e) {
            // another check reads the file and reports this
        }
    }
}
