package dev.gateway.filter.externalauth;

import dev.gateway.message.Ascii;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.OddNames;
import dev.gateway.message.grpc.MalformedMessageException;
import dev.gateway.message.grpc.ProtoReader;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.util.AsciiString;

/**
 * A header field that an auth server names (Envoy's HeaderValueOption), and what becomes of others of its name.
 *
 * @param value without blanks at its ends, which no field has
 * @param isExact whether there were none
 */
record FieldEdit(FieldName name, AsciiString value, boolean isExact, Action action) {
    /** About how many bytes of heap the objects take, with a short name in three forms. */
    static final int OVERHEAD = 300;

    /** What becomes of others. In the order of Envoy's HeaderAppendAction, whose first one is the default, too. */
    enum Action {
        APPEND_IF_EXISTS_OR_ADD,
        ADD_IF_ABSENT,
        OVERWRITE_IF_EXISTS_OR_ADD,
        OVERWRITE_IF_EXISTS
    }

    /**
     * Reads one.
     *
     * @param unsaid what it does if it does not say
     */
    static FieldEdit read(ProtoReader in, Action unsaid) throws MalformedMessageException {
        AsciiString[] field = {AsciiString.EMPTY_STRING, AsciiString.EMPTY_STRING};
        Boolean append = null;
        Action action = null;
        while (in.next()) {
            switch (in.field()) {
                case 1 -> readField(in.message(), field);
                case 2 -> append = readBool(in.message());
                case 3 -> action = action(in.number());
                default -> {} // keep_empty_value: an empty value is kept here
            }
        }
        if (append != null) {
            action = append ? Action.APPEND_IF_EXISTS_OR_ADD : Action.OVERWRITE_IF_EXISTS_OR_ADD;
        }
        AsciiString value = value(field[1]);
        boolean isExact = value.length() == field[1].length();
        return new FieldEdit(name(field[0]), value, isExact, action == null ? unsaid : action);
    }

    /** HeaderValue: the value is in {@code value}, or in {@code raw_value}. */
    private static void readField(ProtoReader in, AsciiString[] field) throws MalformedMessageException {
        while (in.next()) {
            switch (in.field()) {
                case 1 -> field[0] = text(in.bytes());
                case 2, 3 -> {
                    AsciiString value = text(in.bytes());
                    field[1] = value.isEmpty() ? field[1] : value;
                }
                default -> {}
            }
        }
    }

    private static boolean readBool(ProtoReader in) throws MalformedMessageException {
        boolean value = false;
        while (in.next()) {
            if (in.field() == 1) {
                value = in.number() != 0;
            }
        }
        return value;
    }

    private static Action action(long number) throws MalformedMessageException {
        Action[] known = Action.values();
        if (number < 0 || number >= known.length) {
            throw new MalformedMessageException("with an append_action that there is not: " + number);
        }
        return known[(int) number];
    }

    private static AsciiString text(ByteBuf bytes) {
        return new AsciiString(ByteBufUtil.getBytes(bytes), false);
    }

    /** Reads the name of a field. */
    static FieldName name(ByteBuf bytes) throws MalformedMessageException {
        return name(text(bytes));
    }

    private static FieldName name(AsciiString text) throws MalformedMessageException {
        if (!Ascii.isToken(text)) {
            throw new MalformedMessageException("with an invalid name of a header field");
        }
        return FieldName.of(text.toString());
    }

    private static AsciiString value(AsciiString text) throws MalformedMessageException {
        for (int i = 0; i < text.length(); i++) {
            if (!Ascii.isFieldValue(text.byteAt(i))) {
                throw new MalformedMessageException("with a value that a header field cannot have");
            }
        }
        return Ascii.trim(text);
    }

    /** Returns about how many bytes of heap it takes. */
    long heldBytes() {
        return OVERHEAD + 3L * name.lower().length() + value.length();
    }

    /** Applies it to a request, where nobody else may say the same under a name that looks alike. */
    void applyToRequest(Fields request) {
        if (action == Action.OVERWRITE_IF_EXISTS_OR_ADD || action == Action.OVERWRITE_IF_EXISTS) {
            boolean existed = OddNames.removeAlike(request, name);
            if (existed || action == Action.OVERWRITE_IF_EXISTS_OR_ADD) {
                request.add(name, value);
            }
        } else {
            apply(request);
        }
    }

    /** Applies it to a response; returns whether that has changed anything. */
    boolean apply(Fields fields) {
        boolean exists = fields.contains(name);
        boolean applies =
                switch (action) {
                    case APPEND_IF_EXISTS_OR_ADD, OVERWRITE_IF_EXISTS_OR_ADD -> true;
                    case ADD_IF_ABSENT -> !exists;
                    case OVERWRITE_IF_EXISTS -> exists;
                };
        if (applies && exists && action != Action.APPEND_IF_EXISTS_OR_ADD) {
            fields.set(name, value);
        } else if (applies) {
            fields.add(name, value);
        }
        return applies;
    }
}
