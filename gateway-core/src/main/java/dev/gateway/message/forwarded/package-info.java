/**
 * The headers that tell where a request came from, {@code Forwarded} and {@code X-Forwarded-*}: reads and writes them.
 */
@NullMarked
package dev.gateway.message.forwarded;

import org.jspecify.annotations.NullMarked;
