"""The rules that the gateway has, and how docs/routing.md says that servers may read a path. Written apart from the gateway's code."""

import re

OPEN = "open"  # the rule that takes everything else
GUARDED_HOST = b"guarded.test"

# Rules by name: a prefix of paths, an exact path or an expression, and the rest of the rule. The last two refuse.
PREFIXES = {"admin": b"/admin", "hole": b"/admin/open", "raw": b"/raw", "slashes": b"/slashes", "closed": b"/closed", "secret": b"/secret",
            "inside": b"/raw/staff"}
EXACT = {"exact": b"/exact", "inner": b"/raw/exact"}
EXPRESSIONS = {"staff": b"/staff[0-9]*"}
REFUSING = ("closed", "secret")
GUARDED = ("host", "admin", "exact", "inner", "inside", "staff", *REFUSING)
UNCHANGED = ("raw", "slashes")  # these do not forward the normal form


GUARD = "{type: IPAccess, ipAccess: {allow: [127.0.0.0/8]}}"
FILTERS = {
    **dict.fromkeys(("host", "admin", "exact", "inner", "inside", "staff"), GUARD),
    "closed": "{type: IPAccess, ipAccess: {deny: [127.0.0.0/8]}}",
    "secret": "{type: DirectResponse, directResponse: {statusCode: 403}}"}
KEYS = {"raw": ", normalizePath: false, mergeSlashes: false", "slashes": ", mergeSlashes: false"}
MATCHES = {name: f"matches: [{{path: {{type: {kind}, value: '{value.decode()}'}}}}], " for kind, table in (
    ("PathPrefix", PREFIXES), ("Exact", EXACT), ("RegularExpression", EXPRESSIONS)) for name, value in table.items()}


def rule(name, upstream):
    """A rule in YAML. What passes it has its name in X-Rule."""
    if name == "secret":
        return f"{{name: {name}, {MATCHES[name]}filters: [{FILTERS[name]}]}}"
    named = f"{{type: RequestHeaderModifier, requestHeaderModifier: {{set: [{{name: X-Rule, value: {name}}}]}}}}"
    filters = ", ".join(each for each in (FILTERS.get(name), named) if each)
    return f"{{name: {name}, {MATCHES.get(name, '')}filters: [{filters}], backendRefs: [{{name: {upstream}}}]{KEYS.get(name, '')}}}"


def routes(lane):
    """The routes of the listener with this name to the upstream with this name, in YAML."""
    refs = f"parentRefs: [{{name: {lane}}}]"
    every = ", ".join(rule(name, lane) for name in (*MATCHES, OPEN))
    return (f"  - {{name: {lane}-host, {refs}, hostnames: [{GUARDED_HOST.decode()}], rules: [{rule('host', lane)}]}}\n"
            f"  - {{name: {lane}, {refs}, rules: [{every}]}}")

ESCAPE = re.compile(rb'%[0-9A-Fa-f]{2}')
NEEDS_ESCAPE = re.compile(rb'%(?:[01][0-9A-Fa-f]|2[02]|3[CEce]|5[BDEbde]|60|7[B-Db-dFf]|[89A-Fa-f][0-9A-Fa-f])')


def below(path, prefix):
    return path == prefix or path.startswith(prefix + b"/")


def rule_of(host, path):
    """The name of the rule that is meant for a host and a path, as a server reads them."""
    name = re.sub(rb":[0-9]*$", b"", host.lower()).rstrip(b".")
    if name == GUARDED_HOST:
        return "host"
    for rule, exact in EXACT.items():
        if path == exact:
            return rule
    for rule, expression in EXPRESSIONS.items():
        if re.fullmatch(expression, path):
            return rule
    for rule, prefix in sorted(PREFIXES.items(), key=lambda each: -len(each[1])):
        if below(path, prefix):
            return rule
    return OPEN


def passed_guard(rule, host, path):
    """The rule that should have guarded what a server reads, but another one took the request; None if there is none."""
    for each in (path, without_blanks(path)):
        meant = rule_of(host, each)
        if meant in GUARDED and meant != rule:
            return meant
    return None


def decode(path):
    return re.sub(rb"%([0-9A-Fa-f]{2})", lambda match: bytes([int(match[1], 16)]), path)


def without_parameters(path):
    return re.sub(rb";[^/]*", b"", path)


def without_blanks(path):
    plain = bytes(byte for byte in path if byte >= 0x20 and byte != 0x7f)
    return b"/".join(segment.strip(b" ") for segment in plain.split(b"/"))


def resolve(path):
    """Without empty segments and dots; a backslash is a slash."""
    found = []
    segments = path.replace(b"\\", b"/").split(b"/")
    for segment in segments:
        if segment == b"..":
            if found:
                found.pop()
        elif segment not in (b"", b"."):
            found.append(segment)
    end = b"/" if found and segments[-1] in (b"", b".", b"..") else b""
    return b"/" + b"/".join(found) + end


def plain(path):
    """A resolved path as text, to compare what servers have read.

    Some escape what a URI must not have, some write escapes in upper case, and some decode to text, in which bytes that are no UTF-8 are replaced.
    """
    bare = NEEDS_ESCAPE.sub(lambda match: decode(match[0]), resolve(path))
    return ESCAPE.sub(lambda match: match[0].upper(), bare).decode("utf-8", "replace")


def with_plain_dots(path):
    """With the dots of dot segments unescaped, and everything else as it is."""
    segments = path.split(b"/")
    return b"/".join(decode(segment) if decode(segment) in (b".", b"..") else segment for segment in segments)


def without_end(path):
    """Without the slash that a dot segment at the end leaves, as Go reads it."""
    return resolve(path).rstrip(b"/") or b"/" if decode(path).rpartition(b"/")[2] in (b".", b"..") else path


def readings(path):
    """What servers may make of a path."""
    bare = without_parameters(path)
    kept = {path, decode(path), bare, decode(bare), without_parameters(decode(path)), with_plain_dots(path)}
    kept |= {without_end(each) for each in kept}
    return {plain(each) for path in kept for each in (path, without_blanks(path))}


def is_reading(path, of):
    """Whether a server may read a path so. Jetty decodes some escapes and leaves others. That is no fault."""
    return not {plain(path), plain(decode(path))}.isdisjoint(readings(of))
