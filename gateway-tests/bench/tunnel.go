// tunnel: both ends of the tunnels that bench/tunnels measures.
//
//	tunnel serve                      prints its port, then serves: a line "SEND n" is answered with n bytes and the end,
//	                                  anything else is echoed
//	tunnel fat PROXY TARGET SECONDS   one tunnel at full rate from the server to here; prints bytes and seconds
//	tunnel short PROXY TARGET SECONDS 16 clients, each: a tunnel, 100 bytes, the end; prints tunnels and seconds
//	tunnel idle PROXY TARGET COUNT    opens tunnels, prints their number, keeps them until standard input ends
//
// TARGET is what CONNECT asks for; "-" says that the proxy does not want to be asked.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const shortClients = 16

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
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

func fat(proxy, target string, duration time.Duration) {
	connection, in, err := open(proxy, target)
	check(err)
	_, err = io.WriteString(connection, "SEND 1000000000000\n")
	check(err)
	start := time.Now()
	block := make([]byte, 1<<20)
	var bytes int64
	for time.Since(start) < duration {
		var n int
		if in.Buffered() > 0 {
			n, err = in.Read(block)
		} else {
			n, err = connection.Read(block)
		}
		check(err)
		bytes += int64(n)
	}
	fmt.Println(bytes, time.Since(start).Seconds())
}

func short(proxy, target string, duration time.Duration) {
	var done atomic.Int64
	var clients sync.WaitGroup
	start := time.Now()
	for range shortClients {
		clients.Add(1)
		go func() {
			defer clients.Done()
			for time.Since(start) < duration {
				connection, in, err := open(proxy, target)
				check(err)
				_, err = io.WriteString(connection, "SEND 100\n")
				check(err)
				n, err := io.Copy(io.Discard, in)
				check(err)
				if n != 100 {
					check(fmt.Errorf("%d bytes instead of 100", n))
				}
				connection.Close()
				done.Add(1)
			}
		}()
	}
	clients.Wait()
	fmt.Println(done.Load(), time.Since(start).Seconds())
}

func idle(proxy, target string, count int) {
	var tunnels []net.Conn
	for range count {
		connection, in, err := open(proxy, target)
		check(err)
		_, err = io.WriteString(connection, "x\n")
		check(err)
		_, err = io.ReadFull(in, make([]byte, 2))
		check(err)
		tunnels = append(tunnels, connection)
	}
	fmt.Println(len(tunnels))
	io.Copy(io.Discard, os.Stdin)
}

func main() {
	arguments := os.Args[1:]
	if len(arguments) == 1 && arguments[0] == "serve" {
		serve()
		return
	}
	if len(arguments) != 4 {
		check(fmt.Errorf("usage: tunnel serve | tunnel fat|short|idle PROXY TARGET NUMBER"))
	}
	number, err := strconv.Atoi(arguments[3])
	check(err)
	switch arguments[0] {
	case "fat":
		fat(arguments[1], arguments[2], time.Duration(number)*time.Second)
	case "short":
		short(arguments[1], arguments[2], time.Duration(number)*time.Second)
	case "idle":
		idle(arguments[1], arguments[2], number)
	default:
		check(fmt.Errorf("no mode %s", arguments[0]))
	}
}
