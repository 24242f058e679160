/** Name resolution, its cache, and how long answers hold. */
@NullMarked
package dev.gateway.net.dns;

import org.jspecify.annotations.NullMarked;
