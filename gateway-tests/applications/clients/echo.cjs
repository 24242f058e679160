// echo.cjs URL COUNT SIZE    Sends messages to a server of WebSockets that echoes them, and compares what it gets.
const WebSocket = require('ws')
const [url, count, size] = process.argv.slice(2)
const socket = new WebSocket(url)
const text = 'x'.repeat(Number(size))
let got = 0
const fail = why => { console.log('error: ' + why); process.exit(1) }
setTimeout(() => fail('it takes too long'), 60_000)
socket.on('error', fail)
socket.on('open', () => socket.send(text))
socket.on('message', data => {
  if (data.toString() !== text) fail('another text')
  if (++got === Number(count)) { console.log(got + ' echoes'); socket.close(1000) } else socket.send(text)
})
socket.on('close', code => process.exit(code === 1000 ? 0 : 1))
