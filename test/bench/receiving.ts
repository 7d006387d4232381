/*
 * Mails that come in beside those that are sent, at a steady pace, and how long the API takes meanwhile:
 *   node dist/test/bench/receiving.js --incoming 200 --sends 500 --warm-up 20 --seconds 40 [--cpu-prof directory]
 * 20 KB each, from 40 networks over sessions that stay; each 250 after a sync. A send is late from the moment on at which it
 * was due. Bench and appliance share the machine. The times of the warm-up, in which V8 compiles the code of all threads, are
 * told apart. Prints RSA-2048 signatures a second.
 */
import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { parseArgs } from 'node:util'
import { freePort } from '../support/free-port.js'
import {
  cpuSeconds,
  initDataDir,
  loadAverage,
  memoryMb,
  openSink,
  quantile,
  report,
  rsaSignatures,
  serveAppliance,
  sleep,
} from './rig.js'

const { values } = parseArgs({
  options: {
    incoming: { type: 'string', default: '200' },
    sends: { type: 'string', default: '500' },
    'warm-up': { type: 'string', default: '20' },
    seconds: { type: 'string', default: '40' },
    'cpu-prof': { type: 'string' },
  },
})
const warmUpMs = Number(values['warm-up']) * 1_000
const seconds = warmUpMs / 1_000 + Number(values.seconds)
const sessions = 40
// A session has 100 mails; a real server opens another one.
const mailsASession = 90
const host = 'in.example.test'
const file = randomBytes(13_500).toString('base64').replace(/.{76}/g, '$&\r\n')
const mail = (n: number) =>
  `From: Ann <ann@client.test>\r\nTo: a@${host}\r\nSubject: ${n}\r\nMessage-ID: <${n}@client.test>\r\n` +
  'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nThank you!\r\n' +
  '--b\r\nContent-Type: application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n' +
  `${file}\r\n--b--\r\n.\r\n`

