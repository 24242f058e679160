/** Settings of filters that are not the gateway's own: the keys which they declare, and the values in a configuration. */
@NullMarked
package dev.gateway.plugin;

import org.jspecify.annotations.NullMarked;
