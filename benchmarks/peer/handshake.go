package main

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
)

const handshakeClients = 16

// handshakes makes a connection with TLS 1.3 for each request; resumed ones after the first by a ticket.
func handshakes(resumed bool, address string, seconds int) outcome {
	return repeat(handshakeClients, seconds, func(int) (step, error) {
		settings := &tls.Config{
			InsecureSkipVerify: true, // a certificate made for the occasion
			ServerName:         "localhost",
			MinVersion:         tls.VersionTLS13,
			NextProtos:         []string{"http/1.1"},
			CurvePreferences:   []tls.CurveID{tls.X25519},
		}
		if resumed {
			settings.ClientSessionCache = tls.NewLRUClientSessionCache(1)
		}
		first := true
		return func() error {
			connection, err := tls.Dial("tcp", address, settings)
			if err != nil {
				return err
			}
			defer connection.Close()
			if resumed && !first && !connection.ConnectionState().DidResume {
				return fmt.Errorf("a ticket was not taken")
			}
			first = false
			if _, err = io.WriteString(connection, "GET /small HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"); err != nil {
				return err
			}
			response, err := http.ReadResponse(bufio.NewReader(connection), nil)
			if err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, response.Body)
			if err == nil && response.StatusCode != http.StatusOK {
				err = fmt.Errorf("status %d", response.StatusCode)
			}
			return err
		}, nil
	})
}
