package main

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
)

// WebSockets: 64 connections, each with one message of 64 bytes on its way there or back. The frames are made once; the
// server knows no others.

const (
	webSocketClients = 64
	messageSize      = 64
	acceptSuffix     = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
)

func echoWebSocket(w http.ResponseWriter, r *http.Request) {
	connection, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer connection.Close()
	digest := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + acceptSuffix))
	fmt.Fprintf(connection, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Accept: %s\r\n\r\n", base64.StdEncoding.EncodeToString(digest[:]))
	in := make([]byte, 2+4+messageSize)
	out := append([]byte{0x82, messageSize}, make([]byte, messageSize)...)
	for {
		if _, err := io.ReadFull(buffered, in); err != nil {
			return
		}
		for i := range messageSize {
			out[2+i] = in[6+i] ^ in[2+i%4]
		}
		if _, err := connection.Write(out); err != nil {
			return
		}
	}
}

func webSockets(address, path string, seconds int) outcome {
	return repeat(webSocketClients, seconds, func(int) (step, error) {
		connection, err := net.Dial("tcp", address)
		if err != nil {
			return nil, err
		}
		key := base64.StdEncoding.EncodeToString([]byte("sixteen bytes it"))
		fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n", path, address, key)
		in := bufio.NewReader(connection)
		response, err := http.ReadResponse(in, nil)
		if err == nil && response.StatusCode != http.StatusSwitchingProtocols {
			err = fmt.Errorf("status %d", response.StatusCode)
		}
		message := bytes.Repeat([]byte("m"), messageSize)
		out := []byte{0x82, 0x80 | messageSize, 1, 2, 3, 4}
		for i, b := range message {
			out = append(out, b^out[2+i%4])
		}
		back := make([]byte, 2+messageSize)
		return func() error {
			if _, err := connection.Write(out); err != nil {
				return err
			}
			_, err := io.ReadFull(in, back)
			if err == nil && !bytes.Equal(back[2:], message) {
				err = fmt.Errorf("another message came back")
			}
			return err
		}, err
	})
}
