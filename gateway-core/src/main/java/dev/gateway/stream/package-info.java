/**
 * The two halves of an exchange as interfaces, and why one can fail. Each wire protocol implements them once.
 *
 * <p>Rules that hold for every method here: it is called on the stream's event loop; a method that receives a buffer owns
 * it, also when the stream has failed; calls may be re-entrant (an event may arrive inside a call).
 */
@NullMarked
package dev.gateway.stream;

import org.jspecify.annotations.NullMarked;
