package dev.gateway.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.util.AsciiString;
import org.junit.jupiter.api.Test;

class RequestHeadTest {
    private static final AsciiString WEBSOCKET = new AsciiString("websocket");

    @Test
    void aWishForAnotherProtocolCanBeRefused() {
        RequestHead head = Heads.get("a.test", "/chat?x");
        head.upgradeTo(WEBSOCKET);
        assertTrue(head.isConnect());
        assertEquals(WEBSOCKET, head.protocol());
        assertEquals(Method.GET, head.routedMethod());
        assertTrue(head.refuseUpgrade());
        assertFalse(head.isConnect());
        assertNull(head.protocol());
        assertEquals(Method.GET, head.method());
        assertEquals("/chat?x", head.path().toString());
        assertFalse(head.refuseUpgrade());
    }

    @Test
    void aNewQueryLeavesThePathThatTheUpstreamIsTold() {
        RequestHead head = Heads.get("a.test", "/a/b?key=k&x=1");
        head.setForwardedPath(new AsciiString("//a/%62?key=k&x=1"));
        head.setQuery("?x=1");
        assertEquals("/a/b?x=1", head.path().toString());
        assertEquals("//a/%62?x=1", head.forwardedPath().toString());
        assertEquals(4, head.queryStart());
        head.setQuery("");
        assertEquals("/a/b", head.path().toString());
        assertEquals("//a/%62", head.forwardedPath().toString());
        assertEquals(4, head.queryStart());
    }

    @Test
    void aCopyIsEditedByItself() {
        RequestHead head = Heads.get("a.test", "/chat?x");
        head.upgradeTo(WEBSOCKET);
        head.setAbsoluteForm(true);
        RequestHead copy = head.copy();
        assertTrue(copy.isConnect());
        assertTrue(copy.isAbsoluteForm());
        assertEquals(WEBSOCKET, copy.protocol());
        assertEquals(head.contentLength(), copy.contentLength());
        assertEquals(5, copy.queryStart());
        copy.setAuthority(new AsciiString("b.test"));
        copy.setPath(new AsciiString("/"));
        assertTrue(copy.refuseUpgrade());
        assertEquals("a.test", head.authority().toString());
        assertEquals("/chat?x", head.path().toString());
        assertTrue(head.isConnect());
    }

    @Test
    void anExtendedConnectCannotBeServedWithoutItsProtocol() {
        RequestHead head = Heads.request("CONNECT", "a.test", "/chat");
        head.setProtocol(WEBSOCKET);
        assertFalse(head.refuseUpgrade());
        assertTrue(head.isConnect());
        assertEquals(WEBSOCKET, head.protocol());
        assertEquals(Method.GET, head.routedMethod());
    }

    @Test
    void aPlainConnectIsRoutedAsItself() {
        assertEquals(Method.CONNECT, Heads.request("CONNECT", "a.test:443", "").routedMethod());
    }
}
