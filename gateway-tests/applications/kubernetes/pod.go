package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"sync"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

// pod has one container. Its program says "tick" five times a second, and repeats each line of its input.
type pod struct {
	lock    sync.Mutex
	grown   *sync.Cond
	output  []byte
	program io.Writer
}

func newPod() *pod {
	input, program := io.Pipe()
	p := &pod{program: program}
	p.grown = sync.NewCond(&p.lock)
	p.say("tick\n")
	go func() {
		for range time.Tick(200 * time.Millisecond) {
			p.say("tick\n")
		}
	}()
	go func() {
		for lines := bufio.NewScanner(input); lines.Scan(); {
			p.say("read " + lines.Text() + "\n")
		}
	}()
	return p
}

func (p *pod) say(text string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.output = append(p.output, text...)
	p.grown.Broadcast()
}

// said returns the output until now.
func (p *pod) said() []byte {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.output
}

// follow writes the output from a position on, until a write fails or the context ends.
func (p *pod) follow(ctx context.Context, from int, to io.Writer) {
	for ctx.Err() == nil {
		p.lock.Lock()
		for len(p.output) == from {
			p.grown.Wait()
		}
		piece := p.output[from:]
		p.lock.Unlock()
		from += len(piece)
		if _, err := to.Write(piece); err != nil {
			return
		}
	}
}

// Exec runs a command on this machine.
func (p *pod) Exec(
	ctx context.Context, _ string, words []string, in io.Reader, out, errOut io.WriteCloser, _ bool, _ <-chan remotecommand.TerminalSize,
) error {
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	if out != nil {
		command.Stdout = out
	}
	if errOut != nil {
		command.Stderr = errOut
	}
	if in != nil {
		// With Stdin, the end of the command would wait for the end of its input.
		input, err := command.StdinPipe()
		if err != nil {
			return err
		}
		go func() {
			io.Copy(input, in)
			input.Close()
		}()
	}
	err := command.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return utilexec.CodeExitError{Err: err, Code: exit.ExitCode()}
	}
	return err
}

// Attach shows what the program says from now on, and gives it more input.
func (p *pod) Attach(
	ctx context.Context, _ string, in io.Reader, out, _ io.WriteCloser, _ bool, _ <-chan remotecommand.TerminalSize,
) error {
	if in != nil {
		go io.Copy(p.program, in)
	}
	p.follow(ctx, len(p.said()), out)
	return nil
}

// PortForward connects a stream with a port. Each direction ends by itself.
func (p *pod) PortForward(ctx context.Context, _ string, port int32, stream io.ReadWriteCloser) error {
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	defer connection.Close()
	go func() {
		io.Copy(connection, stream)
		connection.(*net.TCPConn).CloseWrite()
	}()
	_, err = io.Copy(stream, connection)
	return err
}

// files serves a directory, and answers an upload with its digest.
func files(root string) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServer(http.Dir(root)))
	mux.HandleFunc("PUT /", func(w http.ResponseWriter, r *http.Request) {
		digest := sha256.New()
		if _, err := io.Copy(digest, r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Fprintf(w, "%x", digest.Sum(nil))
	})
	return mux
}
