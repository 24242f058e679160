"""An S3 server that checks signatures, with boto3."""

import glob
import os
import sys
import zlib

from play import install
from play.rig import mirror
from play.stage import SIZE, Application, Wrong, action, check

SETTINGS = """\
s3proxy.endpoint=http://127.0.0.1:{port}
s3proxy.authorization=aws-v2-or-v4
s3proxy.identity=somebody
s3proxy.credential=a-secret/of+several=signs
jclouds.provider=transient
"""
LOG = """\
<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender"><encoder><pattern>%msg%n</pattern></encoder></appender>
  <root level="warn"><appender-ref ref="out"/></root>
</configuration>
"""
KEYS = (
    "plain.txt", "a/b/c", "a b", "a+b", "a%2Fb", "a%b", "ü", "日本", "q?x=1", "h#x", "e=1&f", "t~", "semi;colon", "star*", "col:on", "at@", "dollar$",
    "comma,", "paren(1)", "back\\slash", "a//b", "/lead", "a/./b", "a/../b", "trail/", "dots..", "quote'\"", "pipe|")
FEWEST_KEYS = 22  # that must work without the gateway, so that enough are tried
METADATA = {"plain": "1", "under_score": "2", "dot.ted": "3", "dash-ed": "4"}
NEEDS = "`normalizePath: false`"


class S3Proxy(Application):
    name = "S3Proxy"
    how = "An S3 server that checks signatures of version 4. The client is boto3, and curl for signed URLs."
    listener = "headersWithUnderscores: allow"
    rule = "mergeSlashes: false\nnormalizePath: false"

    def version(self):
        return install.maven_version("s3proxy")

    def install(self):
        install.maven("s3proxy")
        install.python()

    def prepare(self, stage):
        mirror.write(os.path.join(stage.directory, "logback.xml"), LOG)
        mirror.write(os.path.join(stage.directory, "s3proxy.conf"), SETTINGS.format(port=stage.application_port))
        sys.path[:0] = glob.glob(os.path.join(stage.cache, "python", "lib", "python3.*", "site-packages"))

    def command(self, stage):
        return [
            "java", "-Xmx2g", "-Dlogback.configurationFile=logback.xml", "-cp", os.path.join(stage.cache, "s3proxy", "*"),
            "org.gaul.s3proxy.Main", "--properties", "s3proxy.conf"]

    def client(self, via, secret="a-secret/of+several=signs"):
        import boto3  # of the cache
        from botocore.config import Config

        client = boto3.client(
            "s3", endpoint_url=via.secure, verify=via.stage.ca, aws_access_key_id="somebody", aws_secret_access_key=secret,
            region_name="us-east-1", config=Config(
                signature_version="s3v4", s3={"addressing_style": "path"}, retries={"max_attempts": 1},
                # The server does not know the checksums that boto3 signs where there is no TLS.
                request_checksum_calculation="when_required" if via is via.stage.direct else "when_supported"))
        if secret.startswith("a-"):
            try:
                client.create_bucket(Bucket="bucket")
            except client.exceptions.BucketAlreadyOwnedByYou:
                pass
        return client

    def failing(self, via):
        """Returns the keys that cannot be written, read and deleted again."""
        client = self.client(via)
        wrong = []
        for key in KEYS:
            body = f"body of {key}".encode()
            try:
                client.put_object(Bucket="bucket", Key=key, Body=body)
                good = client.get_object(Bucket="bucket", Key=key)["Body"].read() == body
                listed = [each["Key"] for each in client.list_objects_v2(Bucket="bucket").get("Contents", [])]
                good = good and key in listed
                client.delete_object(Bucket="bucket", Key=key)
            except Exception as e:
                good = False
                if via.stage.options.print:
                    print(f"    {via.secure} {key}: {e}")
            if not good:
                wrong.append(key)
        return wrong

    @action("write, list, read and delete objects with odd keys", needs=NEEDS, note="with defaults, `SignatureDoesNotMatch` for `a//b` and the like")
    def keys(self, via):
        directly = self.failing(via.stage.direct)
        if len(KEYS) - len(directly) < FEWEST_KEYS:
            raise Wrong(f"without the gateway only {len(KEYS) - len(directly)} keys work, not {directly}")
        check([key for key in self.failing(via) if key not in directly], [])

    @action("keep metadata", needs="`headersWithUnderscores: allow`", note="with defaults, `SignatureDoesNotMatch` for names with `_`")
    def metadata(self, via):
        client = self.client(via)
        client.put_object(Bucket="bucket", Key="meta", Body=b"x", Metadata=METADATA)
        check(client.head_object(Bucket="bucket", Key="meta")["Metadata"], METADATA)

    @action("use signed URLs")
    def signed(self, via):
        client = self.client(via)
        for key in ("signed", "ü and+more%"):
            place = {"Bucket": "bucket", "Key": key}
            file = os.path.join(via.stage.directory, "signed")
            mirror.write(file, b"signed body")
            url = client.generate_presigned_url("put_object", place)
            check(via.curl(url.removeprefix(via.secure), "-T", file)[1], 200, "put")
            url = client.generate_presigned_url("get_object", place)
            check(via.curl(url.removeprefix(via.secure)), ("signed body", 200))
            check(via.curl(url.removeprefix(via.secure)[:-1] + ("0" if url[-1] != "0" else "1"), output=True)[1], 403)

    @action("refuse a wrong secret")
    def refused(self, via):
        try:
            self.client(via, "wrong").list_objects_v2(Bucket="bucket")
        except Exception as e:
            check("SignatureDoesNotMatch" in str(e), True, str(e))
        else:
            raise Wrong("a wrong secret is accepted")

    @action("upload 150 MB in parts, and download it in ranges")
    def large(self, via):
        file, _ = via.stage.big_file()
        client = self.client(via)
        client.upload_file(file, "bucket", "big")
        copy = file + ".copy"
        client.download_file("bucket", "big", copy)
        check((os.path.getsize(copy), sum_of(copy)), (SIZE, sum_of(file)))

    @action("go on across a reload, notice that the server was killed, and go on after its restart")
    def restart(self, via):
        client = self.client(via)
        file, _ = via.stage.big_file()
        client.upload_file(file, "bucket", "big")
        body = client.get_object(Bucket="bucket", Key="big")["Body"]
        size = len(body.read(1_000_000))
        via.stage.reload()
        while piece := body.read(1_000_000):
            size += len(piece)
        check(size, SIZE)
        body = client.get_object(Bucket="bucket", Key="big")["Body"]
        body.read(1_000_000)
        via.stage.kill()
        try:
            while body.read(1_000_000):
                pass
        except Exception:
            pass
        else:
            raise Wrong("the download seems whole")
        via.stage.start()
        self.client(via).put_object(Bucket="bucket", Key="again", Body=b"again")
        check(client.get_object(Bucket="bucket", Key="again")["Body"].read(), b"again")


def sum_of(path):
    total = 0
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            total = zlib.crc32(piece, total)
    return total
