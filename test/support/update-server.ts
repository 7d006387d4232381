import { createHmac } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { type AddressInfo, createServer } from 'node:net'
import { decode, encode } from 'dns-packet'
import type { Test } from 'tap'
import { freePort } from './free-port.js'

export interface UpdateServer {
  port: number
  /** The values of the records by their names. */
  records: Map<string, string[]>
  /** By which ways updates came that were not refused. */
  ways: ('udp' | 'tcp')[]
  /** What it does with updates; `lies` answers that all is well without a signature. */
  does: 'its work' | 'cuts datagrams' | 'no datagrams' | 'lies' | 'refuses'
}

const classNone = 254
const short = (value: number) => Buffer.from([value >> 8, value & 0xff])
const wire = (name: string) => encode({ questions: [{ name, type: 'A' }] }).subarray(12, -4)

/**
 * A primary name server of `zone` that takes updates by one HMAC-SHA256 key, written from RFC 2136 and RFC 8945 apart from the
 * product's own code: it answers over UDP and TCP, on loopback.
 */
export async function updateServer(
  t: Test,
  { zone, key }: { zone: string; key: { name: string; secret: Buffer } },
): Promise<UpdateServer> {
  const server: UpdateServer = { port: 0, records: new Map(), ways: [], does: 'its work' }
  const algorithm = wire('hmac-sha256')
  const macOf = (...parts: Buffer[]) =>
    createHmac('sha256', key.secret).update(Buffer.concat(parts)).digest()
  const variables = (time: Buffer, error: number) =>
    Buffer.concat([
      wire(key.name),
      short(255),
      Buffer.alloc(4),
      algorithm,
      time,
      short(error),
      short(0),
    ])
  const record = (rdata: Buffer) =>
    Buffer.concat([
      wire(key.name),
      short(250),
      short(255),
      Buffer.alloc(4),
      short(rdata.length),
      rdata,
    ])

  function answer(message: Buffer, way: 'udp' | 'tcp'): Buffer | undefined {
    const { questions = [], authorities = [], additionals = [] } = decode(message)
    const reply = (rcode: number) => {
      const head = encode({ type: 'response', id: message.readUInt16BE(0), questions })
      head.writeUInt16BE((message.readUInt16BE(2) & 0x7800) | 0x8000 | rcode, 2)
      return head
    }
    const signed = (bare: Buffer, mac: Buffer, time: Buffer) => {
      const own = macOf(short(mac.length), mac, bare, variables(time, 0))
      const id = bare.subarray(0, 2)
      const tail = record(Buffer.concat([algorithm, time, short(32), own, id, Buffer.alloc(4)]))
      const whole = Buffer.concat([bare, tail])
      whole.writeUInt16BE(1, 10)
      return whole
    }
    if ((message.readUInt16BE(2) & 0x7800) === 0) {
      const data = { mname: 'ns.test', rname: 'ops.test', serial: 1, refresh: 60, retry: 60 }
      const soa = { name: zone, type: 'SOA', data: { ...data, expire: 60, minimum: 60 } } as const
      const isInside = questions.every(({ name }) => name.endsWith(zone))
      const id = message.readUInt16BE(0)
      if (isInside) return encode({ type: 'response', id, questions, authorities: [soa] })
      return reply(5)
    }
    if (way === 'udp' && server.does === 'no datagrams') return undefined
    if (way === 'udp' && server.does === 'cuts datagrams') {
      const cut = reply(0)
      cut.writeUInt16BE(cut.readUInt16BE(2) | 0x0200, 2)
      return cut
    }
    if (server.does === 'lies') return reply(0)
    const tsig = additionals.at(-1)
    if (tsig?.type !== 'TSIG') return reply(5)
    const rdata = tsig.data as Buffer
    const time = rdata.subarray(algorithm.length, algorithm.length + 8)
    const mac = rdata.subarray(algorithm.length + 10, algorithm.length + 42)
    const bare = Buffer.from(message.subarray(0, message.length - record(rdata).length))
    bare.writeUInt16BE(0, 10)
    if (!macOf(bare, variables(time, 0)).equals(mac)) {
      // RFC 8945 §5.2.2: told without a signature.
      const told = Buffer.concat([
        algorithm,
        time,
        short(0),
        bare.subarray(0, 2),
        short(16),
        short(0),
      ])
      const whole = Buffer.concat([reply(9), record(told)])
      whole.writeUInt16BE(1, 10)
      return whole
    }
    if (server.does === 'refuses') return signed(reply(5), mac, time)
    server.ways.push(way)
    for (const one of authorities) {
      if (one.type !== 'TXT') continue
      const value = String(Array.isArray(one.data) ? one.data.join('') : one.data)
      const others = (server.records.get(one.name) ?? []).filter((known) => known !== value)
      const isRemoval = String(one.class) === `UNKNOWN_${classNone}`
      server.records.set(one.name, isRemoval ? others : [...others, value])
    }
    return signed(reply(0), mac, time)
  }

  server.port = await freePort()
  const datagrams = createSocket('udp4').on('message', (message, { port, address }) => {
    const reply = answer(message, 'udp')
    if (reply !== undefined) datagrams.send(reply, port, address)
  })
  await new Promise<void>((bound) => datagrams.bind(server.port, '127.0.0.1', bound))
  const streams = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (bytes) => {
      const reply = answer(bytes.subarray(2), 'tcp') ?? Buffer.alloc(0)
      socket.end(Buffer.concat([short(reply.length), reply]))
    })
  })
  await new Promise<void>((bound) => streams.listen(server.port, '127.0.0.1', bound))
  t.teardown(async () => {
    datagrams.close()
    await new Promise((closed) => streams.close(closed))
  })
  t.equal((streams.address() as AddressInfo).port, server.port)
  return server
}
