/** Name resolution, its cache, and the time to live of answers. */
@NullMarked
package dev.gateway.net.dns;

import org.jspecify.annotations.NullMarked;
