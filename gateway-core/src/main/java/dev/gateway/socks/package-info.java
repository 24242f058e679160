/** SOCKS version 5, the client's side of it. */
@NullMarked
package dev.gateway.socks;

import org.jspecify.annotations.NullMarked;
