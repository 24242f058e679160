/** What the admin listener shows of a running gateway, and what an operator can have done there. */
@NullMarked
package dev.gateway.status;

import org.jspecify.annotations.NullMarked;
