/** Active checks: endpoints are asked whether they are well. */
@NullMarked
package dev.gateway.health;

import org.jspecify.annotations.NullMarked;