const rsa = rsaSignatures()
const { dataDir, apiKey } = initDataDir()
const [inboundPort, sinkPort] = [await freePort(), await freePort()]
const sink = openSink('127.0.0.1', sinkPort)
const appliance = await serveAppliance({
  dataDir,
  apiKey,
  sinkPort,
  connections: 20,
  ...(values['cpu-prof'] === undefined
    ? {}
    : { nodeArgs: ['--cpu-prof', `--cpu-prof-dir=${values['cpu-prof']}`] }),
  inbound: `enabled = true\nhost = "127.0.0.1"\nport = ${inboundPort}\n`,
})
const ask = async (method: string, path: string, body?: object) => {
  const response = await fetch(appliance.url + path, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return JSON.parse(text)
}
const { domains } = await ask('GET', '/v1/domains')
await ask('PATCH', `/v1/domains/${domains[0].id}`, { receivingHost: host })
await ask('POST', '/v1/receiving/rules', { pattern: `*@${host}`, action: 'store' })

const times: number[] = []
const earlyTimes: number[] = []
const failed: string[] = []
let taken = 0
const clients = Array.from({ length: sessions }, (_, n) => makeClient(`127.0.${n + 1}.1`))
const load = loadAverage()
const cpuBefore = cpuSeconds(appliance.pid)
const began = performance.now()
const [sent, came] = await Promise.all([
  atPace(Number(values.sends), async (n, dueAt) => {
    await appliance
      .post('/v1/emails/send', {
        from: 'a@example.test',
        to: `n${n}@d0.test`,
        subject: 'Bench',
        html: '<p>Hello</p>',
      })
      .then(() => {
        const kept = dueAt - began < warmUpMs ? earlyTimes : times
        kept.push(performance.now() - dueAt)
      })
      .catch((error: unknown) => failed.push(String(error)))
  }),
  atPace(Number(values.incoming), async (n) => {
    const reply = await clients[n % sessions]?.give(mail(n)).catch(String)
    if (reply?.startsWith('250')) taken++
    else failed.push(reply ?? '')
  }),
])
const tookS = (performance.now() - began) / 1_000
const cpuS = cpuSeconds(appliance.pid) - cpuBefore
let waiting = Number.NaN
for (let tries = 0; tries < 300 && waiting !== 0; tries++) {
  const { received } = await ask('GET', '/v1/received?state=reading&limit=1')
  waiting = received.length
  if (waiting > 0) await sleep(100)
}
const readS = (performance.now() - began) / 1_000
for (const client of clients) client.end()
const sends = earlyTimes.length + times.length
const quantiles = (of: number[]) =>
  [0.5, 0.9, 0.99].map((q) => quantile(of, q).toFixed(1)).join(', ')
report([
  ['incoming/s, sends/s, seconds', `${values.incoming}, ${values.sends}, ${seconds}`],
  ['came in and were taken', `${taken} of ${came}, ${(taken / tookS).toFixed(0)}/s`],
  ['all read after', `${readS.toFixed(1)} s (the pace ended at ${tookS.toFixed(1)})`],
  ['sends taken', `${sends} of ${sent}, ${(sends / tookS).toFixed(0)}/s`],
  ['API p50, p90, p99 of the warm-up', quantiles(earlyTimes)],
  ['API p50, p90, p99 afterwards', quantiles(times)],
  [
    'processor of the appliance',
    `${(cpuS / tookS).toFixed(2)}, ${memoryMb(appliance.pid, 'VmHWM').toFixed(0)} MB`,
  ],
  ['failed', `${failed.length} ${failed[0] ?? ''}`],
  ['load before, after; RSA-2048/s', `${load}, ${loadAverage()}; ${rsa.toFixed(0)}`],
])
await appliance.stop()
sink.process.kill()
process.exit(0)

/** Begins so many a second, whether those before have ended or not; resolves with how many when all have. */
async function atPace(
  aSecond: number,
  one: (n: number, dueAt: number) => Promise<void>,
): Promise<number> {
  const first = performance.now()
  const all: Promise<void>[] = []
  while (all.length < aSecond * seconds) {
    const dueNow = Math.floor(((performance.now() - first) / 1_000) * aSecond) + 1
    while (all.length < Math.min(dueNow, aSecond * seconds)) {
      all.push(one(all.length, first + (all.length * 1_000) / aSecond))
    }
    await sleep(2)
  }
  await Promise.all(all)
  return all.length
}

/** One who hands in mail after mail over a session that stays. */
function makeClient(localAddress: string) {
  let socket: Socket | undefined
  let given = 0
  let line = ''
  let heard: (reply: string) => void = () => {}
  let turn: Promise<unknown> = Promise.resolve()
  const say = (text: string) =>
    new Promise<string>((resolve, reject) => {
      heard = resolve
      socket?.once('error', reject)
      socket?.write(text)
    })
  const open = async () => {
    socket = connect({ port: inboundPort, host: '127.0.0.1', localAddress, noDelay: true })
    socket.setMaxListeners(0)
    socket.on('data', (chunk: Buffer) => {
      line += chunk.toString('latin1')
      const last = line.split('\r\n').at(-2)
      if (!line.endsWith('\r\n') || last === undefined || !/^\d{3} /.test(last)) return
      line = ''
      heard(last)
    })
    given = 0
    await say('')
    await say('EHLO client.test\r\n')
  }
  const giveOne = async (message: string) => {
    if (socket === undefined || given === mailsASession) {
      // Its goodbye is no answer to what is said over the next one.
      socket?.removeAllListeners('data').resume().end('QUIT\r\n')
      await open()
    }
    given++
    for (const command of ['MAIL FROM:<ann@client.test>', `RCPT TO:<a@${host}>`, 'DATA']) {
      const reply = await say(`${command}\r\n`)
      if (!/^[23]/.test(reply)) return reply
    }
    return await say(message)
  }
  return {
    give(message: string): Promise<string> {
      const mine = turn.then(() => giveOne(message))
      turn = mine.catch(() => {})
      return mine
    },
    end: () => socket?.destroy(),
  }
}
