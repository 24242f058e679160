/** Filters RequestHeaderModifier and ResponseHeaderModifier: edits of header sections. */
@NullMarked
package dev.gateway.filter.headers;

import org.jspecify.annotations.NullMarked;
