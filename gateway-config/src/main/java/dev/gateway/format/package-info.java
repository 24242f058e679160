/** Formats that both the configuration and what runs read or write; nothing of Netty. */
@NullMarked
package dev.gateway.format;

import org.jspecify.annotations.NullMarked;
