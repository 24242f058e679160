/** Event loops and sockets: the kinds of transport, their memory, their descriptors, what the kernel is asked. */
@NullMarked
package dev.gateway.net.transport;

import org.jspecify.annotations.NullMarked;
