package dev.gateway.message;

import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The header or trailer fields of one message: one byte array that holds the lines as HTTP/1.1 writes them, and a flat
 * index of names and values over it. Fields a peer sent stay where they were received; edits append to the array and
 * change the index, so an unedited run of lines is forwarded by one copy. Order is kept; names compare without case.
 *
 * <p>Mutable, confined to the event loop of its message, and not reference-counted: the array is garbage-collected.
 * Views it returns stay valid after edits, except views of a value that {@link #shorten} shortens.
 */
public final class Fields {
    static final int STRIDE = 4;
    static final int NAME_START = 0;
    static final int NAME = 1; // length << 8 | known id
    static final int VALUE_START = 2;
    static final int VALUE_LENGTH = 3;

    private static final int OVERHEAD = 80; // of the objects

    /** A table with more bytes than this grows by a quarter of them, not by as many: it may be kept for long. */
    private static final int LARGE = 4096;

    /** The array is that of a parser. */
    private static final int IN_USE = -1;

    private static final byte[] NO_BYTES = {};
    private static final int[] NO_INDEX = {};

    private byte[] bytes;
    private int end;
    private int[] index;
    private int size;
    private int parsed; // IN_USE, or the length of a parser's former array, of which others may have views
    private long present; // a bit per known id; 0 is "some unknown name"

    /** Makes an empty table. */
    public Fields() {
        this(new byte[256], 0, 16);
    }

    private Fields(byte[] bytes, int[] index) {
        this.bytes = bytes;
        this.index = index;
    }

    /** Makes an empty table that most likely stays empty: it takes room when a field is added. */
    public static Fields none() {
        return new Fields(NO_BYTES, NO_INDEX);
    }

    /** Returns a copy, which can be edited without an effect on this table. */
    public Fields copy() {
        Fields copy = new Fields(Arrays.copyOf(bytes, end), Arrays.copyOf(index, size * STRIDE));
        copy.end = end;
        copy.size = size;
        copy.present = present;
        return copy;
    }

    /**
     * Makes an empty table over bytes already filled up to {@code end}, for a parser that then calls {@link
     * #addParsed}. The table takes over the array.
     *
     * @param expected how many fields there will be; more are as well, and slower
     */
    public Fields(byte[] bytes, int end, int expected) {
        this.bytes = bytes;
        this.end = end;
        this.index = new int[Math.max(1, expected) * STRIDE];
        this.parsed = IN_USE;
    }

    /**
     * Adds a field that stands in this table's array. The parser has checked the bytes: a token, and a value without
     * surrounding white space or control bytes.
     *
     * @param id the known id of the name, from {@link FieldName#idOf}
     */
    public void addParsed(int nameStart, int nameLength, int id, int valueStart, int valueLength) {
        int slot = size * STRIDE;
        if (slot == index.length) {
            index = Arrays.copyOf(index, Math.max(4 * STRIDE, index.length * 2));
        }
        index[slot] = nameStart;
        index[slot + NAME] = nameLength << 8 | id;
        index[slot + VALUE_START] = valueStart;
        index[slot + VALUE_LENGTH] = valueLength;
        present |= 1L << id;
        size++;
    }

    /** Returns about how many bytes of heap the table takes, with the array that it was made with. */
    public int heldBytes() {
        return OVERHEAD + Math.max(0, parsed) + bytes.length + Integer.BYTES * index.length;
    }

    /** Gives back room in the index that no field has taken: the table is kept for long, and hardly edited any more. */
    public void trim() {
        if (index.length > size * STRIDE) {
            index = size == 0 ? NO_INDEX : Arrays.copyOf(index, size * STRIDE);
        }
    }

    /** Adds a field after all others. The caller vouches for the value's bytes. */
    public void add(FieldName name, CharSequence value) {
        append(name.canonical(), name.id(), value);
    }

    /** Adds a field that came from a peer in another form, such as HPACK. The caller vouches for the bytes. */
    public void add(AsciiString name, CharSequence value) {
        append(name, FieldName.idOf(name.array(), name.arrayOffset(), name.length()), value);
    }

    private void append(AsciiString name, int id, CharSequence value) {
        int valueLength = value.length();
        int valueStart = append(name, id, valueLength);
        if (value instanceof AsciiString ascii) {
            System.arraycopy(ascii.array(), ascii.arrayOffset(), bytes, valueStart, valueLength);
        } else {
            for (int i = 0; i < valueLength; i++) {
                bytes[valueStart + i] = (byte) value.charAt(i);
            }
        }
    }

    /** Adds a field but for the bytes of its value; returns where they belong. */
    private int append(AsciiString name, int id, int valueLength) {
        int nameLength = name.length();
        int nameStart = end;
        int valueStart = nameStart + nameLength + 2;
        int lineEnd = valueStart + valueLength + 2;
        if (lineEnd > bytes.length) {
            // A new array, never a resize in place: views into the old one stay valid.
            if (parsed == IN_USE) {
                parsed = bytes.length; // the path of the request is such a view, as long as the table
            }
            bytes = Arrays.copyOf(
                    bytes, Math.max(lineEnd, bytes.length + bytes.length / (bytes.length < LARGE ? 1 : 4)));
        }
        System.arraycopy(name.array(), name.arrayOffset(), bytes, nameStart, nameLength);
        bytes[valueStart - 2] = ':';
        bytes[valueStart - 1] = ' ';
        bytes[lineEnd - 2] = '\r';
        bytes[lineEnd - 1] = '\n';
        end = lineEnd;
        addParsed(nameStart, nameLength, id, valueStart, valueLength);
        return valueStart;
    }

    /**
     * Ends the value at a position earlier. It stays where it is, so that this takes no memory.
     *
     * @param length of what is left of it; shorter by two bytes at least
     */
    void shorten(int i, int length) {
        int slot = i * STRIDE;
        int end = index[slot + VALUE_START] + length;
        bytes[end] = '\r'; // what follows the value when the line is copied
        bytes[end + 1] = '\n';
        index[slot + VALUE_LENGTH] = length;
    }

    /** Replaces every field of that name by one, added after all others. */
    public void set(FieldName name, CharSequence value) {
        remove(name);
        add(name, value);
    }

    /** Replaces every field of that name by one with a number that is not negative, added after all others. */
    public void set(FieldName name, long number) {
        remove(name);
        int digits = Ascii.digits(number);
        int start = append(name.canonical(), name.id(), digits);
        long rest = number;
        for (int i = start + digits - 1; i >= start; i--) {
            bytes[i] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
    }

    /** Removes every field of that name; returns whether there was one. */
    public boolean remove(FieldName name) {
        if ((present & 1L << name.id()) == 0) {
            return false;
        }
        boolean removed = false;
        for (int i = find(name, 0); i >= 0; i = find(name, i)) {
            removeAt(i);
            removed = true;
        }
        if (name.id() != 0) {
            present &= ~(1L << name.id());
        }
        return removed;
    }

    /** Removes the field at a position; those after it move one down. */
    public void removeAt(int i) {
        int slot = i * STRIDE;
        int next = slot + STRIDE;
        System.arraycopy(index, next, index, slot, size * STRIDE - next);
        size--;
    }

    /** Removes every field whose known id has its bit in the mask; bit 0 must not be set. Returns whether there was one. */
    boolean removeKnown(long mask) {
        if ((present & mask) == 0) {
            return false;
        }
        int before = size;
        int to = 0;
        for (int from = 0, limit = size * STRIDE; from < limit; from += STRIDE) {
            if ((mask & 1L << (index[from + NAME] & 0xff)) == 0) {
                to = move(from, to);
            }
        }
        size = to / STRIDE;
        present &= ~mask;
        return size < before;
    }

    private int move(int from, int to) {
        if (to != from) {
            System.arraycopy(index, from, index, to, STRIDE);
        }
        return to + STRIDE;
    }

    /** Says something of a name that is not known, which stands in an array. */
    interface NamePredicate {
        boolean test(byte[] bytes, int start, int length);
    }

    /** Removes every field whose name is not known and passes the test; returns whether there was one. */
    boolean removeUnknown(NamePredicate test) {
        int first = findUnknown(test);
        if (first < 0) {
            return false;
        }
        int to = first * STRIDE;
        for (int from = to + STRIDE, limit = size * STRIDE; from < limit; from += STRIDE) {
            int word = index[from + NAME];
            if ((word & 0xff) != 0 || !test.test(bytes, index[from], word >>> 8)) {
                to = move(from, to);
            }
        }
        size = to / STRIDE;
        return true;
    }

    /** Returns the position of the first field whose name is not known and passes the test, or -1. */
    int findUnknown(NamePredicate test) {
        if ((present & 1) == 0) {
            return -1;
        }
        for (int i = 0; i < size; i++) {
            int word = index[i * STRIDE + NAME];
            if ((word & 0xff) == 0 && test.test(bytes, index[i * STRIDE], word >>> 8)) {
                return i;
            }
        }
        return -1;
    }

    /**
     * Removes every field whose name is a twin of this one, see {@link FieldName#isTwin}; returns whether there was one.
     *
     * @param onlyOdd whether only those go that have other characters than letters, digits and hyphens
     */
    boolean removeTwins(FieldName name, boolean onlyOdd) {
        boolean removed = false;
        for (int i = findTwin(name, 0, onlyOdd); i >= 0; i = findTwin(name, i, onlyOdd)) {
            removeAt(i);
            removed = true;
        }
        return removed;
    }

    /** Returns the position of the first field at or after {@code from} whose name is a twin of this one, or -1. */
    int findTwin(FieldName name, int from, boolean onlyOdd) {
        if ((present & 1) == 0 || !name.mayHaveTwins()) {
            return -1;
        }
        for (int i = from; i < size; i++) {
            int word = index[i * STRIDE + NAME];
            if ((word & 0xff) == 0
                    && name.isTwin(bytes, index[i * STRIDE], word >>> 8)
                    && !(onlyOdd && !Ascii.isOddToken(bytes, index[i * STRIDE], word >>> 8))) {
                return i;
            }
        }
        return -1;
    }

    /** Removes every field that is not known and has the name standing at {@code start} of this table's array. */
    void removeUnknown(int start, int length) {
        for (int i = size - 1; i >= 0; i--) {
            if (index[i * STRIDE + NAME] == length << 8 && equalsIgnoreCase(index[i * STRIDE], start, length)) {
                removeAt(i);
            }
        }
    }

    private boolean equalsIgnoreCase(int a, int b, int length) {
        for (int i = 0; i < length; i++) {
            if (Ascii.lower(bytes[a + i]) != Ascii.lower(bytes[b + i])) {
                return false;
            }
        }
        return true;
    }

    /** Returns the array that positions refer to, until the next edit. */
    byte[] array() {
        return bytes;
    }

    /** Returns where in {@link #array} the value at a position starts. */
    int valueStart(int i) {
        return index[i * STRIDE + VALUE_START];
    }

    /** Returns the length of the value at a position. */
    public int valueLength(int i) {
        return index[i * STRIDE + VALUE_LENGTH];
    }

    /** Returns how many fields there are, counting repeated names each time. */
    public int size() {
        return size;
    }

    /** Whether a field of that name is there. */
    public boolean contains(FieldName name) {
        return find(name, 0) >= 0;
    }

    /** Returns the position of the first field of that name at or after {@code from}, or -1. */
    public int find(FieldName name, int from) {
        int id = name.id();
        if ((present & 1L << id) == 0) {
            return -1;
        }
        for (int i = from; i < size; i++) {
            int word = index[i * STRIDE + NAME];
            if ((word & 0xff) == id && (id != 0 || name.matches(bytes, index[i * STRIDE], word >>> 8))) {
                return i;
            }
        }
        return -1;
    }

    /** Returns the value of the first field of that name, or null. */
    public @Nullable AsciiString first(FieldName name) {
        int i = find(name, 0);
        return i < 0 ? null : value(i);
    }

    /** Returns the known id of the name at a position, 0 for a name that is not known. */
    public int id(int i) {
        return index[i * STRIDE + NAME] & 0xff;
    }

    /** Returns the name at a position as it was received, a view. */
    public AsciiString name(int i) {
        return new AsciiString(bytes, index[i * STRIDE + NAME_START], index[i * STRIDE + NAME] >>> 8, false);
    }

    /** Returns the name at a position in lower case; for known names and names received so, without copying. */
    public AsciiString lowerName(int i) {
        int id = id(i);
        return id != 0 ? FieldName.known(id).lower() : name(i).toLowerCase();
    }

    /** Returns the value at a position, a view. */
    public AsciiString value(int i) {
        return new AsciiString(bytes, index[i * STRIDE + VALUE_START], index[i * STRIDE + VALUE_LENGTH], false);
    }

    /** Whether the value at a position is exactly this one; makes no view. */
    public boolean valueEquals(int i, AsciiString value) {
        int start = index[i * STRIDE + VALUE_START];
        int length = index[i * STRIDE + VALUE_LENGTH];
        int offset = value.arrayOffset();
        return Arrays.equals(bytes, start, start + length, value.array(), offset, offset + value.length());
    }

    /**
     * Whether any field of that name holds the element in its comma-separated list, compared without case (RFC 9110,
     * section 5.6.1).
     *
     * @param lower the element in lower case
     */
    public boolean hasElement(FieldName name, AsciiString lower) {
        for (int i = find(name, 0); i >= 0; i = find(name, i + 1)) {
            int start = index[i * STRIDE + VALUE_START];
            int limit = start + index[i * STRIDE + VALUE_LENGTH];
            while (start < limit) {
                int comma = start;
                while (comma < limit && bytes[comma] != ',') {
                    comma++;
                }
                int from = start;
                int to = comma;
                while (from < to && Ascii.isSpace(bytes[from])) {
                    from++;
                }
                while (to > from && Ascii.isSpace(bytes[to - 1])) {
                    to--;
                }
                if (Ascii.equalsLower(bytes, from, to - from, lower)) {
                    return true;
                }
                start = comma + 1;
            }
        }
        return false;
    }

    /** Returns the elements of the comma-separated lists of that name, in their order and without empty ones. */
    public List<AsciiString> elements(FieldName name) {
        List<AsciiString> elements = new ArrayList<>();
        for (int i = find(name, 0); i >= 0; i = find(name, i + 1)) {
            for (String element : value(i).toString().split(",", -1)) {
                String text = element.strip();
                if (!text.isEmpty()) {
                    elements.add(new AsciiString(text));
                }
            }
        }
        return elements;
    }

    /** Returns how many elements the comma-separated lists of that name have together, empty ones included. */
    public int countElements(FieldName name) {
        int count = 0;
        for (int i = find(name, 0); i >= 0; i = find(name, i + 1)) {
            count++;
            int start = index[i * STRIDE + VALUE_START];
            for (int at = start, limit = start + index[i * STRIDE + VALUE_LENGTH]; at < limit; at++) {
                if (bytes[at] == ',') {
                    count++;
                }
            }
        }
        return count;
    }

    /** Returns how many bytes {@link #writeTo} writes. */
    public int wireLength() {
        int length = 0;
        for (int slot = 0, limit = size * STRIDE; slot < limit; slot += STRIDE) {
            length += (index[slot + NAME] >>> 8) + index[slot + VALUE_LENGTH] + 4;
        }
        return length;
    }

    /** Writes all fields as HTTP/1.1 lines, without the empty line that ends a head. */
    public void writeTo(ByteBuf out) {
        FieldsWriter.write(bytes, end, index, size, out);
    }

    /** Every field on its own line, for tests and debugging; never logged, for it holds secrets. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < size; i++) {
            text.append(name(i)).append(": ").append(value(i)).append('\n');
        }
        return text.toString();
    }
}
