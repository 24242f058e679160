/** What a generation says of its exchanges, by listener. */
@NullMarked
package dev.gateway.exchange.settings;

import org.jspecify.annotations.NullMarked;
