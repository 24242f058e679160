/** SOCKS version 5, the client's side of it. */
@NullMarked
package dev.gateway.protocol.socks;

import org.jspecify.annotations.NullMarked;
