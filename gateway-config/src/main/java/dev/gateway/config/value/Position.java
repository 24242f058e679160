package dev.gateway.config.value;

/**
 * Source position: where something was written. What was not written but defaulted stands where its parent stands.
 *
 * @param file as the operator named it
 * @param line from 1; 0 for the file as a whole
 * @param column from 1, in characters
 */
public record Position(String file, int line, int column) {
    /** That of values which stand in no file. */
    public static final Position NOWHERE = new Position("", 0, 0);

    /** Returns how a message about another place names this one, as "line 3"; in another file as "other.yaml:3:1". */
    public String seenFrom(Position place) {
        return file.equals(place.file) ? "line " + line : toString();
    }

    /** Returns {@code file:line:col}, as compilers and editors write and follow it. */
    @Override
    public String toString() {
        return line == 0 ? file : file + ":" + line + ":" + column;
    }
}
