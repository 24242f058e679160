// red.cjs URL TOKEN    Prints what the editor of Node-RED hears.
const WebSocket = require('ws')
const [url, auth] = process.argv.slice(2)
const socket = new WebSocket(url)
socket.on('open', () => socket.send(JSON.stringify({ auth })))
socket.on('message', data => {
  console.log(data.toString())
  if (/"auth":"ok"/.test(data)) socket.send(JSON.stringify({ subscribe: 'notification/#' }))
})
socket.on('error', e => console.log('error: ' + e))
socket.on('close', () => process.exit(1))
