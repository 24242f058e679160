/** What end-to-end tests are made of: the gateway in this process or one of its own, tools, load. */
package dev.gateway.tests.support;
