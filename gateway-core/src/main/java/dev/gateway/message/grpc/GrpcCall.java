package dev.gateway.message.grpc;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/** The fields around the messages of a call, and how it has ended. */
public final class GrpcCall {
    /** What precedes a message: whether it is compressed, and its length. */
    public static final int PREFIX = 5;

    private static final int OK = 200;
    private static final AsciiString TYPE = new AsciiString("application/grpc");
    private static final AsciiString SUCCESS = new AsciiString("0");
    private static final FieldName STATUS = FieldName.of("grpc-status");
    private static final FieldName TIMEOUT = FieldName.of("grpc-timeout");

    private GrpcCall() {}

    /** Adds what makes a POST a call, and tells the server how long its answer is waited for. */
    public static void addFields(Fields request, long timeoutMillis) {
        request.add(FieldName.CONTENT_TYPE, TYPE);
        request.add(FieldName.TE, "trailers");
        request.add(TIMEOUT, timeout(timeoutMillis));
    }

    /** Writes a time in the format of gRPC, which has at most eight digits. */
    private static String timeout(long millis) {
        return millis < 100_000_000 ? millis + "m" : millis / 1000 + "S";
    }

    /**
     * Returns why a call has failed, null if it has not. The text continues the name of the server.
     *
     * @param trailers null for an answer without trailers; a failed call often has only a head
     * @param service the service that was called, for people
     */
    public static @Nullable String failure(ResponseHead head, @Nullable Fields trailers, String service) {
        AsciiString type = head.fields().first(FieldName.CONTENT_TYPE);
        AsciiString told = trailers == null ? null : trailers.first(STATUS);
        AsciiString status = told == null ? head.fields().first(STATUS) : told;
        if (head.status() != OK) {
            return "answered " + head.status();
        } else if (type == null || !type.regionMatches(true, 0, TYPE, 0, TYPE.length())) {
            return "answered with something else than gRPC";
        } else if (status == null) {
            return "answered without grpc-status";
        }
        return status.equals(SUCCESS) ? null : "answered grpc-status " + described(status, service);
    }

    private static String described(AsciiString code, String service) {
        return switch (code.toString()) {
            case "1" -> "1 (CANCELLED)";
            case "2" -> "2 (UNKNOWN)";
            case "3" -> "3 (INVALID_ARGUMENT)";
            case "4" -> "4 (DEADLINE_EXCEEDED)";
            case "5" -> "5 (NOT_FOUND)";
            case "7" -> "7 (PERMISSION_DENIED)";
            case "8" -> "8 (RESOURCE_EXHAUSTED)";
            case "12" -> "12 (UNIMPLEMENTED): it has no " + service;
            case "13" -> "13 (INTERNAL)";
            case "14" -> "14 (UNAVAILABLE)";
            case "16" -> "16 (UNAUTHENTICATED)";
            default -> code.length() <= 3 ? code.toString() : "of more than 3 characters";
        };
    }
}
