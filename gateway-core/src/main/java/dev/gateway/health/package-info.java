/** Active health checks of endpoints. */
@NullMarked
package dev.gateway.health;

import org.jspecify.annotations.NullMarked;
