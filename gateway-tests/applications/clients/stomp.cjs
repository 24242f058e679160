// stomp.cjs URL PASSWORD WHAT    Uses STOMP over WebSocket.
Object.assign(global, { WebSocket: require('ws') })
const { Client } = require('@stomp/stompjs')
const [brokerURL, passcode, what] = process.argv.slice(2)
const fail = why => { console.log('error: ' + why); process.exit(1) }
setTimeout(() => fail('it takes too long'), 100_000)
const done = text => { console.log(text); client.deactivate().then(() => process.exit(0)) }

const client = new Client({
  brokerURL,
  connectHeaders: { login: 'app', passcode },
  reconnectDelay: what === 'wait' ? 300 : 0,
  heartbeatIncoming: what === 'wait' ? 5_000 : 0,
  heartbeatOutgoing: what === 'wait' ? 5_000 : 0,
  onStompError: frame => fail(frame.headers.message + frame.body),
  onWebSocketClose: () => { if (what === 'wait') console.log('closed') },
  debug: text => { if (/<<< PONG/.test(text) && what === 'wait') console.log('heartbeat') },
  onConnect() {
    const piece = 'x'.repeat(1_000_000)
    let count = 0
    let size = 0
    const subscribe = (destination, receive) => client.subscribe(destination, message => receive(message.body))
    const send = (destination, body) => client.publish({ destination, body })
    if (what === 'hello') {
      subscribe('/queue/hello', done)
      send('/queue/hello', 'hello')
    } else if (what === 'publish') {
      send('/queue/news', 'news')
      done('published')
    } else if (what === 'large') {
      subscribe('/queue/large', body => {
        size += body.length
        if (++count === 100) done(`${count} messages, ${size} characters`)
        else send('/queue/large', piece)
      })
      send('/queue/large', piece)
    } else {
      console.log('connected')
      subscribe('/queue/news', console.log)
    }
  },
})
client.activate()
