// nats.cjs URL PASSWORD WHAT    Uses NATS over WebSocket.
globalThis.WebSocket = require('ws')
const { connect, StringCodec } = require('nats.ws')
const [url, pass, what] = process.argv.slice(2)
const text = StringCodec()
const main = async () => {
  const connection = await connect({
    servers: url, user: 'app', pass, reconnectTimeWait: 200, maxReconnectAttempts: 200, waitOnFirstConnect: false })
  if (what === 'hello') {
    connection.subscribe('question', { callback: (error, message) => message.respond(message.data) })
    console.log(text.decode((await connection.request('question', text.encode('hello'), { timeout: 20_000 })).data))
  } else if (what === 'publish') {
    connection.publish('news', text.encode('one'))
  } else if (what === 'large') {
    const piece = new Uint8Array(1_000_000).map((_, i) => i * 31 % 251)
    const pieces = connection.subscribe('large', { max: 150 })
    await connection.flush()
    ;(async () => {
      for (let i = 0; i < 150; i++) {
        connection.publish('large', piece)
        if (i % 10 === 9) await connection.flush()
      }
    })()
    let count = 0
    let bytes = 0
    for await (const message of pieces) {
      if (Buffer.compare(Buffer.from(message.data), Buffer.from(piece)) !== 0) throw new Error('other bytes')
      count++
      bytes += message.data.length
    }
    console.log(`${count} messages, ${bytes} bytes`)
  } else if (what === 'stream') {
    const admin = await connection.jetstreamManager()
    await admin.streams.add({ name: 'kept', subjects: ['kept.*'] })
    const stream = connection.jetstream()
    for (let i = 0; i < 100; i++) await stream.publish('kept.a', text.encode('x'.repeat(1000)))
    console.log((await admin.streams.info('kept')).state.messages + ' messages')
  } else {
    ;(async () => { for await (const status of connection.status()) console.log(status.type) })()
    let count = 0
    connection.subscribe('news', { max: 2, callback: () => {
      console.log('got ' + ++count)
      if (count === 2) connection.close()
    } })
    await connection.flush()
    console.log('subscribed')
    await connection.closed()
    return
  }
  await connection.drain()
}
main().catch(e => { console.log('error: ' + (e.code || e.stack)); process.exit(1) })
