package dev.gateway.protocol.http1;

/** How far a parser has come. */
enum Progress {
    /** It has taken all there is and needs more. */
    MORE,
    /** What it was to find is complete. */
    COMPLETE,
    /** What came breaks the rules. */
    REFUSED
}
