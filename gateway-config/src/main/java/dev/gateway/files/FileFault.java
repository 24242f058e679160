package dev.gateway.files;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * File error: a file cannot be read or written. The message is a sentence for the operator: which file, what is
 * wrong with it, and, where that can be told, what to do. The JDK's own messages are often no more than a path.
 */
public final class FileFault extends IOException {
    private static final long serialVersionUID = 1;

    private static final List<String> PASSING =
            List.of("Too many open files", "Input/output error", "Stale file handle"); // in the kernel's words

    private FileFault(String message, @Nullable IOException cause) {
        super(message, cause);
    }

    /** Says why a file could not be read. */
    public static FileFault reading(Path file, IOException cause) {
        return cause instanceof FileFault known ? known : new FileFault(describe(file, "read", cause), cause);
    }

    /** Says why it could not be read what is in a directory. */
    static FileFault listing(Path directory, IOException cause) {
        return cause instanceof FileFault known ? known : new FileFault(reason(directory, "read", cause), cause);
    }

    /** Says why a file could not be made or written. */
    public static FileFault writing(Path file, IOException cause) {
        return cause instanceof FileFault known ? known : new FileFault(describe(file, "write", cause), cause);
    }

    /** Says why another file could not be put in the place of one, which takes no permission but that for its directory. */
    public static FileFault replacing(Path file, IOException cause) {
        Path parent = file.toAbsolutePath().getParent();
        return cause instanceof AccessDeniedException && parent != null && Files.exists(file)
                ? new FileFault("no permission to replace " + file + " in " + parent + owner(parent) + user(), cause)
                : writing(file, cause);
    }

    /** Says that a file is larger than it may be. */
    static FileFault tooLarge(Path file, long maxBytes) {
        boolean mebibytes = maxBytes >= 1 << 20;
        return new FileFault(
                file + " is larger than " + (mebibytes ? maxBytes >> 20 : maxBytes >> 10)
                        + (mebibytes ? " MiB" : " KiB"),
                null);
    }

    /** Says that a pattern stands for more files than it may. */
    static FileFault tooMany(Path pattern, int most) {
        return new FileFault("more than " + most + " files match " + pattern, null);
    }

    /** Says that there is no directory where one is expected. */
    static FileFault noDirectory(Path directory, IOException cause) {
        Path link = danglingLink(directory);
        if (link != null) {
            return new FileFault(missing(directory, "read"), cause);
        }
        return new FileFault(
                Files.exists(directory)
                        ? directory + " is a file, not a directory"
                        : "there is no directory " + directory,
                cause);
    }

    /** Says that a file is a pipe, a socket or a device. */
    static FileFault special(Path file) {
        return new FileFault(file + " is a pipe, a socket or a device, not a file", null);
    }

    /** Says that a file is not a text of this encoding. */
    static FileFault notText(Path file, Charset charset, CharacterCodingException cause) {
        return new FileFault(file + " is not " + charset, cause);
    }

    /** Whether the reason may pass without a change of the file: others have too many files open, or a disk fails. */
    public boolean mayPass() {
        return getCause() instanceof IOException cause
                && PASSING.stream().anyMatch(each -> reason(cause).contains(each));
    }

    /** Returns what an exception says: where it is about a file, in words. */
    public static String message(Throwable cause) {
        if (!(cause instanceof FileFault) && cause instanceof FileSystemException about && about.getFile() != null) {
            return String.valueOf(reading(Path.of(about.getFile()), about).getMessage());
        }
        return String.valueOf(cause.getMessage());
    }

    private static String describe(Path file, String verb, IOException cause) {
        if (cause instanceof NoSuchFileException) {
            return missing(file, verb);
        }
        if (Files.isDirectory(file)) {
            return file + " is a directory, not a file";
        }
        return reason(file, verb, cause);
    }

    private static String reason(Path file, String verb, IOException cause) {
        if (cause instanceof AccessDeniedException) {
            return denied(file, verb);
        }
        String reason = reason(cause);
        if (cause instanceof FileAlreadyExistsException && Files.exists(file)) { // where a directory belongs
            return file + " is a file, not a directory";
        }
        if (reason.contains("Not a directory") || cause instanceof FileAlreadyExistsException) {
            return missing(file, verb);
        }
        if (reason.contains("Read-only file system")) {
            return "cannot write " + file + ": its file system is read-only";
        }
        if (reason.contains("Too many open files")) {
            return "cannot " + verb + " " + file + ": too many files are open (ulimit -n)";
        }
        return "cannot " + verb + " " + file + ": " + reason;
    }

    /** Returns the kernel's words, without the path that the JDK puts before them. */
    private static String reason(IOException cause) {
        String reason = cause instanceof FileSystemException about ? about.getReason() : cause.getMessage();
        return reason == null ? cause.getClass().getSimpleName() : reason;
    }

    private static String missing(Path file, String verb) {
        Path link = danglingLink(file);
        if (link != null) {
            return link + " is a symbolic link to " + target(link) + ", which does not exist";
        }
        Path parent = file.toAbsolutePath().getParent();
        String what = verb.equals("read") ? "there is no file " + file : "cannot write " + file;
        if (parent == null || Files.isDirectory(parent)) {
            return what;
        }
        Path existing = parent;
        while (existing.getParent() != null && !Files.exists(existing)) {
            existing = existing.getParent();
        }
        return Files.isDirectory(existing)
                ? what + ": there is no directory " + parent
                : what + ": " + existing + " is a file, not a directory";
    }

    /** Returns the file, or the first directory above it, if that is a link to nothing. */
    private static @Nullable Path danglingLink(Path file) {
        for (Path each = file.toAbsolutePath(); each != null; each = each.getParent()) {
            if (Files.isSymbolicLink(each) && !Files.exists(each)) {
                return each;
            }
        }
        return null;
    }

    private static String target(Path link) {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (IOException e) {
            return "something";
        }
    }

    /** The parts of the path that may be looked at tell whose they are, so that it is plain who may do what. */
    private static String denied(Path file, String verb) {
        String user = user();
        for (Path parent = file.toAbsolutePath().getParent(); parent != null; parent = parent.getParent()) {
            if (Files.isDirectory(parent) && !Files.isExecutable(parent)) {
                return "no permission to " + verb + " " + file + ": it is below " + parent + owner(parent) + user;
            }
        }
        if (verb.equals("write") && !Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            Path parent = file.toAbsolutePath().getParent();
            return "no permission to make " + file + (parent == null ? "" : " in " + parent + owner(parent)) + user;
        }
        return "no permission to " + verb + " " + file + owner(file) + user;
    }

    private static String user() {
        return "; the gateway runs as user " + System.getProperty("user.name");
    }

    private static String owner(Path file) {
        try {
            PosixFileAttributes attributes = Files.readAttributes(file, PosixFileAttributes.class);
            return ", which belongs to " + attributes.owner().getName() + ":"
                    + attributes.group().getName() + " and has mode "
                    + PosixFilePermissions.toString(attributes.permissions());
        } catch (IOException | UnsupportedOperationException e) {
            return "";
        }
    }
}
