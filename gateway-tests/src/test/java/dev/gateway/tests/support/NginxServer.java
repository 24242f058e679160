package dev.gateway.tests.support;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** The nginx of this machine on a configuration and ports of its own. */
public final class NginxServer implements AutoCloseable {
    private final Process process;
    private final Path directory;
    private final int port;
    private final int h2cPort;
    private final int tlsPort;

    private NginxServer(Process process, Path directory, int port, int h2cPort, int tlsPort) {
        this.process = process;
        this.directory = directory;
        this.port = port;
        this.h2cPort = h2cPort;
        this.tlsPort = tlsPort;
    }

    /**
     * Starts one that serves {@code /file} of some bytes, what is below {@code /git}, and says {@code /whoami}, in
     * cleartext and as {@code origin.test} over TLS; or ends the test.
     */
    public static NginxServer start(byte[] file) throws IOException, InterruptedException {
        String nginx = Tools.find("nginx");
        Path directory = Files.createTempDirectory("nginx");
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.write(directory.resolve("file"), file);
        int port = Tools.freePort();
        int h2cPort = Tools.freePort();
        int tlsPort = Tools.freePort();
        X509Bundle identity = identity();
        Files.writeString(directory.resolve("cert.pem"), identity.getCertificatePEM());
        Files.writeString(directory.resolve("key.pem"), identity.getPrivateKeyPEM());
        Files.createDirectory(
                directory.resolve("git"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
        Files.writeString(
                directory.resolve("nginx.conf"),
                """
                daemon off;
                worker_processes 1;
                pid DIR/pid;
                error_log DIR/error.log;
                events { worker_connections 256; }
                http {
                  access_log off;
                  client_body_temp_path DIR/body;
                  proxy_temp_path DIR/proxy;
                  fastcgi_temp_path DIR/fastcgi;
                  uwsgi_temp_path DIR/uwsgi;
                  scgi_temp_path DIR/scgi;
                  keepalive_requests 50;
                  http2_max_requests 50;
                  client_max_body_size 0;
                  server {
                    listen 127.0.0.1:PORT;
                    listen 127.0.0.1:H2C http2;
                    listen 127.0.0.1:TLS ssl http2;
                    ssl_certificate DIR/cert.pem;
                    ssl_certificate_key DIR/key.pem;
                    root DIR;
                    location = /file { }
                    location /git/ { }
                    location = /whoami {
                      default_type text/plain;
                      return 200 "$request_method $server_protocol via=$http_via for=$http_x_forwarded_for";
                    }
                    location = /redirect { return 302 /whoami; }
                    location = /gone { return 410; }
                  }
                }
                """
                        .replace("DIR", directory.toString())
                        .replace("PORT", "" + port)
                        .replace("H2C", "" + h2cPort)
                        .replace("TLS", "" + tlsPort));
        Process process = new ProcessBuilder(
                        nginx, "-c", directory.resolve("nginx.conf").toString())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("out").toFile())
                .start();
        NginxServer server = new NginxServer(process, directory, port, h2cPort, tlsPort);
        if (!Tools.awaitListening(h2cPort, process)) {
            String out = Files.readString(directory.resolve("out"));
            server.close();
            throw new IOException("nginx did not start: " + out);
        }
        return server;
    }

    public int port() {
        return port;
    }

    public int h2cPort() {
        return h2cPort;
    }

    public int tlsPort() {
        return tlsPort;
    }

    /** Returns the file of the certificate that vouches for {@code origin.test}. */
    public Path certificate() {
        return directory.resolve("cert.pem");
    }

    /** Returns the directory served as {@code /git}. */
    public Path git() {
        return directory.resolve("git");
    }

    private static X509Bundle identity() throws IOException {
        try {
            return new CertificateBuilder()
                    .ecp256()
                    .setIsCertificateAuthority(true)
                    .subject("CN=origin.test")
                    .addSanDnsName("origin.test")
                    .buildSelfSigned();
        } catch (Exception e) {
            throw new IOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        Tools.stop(process);
        List<Path> files;
        try (Stream<Path> walk = Files.walk(directory)) {
            files = walk.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path path : files) {
            Files.delete(path);
        }
    }
}
