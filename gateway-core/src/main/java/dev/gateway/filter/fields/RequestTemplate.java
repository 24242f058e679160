package dev.gateway.filter.fields;

import dev.gateway.filter.FilterContext;
import dev.gateway.filter.RequestWord;
import dev.gateway.message.Ascii;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Request template: the value of a header field with words in braces, such as <code>{client}</code>, that stand for what is
 * known of the request. Other braces stand for themselves, since values may be JSON. Immutable.
 */
final class RequestTemplate implements FieldValue {
    private final String text;
    private final List<Object> parts; // a String, or a RequestWord

    private RequestTemplate(String text, List<Object> parts) {
        this.text = text;
        this.parts = parts;
    }

    /** Takes a text apart; null if it has no words. */
    static @Nullable RequestTemplate of(String text) {
        List<Object> parts = new ArrayList<>();
        int from = 0; // of what stands for itself
        for (int open = text.indexOf('{'); open >= 0; open = text.indexOf('{', open + 1)) {
            int close = text.indexOf('}', open);
            RequestWord word = close < 0 ? null : RequestWord.of(text.substring(open + 1, close));
            if (word != null) {
                parts.add(text.substring(from, open));
                parts.add(word);
                from = close + 1;
            }
        }
        if (parts.isEmpty()) {
            return null;
        }
        parts.add(text.substring(from));
        return new RequestTemplate(text, parts);
    }

    @Override
    public AsciiString get() {
        return new AsciiString(text.getBytes(StandardCharsets.ISO_8859_1), false);
    }

    @Override
    public @Nullable AsciiString get(FilterContext context) {
        StringBuilder value = new StringBuilder(text.length() + 32);
        for (Object part : parts) {
            value.append(part instanceof RequestWord word ? context.word(word) : (String) part);
        }
        byte[] bytes = new byte[value.length()];
        for (int i = 0; i < bytes.length; i++) {
            char c = value.charAt(i);
            boolean valid = c == '\t' || (c >= ' ' && c < 256 && c != 0x7f);
            bytes[i] = valid ? (byte) c : (byte) '?'; // such as the name in a certificate
        }
        AsciiString all = Ascii.trim(new AsciiString(bytes, false));
        return all.isEmpty() ? null : all;
    }
}
