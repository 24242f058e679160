/** Active health checks of endpoints. */
@NullMarked
package dev.gateway.upstream.health;

import org.jspecify.annotations.NullMarked;
