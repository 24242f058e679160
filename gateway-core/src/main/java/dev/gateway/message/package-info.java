/** Heads and fields of messages, whatever the protocol: one byte array and an index over it. */
@NullMarked
package dev.gateway.message;

import org.jspecify.annotations.NullMarked;
