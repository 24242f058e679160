/** Header fields that filters write: their settings, and the edits that are made of them. */
@NullMarked
package dev.gateway.filter.fields;

import org.jspecify.annotations.NullMarked;
