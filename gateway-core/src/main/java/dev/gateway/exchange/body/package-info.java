/** Pieces of bodies that wait, are kept, transformed or dropped, and whom they are charged to. */
@NullMarked
package dev.gateway.exchange.body;

import org.jspecify.annotations.NullMarked;
