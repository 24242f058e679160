/** Decides which endpoint an attempt goes to, whether another one follows, and when. */
@NullMarked
package dev.gateway.exchange.attempt;

import org.jspecify.annotations.NullMarked;
