/** The demo upstream, a plain Netty server that shares no code with the data path. */
@NullMarked
package dev.gateway.demo;

import org.jspecify.annotations.NullMarked;
