package dev.gateway.filter.fields;

import dev.gateway.config.value.Position;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A header field that a filter writes.
 *
 * @param value empty if a file has it
 * @param file which file has the value, null if the configuration has it
 * @param secret whether the value must not be shown
 */
public record HeaderField(Position position, String name, String value, @Nullable ValueFile file, boolean secret) {
    /** Leaves a secret value out. */
    @Override
    public String toString() {
        return name + ": " + (file != null ? "from " + file.path() : secret ? "***" : value);
    }

    /**
     * A file that has the value of a header field. It is read again when it changes.
     *
     * @param prefix what stands before it, such as {@code Bearer} and a space; empty for nothing
     */
    public record ValueFile(Path path, String prefix) {}
}
