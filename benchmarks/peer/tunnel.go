package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// Tunnels by CONNECT: one at full rate from the server to here (fat), or 16 clients that open one, fetch 100 bytes and
// see its end (short). TARGET is what CONNECT asks for; "-" says that the proxy does not want to be asked.

const shortClients = 16

// serveTunnels answers a line "SEND n" with n bytes and the end, and echoes anything else.
func serveTunnels(listener net.Listener) {
	block := make([]byte, 256<<10)
	for {
		connection, err := listener.Accept()
		check(err)
		go func() {
			defer connection.Close()
			in := bufio.NewReaderSize(connection, 64)
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if count, found := strings.CutPrefix(line, "SEND "); found {
				left, _ := strconv.ParseInt(strings.TrimSpace(count), 10, 64)
				for left > 0 {
					n, err := connection.Write(block[:min(left, int64(len(block)))])
					if err != nil {
						return
					}
					left -= int64(n)
				}
				return
			}
			io.WriteString(connection, line)
			// By a small buffer of its own: for sockets io.Copy would keep a pipe for each.
			io.CopyBuffer(struct{ io.Writer }{connection}, struct{ io.Reader }{in}, make([]byte, 512))
		}()
	}
}

// open returns a tunnel, and the reader that has what came after the proxy's answer.
func open(proxy, target string) (net.Conn, *bufio.Reader, error) {
	connection, err := net.DialTimeout("tcp", proxy, 10*time.Second)
	if err != nil {
		return nil, nil, err
	}
	in := bufio.NewReaderSize(connection, 1024)
	if target == "-" {
		return connection, in, nil
	}
	if _, err = fmt.Fprintf(connection, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target); err != nil {
		return nil, nil, err
	}
	status, err := in.ReadString('\n')
	if err == nil && !strings.Contains(status, " 200 ") {
		err = fmt.Errorf("CONNECT was answered with %s", status)
	}
	for line := ""; err == nil && line != "\r\n"; {
		line, err = in.ReadString('\n')
	}
	return connection, in, err
}

// fat counts bytes.
func fat(proxy, target string, seconds int) outcome {
	connection, in, err := open(proxy, target)
	check(err)
	defer connection.Close()
	_, err = io.WriteString(connection, "SEND 1000000000000\n")
	check(err)
	start := time.Now()
	block := make([]byte, 1<<20)
	var bytes int64
	for time.Since(start) < time.Duration(seconds)*time.Second {
		var n int
		if in.Buffered() > 0 {
			n, err = in.Read(block)
		} else {
			n, err = connection.Read(block)
		}
		check(err)
		bytes += int64(n)
	}
	return outcome{Done: bytes, Seconds: time.Since(start).Seconds()}
}

func short(proxy, target string, seconds int) outcome {
	return repeat(shortClients, seconds, func(int) (step, error) {
		return func() error {
			connection, in, err := open(proxy, target)
			if err != nil {
				return err
			}
			defer connection.Close()
			if _, err = io.WriteString(connection, "SEND 100\n"); err != nil {
				return err
			}
			n, err := io.Copy(io.Discard, in)
			if err == nil && n != 100 {
				err = fmt.Errorf("%d bytes instead of 100", n)
			}
			return err
		}, nil
	})
}
