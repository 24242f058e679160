package dev.gateway.filter;

import dev.gateway.message.RequestHead;
import dev.gateway.stream.Cause;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Error response: what is known of one whose body is to be chosen.
 *
 * @param status 400 to 599, which stays whatever the body is
 * @param cause why the exchange has failed; null if an upstream or a filter has answered so
 * @param upstream whether an upstream has answered so
 * @param request as much as is known of the request, or null
 * @param requestId by which the operator finds the exchange, null if there is none; harmless to show
 */
public record ErrorAnswer(
        int status,
        @Nullable Cause cause,
        boolean upstream,
        @Nullable RequestHead request,
        @Nullable AsciiString requestId) {}
