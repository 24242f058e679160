package dev.gateway.runtime.plugins;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who may write a jar: a plugin may do whatever the gateway may, so only root and the gateway's own user may place one. Looks
 * at the file and at all directories above it. Where files have no POSIX owners, it knows nothing. Blocks.
 */
final class Writers {
    private static final Logger log = LoggerFactory.getLogger(Writers.class);
    private static final int ROOT = 0;
    private static final int OTHERS_WRITE = 0022; // the group and all others
    private static final int STICKY = 01000;

    private final int user;

    /** What a path is, and so what may be said of its mode. */
    enum Kind {
        /** A jar. */
        FILE,
        /** The directory that has it. */
        DIRECTORY,
        /** A directory above: if it is sticky, nobody may replace what another user has in it. */
        ANCESTOR
    }

    /** Makes it for files of root and of a user. */
    Writers(int user) {
        this.user = user;
    }

    /** Returns the one for this process; null if files have no POSIX owners here. */
    static @Nullable Writers ofProcess() throws IOException {
        Path mine = Files.createTempFile("gateway-user", null);
        try {
            return new Writers((Integer) Files.getAttribute(mine, "unix:uid"));
        } catch (UnsupportedOperationException | IllegalArgumentException e) {
            log.debug("{} has no owner to look at", mine, e);
            return null;
        } finally {
            Files.deleteIfExists(mine);
        }
    }

    /** Returns what is wrong with a path without symbolic links and with those above it; null for nothing. */
    @Nullable
    String objection(Path real, Kind kind) throws IOException {
        Kind next = kind;
        for (Path each = real; each != null; each = each.getParent()) {
            Map<String, Object> found = Files.readAttributes(each, "unix:uid,mode", LinkOption.NOFOLLOW_LINKS);
            String objection = objection(each, next, number(found, "uid"), number(found, "mode"));
            if (objection != null) {
                return objection;
            }
            next = next == Kind.FILE ? Kind.DIRECTORY : Kind.ANCESTOR;
        }
        return null;
    }

    private static int number(Map<String, Object> attributes, String name) {
        return (Integer) Objects.requireNonNull(attributes.get(name), name);
    }

    /** Returns what is wrong with one path. */
    @Nullable
    String objection(Path path, Kind kind, int owner, int mode) {
        if (owner != ROOT && owner != user) {
            return path + " belongs to another user: it needs to be root's or the gateway's own";
        }
        boolean sticky = kind == Kind.ANCESTOR && (mode & STICKY) != 0;
        if ((mode & OTHERS_WRITE) == 0 || sticky || (kind != Kind.FILE && isReadOnly(path))) {
            return null;
        }
        return "others may write to " + path + ": 'chmod go-w " + path + "' mends it";
    }

    /** Volumes of containers have open modes, and nobody can write to them if they are mounted so. */
    private static boolean isReadOnly(Path directory) {
        try {
            return Files.getFileStore(directory).isReadOnly();
        } catch (IOException | SecurityException e) {
            log.debug("Looking for the mount of {}", directory, e);
            return false;
        }
    }
}
