package dev.gateway.net.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelException;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.unix.Errors.NativeIoException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.SocketException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whose fault it is that a connection could not be made. */
class ShortageTest {
    private static final InetAddress ADDRESS = InetAddress.getLoopbackAddress();

    @BeforeAll
    static void loadNativeCode() {
        Epoll.ensureAvailability(); // which makes the names of the errors
    }

    @ParameterizedTest
    @ValueSource(ints = {-12, -23, -24, -28, -99, -105})
    void whatTheKernelLacksIsOurs(int error) {
        assertThat(Shortage.isOurs(new ChannelException(new NativeIoException("connect", error)), ADDRESS))
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {-104, -110, -111, -113})
    void whatTheOtherSideDoesIsNot(int error) {
        assertThat(Shortage.isOurs(new NativeIoException("connect", error), ADDRESS))
                .isFalse();
    }

    @Test
    void theWordsOfTheJdkAreKnown() {
        assertThat(Shortage.isOurs(new SocketException("Too many open files"), ADDRESS))
                .isTrue();
        assertThat(Shortage.isOurs(
                        new ConnectException("connect(..) failed: Cannot assign requested address"), ADDRESS))
                .isTrue();
        assertThat(Shortage.isOurs(new ConnectException("Connection refused"), ADDRESS))
                .isFalse();
        assertThat(Shortage.isOurs(new IllegalStateException(), null)).isFalse();
    }
}
