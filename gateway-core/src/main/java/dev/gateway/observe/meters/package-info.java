/** Shows the gateway's metrics in meter registries of the application that embeds it. */
@NullMarked
package dev.gateway.observe.meters;

import org.jspecify.annotations.NullMarked;
