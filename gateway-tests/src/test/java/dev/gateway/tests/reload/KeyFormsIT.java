package dev.gateway.tests.reload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.GatewayJar;
import dev.gateway.tests.support.Tools;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Listeners take private keys as cert-manager, acme.sh and openssl write them. */
@Tag("jar")
@Timeout(60)
class KeyFormsIT {
    @TempDir
    Path directory;

    private void certify(String name, String... makeKey) throws Exception {
        Path key = directory.resolve(name + ".key");
        String[] command = new String[makeKey.length + 2];
        System.arraycopy(makeKey, 0, command, 0, makeKey.length);
        command[makeKey.length] = "-out";
        command[makeKey.length + 1] = key.toString();
        command[0] = Tools.find("openssl");
        Tools.run(command);
        Tools.run(
                command[0],
                "req",
                "-x509",
                "-key",
                key.toString(),
                "-subj",
                "/CN=localhost",
                "-addext",
                "subjectAltName=DNS:localhost",
                "-days",
                "30",
                "-out",
                directory.resolve(name + ".crt").toString());
    }

    private String listener(String name) {
        return "  - {name: %s, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {certificateRefs: [{certFile: %s, keyFile: %s}]}}\n"
                .formatted(name, directory.resolve(name + ".crt"), directory.resolve(name + ".key"));
    }

    @Test
    void keysInPkcs1AndSec1AreServed() throws Exception {
        certify("pkcs1", "openssl", "genrsa", "-traditional");
        certify("sec1", "openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout");
        certify("parameters", "openssl", "ecparam", "-name", "prime256v1", "-genkey");
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                GatewayJar gateway = GatewayJar.of("listeners:\n" + listener("pkcs1") + listener("sec1")
                                + listener("parameters")
                                + """
                                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                                admin: {address: 127.0.0.1, port: 0}
                                """
                                        .formatted(origin.port()))
                        .start()) {
            for (String each : new String[] {"pkcs1", "sec1", "parameters"}) {
                try (Peer client = Peers.HTTP1_TLS.connect(gateway.port(each))) {
                    PeerStream stream = client.open();
                    stream.send(Head.request("GET", "/", "host", "localhost"), true);
                    assertThat(stream.receiveFinal().status()).as(each).isEqualTo(200);
                }
            }
        }
    }
}
