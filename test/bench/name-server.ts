/** A name server for the benchmarks: `d7.test` has one MX, `d7.sink.test`, somewhere on this machine. */
import { createSocket } from 'node:dgram'
import { type Answer, decode, encode, type Question } from 'dns-packet'

export interface NameServer {
  port: number
  close(): void
}

/** `addressOf` says where the MX of a domain is, a loopback address. */
export async function openNameServer(addressOf: (domain: string) => string): Promise<NameServer> {
  const socket = createSocket('udp4')
  const answerOf = ({ name, type }: Question): Answer[] => {
    const domain = name.toLowerCase()
    const base = { name, ttl: 3_600 } as const
    if (type === 'MX' && !domain.endsWith('.sink.test')) {
      const exchange = domain.replace(/\.test$/, '.sink.test')
      return [{ ...base, type: 'MX', data: { preference: 10, exchange } }]
    }
    if (type !== 'A') return []
    return [{ ...base, type: 'A', data: addressOf(domain.replace('.sink.test', '.test')) }]
  }
  socket.on('message', (packet, from) => {
    const query = decode(packet)
    const questions = query.questions ?? []
    const answers = questions.flatMap(answerOf)
    const flags = 0x0400 | 0x0100
    socket.send(
      encode({ type: 'response', id: query.id ?? 0, flags, questions, answers }),
      from.port,
      from.address,
    )
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return { port: socket.address().port, close: () => socket.close() }
}
