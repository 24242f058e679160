/** Filter DirectResponse: answers without an upstream. */
@NullMarked
package dev.gateway.filter.directresponse;

import org.jspecify.annotations.NullMarked;
