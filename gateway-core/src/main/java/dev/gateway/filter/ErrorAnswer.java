package dev.gateway.filter;

import dev.gateway.message.RequestHead;
import dev.gateway.stream.Cause;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Error response whose body a filter may choose.
 *
 * @param status 400 to 599, which stays whatever the body is
 * @param cause why the exchange has failed, or a filter refuses the request; null if an upstream or a filter has answered
 *     so
 * @param upstream whether an upstream has answered so
 * @param request the request, null if it could not be read
 * @param requestId the request ID, checked or made by the gateway; null if there is none
 */
public record ErrorAnswer(
        int status,
        @Nullable Cause cause,
        boolean upstream,
        @Nullable RequestHead request,
        @Nullable AsciiString requestId) {}
