package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// idle opens connections that have each done one exchange, prints their number, and keeps them until standard input ends.
func idle(kind, address, target string, count int) {
	var kept []net.Conn
	for range count {
		var connection net.Conn
		var err error
		switch kind {
		case "h1":
			connection, err = idleHTTP1(address)
		case "h2":
			connection, err = idleHTTP2(address)
		default:
			connection, err = idleTunnel(address, target)
		}
		check(err)
		kept = append(kept, connection)
	}
	fmt.Println(len(kept))
	io.Copy(io.Discard, os.Stdin)
}

func idleHTTP1(address string) (net.Conn, error) {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	if _, err = io.WriteString(connection, "GET /small HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		return nil, err
	}
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err == nil {
		_, err = io.Copy(io.Discard, response.Body)
	}
	return connection, err
}

func idleHTTP2(address string) (net.Conn, error) {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	out := bufio.NewWriter(connection)
	io.WriteString(out, http2.ClientPreface)
	framer := http2.NewFramer(out, connection)
	framer.WriteSettings()
	var block headerBlock
	encoder := hpack.NewEncoder(&block)
	for _, field := range [][2]string{{":method", "GET"}, {":scheme", "http"}, {":path", "/small"}, {":authority", "localhost"}} {
		encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
	}
	framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block, EndHeaders: true, EndStream: true})
	if err := out.Flush(); err != nil {
		return nil, err
	}
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return nil, err
		}
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				framer.WriteSettingsAck()
				out.Flush()
			}
		case *http2.RSTStreamFrame, *http2.GoAwayFrame:
			return nil, fmt.Errorf("%v", f)
		}
		if h := frame.Header(); h.StreamID == 1 && h.Flags.Has(http2.FlagDataEndStream) {
			return connection, nil
		}
	}
}

type headerBlock []byte

func (b *headerBlock) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

func idleTunnel(address, target string) (net.Conn, error) {
	connection, in, err := open(address, target)
	if err != nil {
		return nil, err
	}
	if _, err = io.WriteString(connection, "x\n"); err != nil {
		return nil, err
	}
	_, err = io.ReadFull(in, make([]byte, 2))
	return connection, err
}
