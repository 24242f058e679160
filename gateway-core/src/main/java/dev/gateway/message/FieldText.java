package dev.gateway.message;

import io.netty.util.AsciiString;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Field text: text as the value of a header field, in UTF-8. Two different texts never become the same value. */
public final class FieldText {
    private FieldText() {}

    /**
     * Returns a text as the value of a field. Null if a recipient would read another text: for an empty text, for one with
     * control characters, and for one with spaces at its ends, which recipients drop.
     */
    public static @Nullable AsciiString of(CharSequence text) {
        AsciiString value = text instanceof AsciiString bytes ? bytes : utf8(text);
        if (value == null || value.isEmpty() || value.byteAt(0) == ' ' || value.byteAt(value.length() - 1) == ' ') {
            return null;
        }
        for (int i = 0; i < value.length(); i++) {
            byte b = value.byteAt(i);
            if ((b >= 0 && b < ' ') || b == 0x7f) {
                return null;
            }
        }
        return value;
    }

    /** Returns the text that these bytes are in UTF-8, null if they are none: replaced bytes would make two texts one. */
    public static @Nullable String decode(byte[] bytes, int start, int length) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes, start, length))
                    .toString();
        } catch (CharacterCodingException e) {
            return null;
        }
    }

    /** Returns the text in UTF-8, null if it has half a surrogate pair. */
    private static @Nullable AsciiString utf8(CharSequence text) {
        if (text.chars().allMatch(c -> c < 0x80)) {
            return new AsciiString(text); // most are, and need no encoder
        }
        try {
            return new AsciiString(StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text)), true);
        } catch (CharacterCodingException e) {
            return null;
        }
    }
}
