/*
 * What programs hand in by SMTP, beside Postfix's smtpd on the same machine in the same run:
 *   node dist/test/bench/submission.js --n 3000 --rounds 3
 * The same 10 KB message by smtp-source over 50 sessions; each 250 after a sync, and nothing is delivered:
 * Postfix holds its mails, Posthorn's are scheduled. Then how long the API takes to answer, without and
 * beside 200 sessions. Needs root and Debian's postfix for the first; prints RSA-2048 signatures a second.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { benchContent } from './content.js'
import { missingForPostfix, postfixPort, startPostfix } from './postfix.js'
import {
  initDataDir,
  loadAverage,
  quantile,
  report,
  rsaSignatures,
  serveAppliance,
  sleep,
} from './rig.js'

const { values } = parseArgs({
  options: { n: { type: 'string', default: '3000' }, rounds: { type: 'string', default: '3' } },
})
const n = Number(values.n)
const sessions = 50
const submissionPort = 18_587
const later = `X-Posthorn-Scheduled-At: ${new Date(Date.now() + 86_400_000).toISOString()}\r\n`
const message = `${later}${benchContent().raw.replaceAll('\n', '\r\n')}`
const messageFile = join(mkdtempSync(join(tmpdir(), 'bench-message-')), 'mail')
writeFileSync(messageFile, message.replaceAll('\r\n', '\n'))

const rsa = rsaSignatures()
const missing = missingForPostfix({ signs: false })
const { dataDir, apiKey, accountId } = initDataDir()
const appliance = await serveAppliance({
  dataDir,
  apiKey,
  sinkPort: 2_626,
  connections: 20,
  settings:
    `[submission]\nenabled = true\nstarttls = ""\ntls = ""\nmax_connections = 2_000\n` +
    `connections_per_address = 2_000\nconnections_per_network = 2_000\n` +
    `trusted = [{ network = "127.0.0.0/8", account = "${accountId}", from = "bench@example.test", per_hour = 1_000_000_000 }]\n` +
    `[submission.plain]\nlisten = "127.0.0.1:${submissionPort}"\nnetworks = ["127.0.0.0/8"]\n`,
})
const theirs: number[] = []
const ours: number[] = []
await handInAll(submissionPort, 500)
for (let round = 0; round < Number(values.rounds); round++) {
  if (missing.length === 0) {
    const postfix = await startPostfix(new Map([['d0.test', '127.0.0.1']]), 2_626, { holds: true })
    theirs.push(await handInAll(postfixPort, n).finally(() => postfix.stop()))
  }
  ours.push(await handInAll(submissionPort, n))
}
const alone = await apiTimes()
const open = await openSessions(200)
const beside = await apiTimes()
open.stop()
await appliance.stop()

const rates = (list: readonly number[]) => list.map((rate) => rate.toFixed(0)).join(', ')
report([
  ['mails, sessions, rounds', `${n}, ${sessions}, ${values.rounds}`],
  [
    'Postfix smtpd, mails/s',
    missing.length === 0
      ? `${quantile(theirs, 0.5).toFixed(0)} (${rates(theirs)})`
      : `skipped: needs ${missing.join(', ')}`,
  ],
  ['Posthorn submission, mails/s', `${quantile(ours, 0.5).toFixed(0)} (${rates(ours)})`],
  ...(missing.length === 0
    ? ([['ratio (goal 0.6)', (quantile(ours, 0.5) / quantile(theirs, 0.5)).toFixed(2)]] as const)
    : []),
  ['API answer p50 / p99 alone, ms', times(alone)],
  [`beside 200 sessions, ${open.sent} mails`, times(beside)],
  ['RSA-2048 signatures/s', rsa.toFixed(0)],
  ['load average', loadAverage()],
])
process.exit(0)

function times(list: readonly number[]): string {
  return `${quantile(list, 0.5).toFixed(1)} / ${quantile(list, 0.99).toFixed(1)}`
}

/** Mails a second, from the start of smtp-source to its end. */
async function handInAll(port: number, count: number): Promise<number> {
  const began = performance.now()
  const args = ['-d', '-s', String(sessions), '-m', String(count), '-F', messageFile]
  const source = spawn(
    '/usr/sbin/smtp-source',
    [...args, '-f', 'bench@example.test', '-t', 'rcpt@d0.test', `127.0.0.1:${port}`],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  )
  const status = await new Promise<number | null>((resolve) => source.once('close', resolve))
  if (status !== 0) throw new Error(`smtp-source ended with ${status}`)
  return count / ((performance.now() - began) / 1_000)
}

/** How long 400 sends take, 40 of them a second, in ms. */
async function apiTimes(): Promise<number[]> {
  const mail = { from: 'bench@example.test', to: 'rcpt@d0.test', subject: 'x', html: '<p>x</p>' }
  const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()
  const taken: number[] = []
  const sends: Promise<void>[] = []
  for (let i = 0; i < 400; i++) {
    const began = performance.now()
    const sent = appliance.post('/v1/emails/send', { ...mail, scheduledAt })
    sends.push(sent.then(() => void taken.push(performance.now() - began)))
    await sleep(25)
  }
  await Promise.all(sends)
  return taken
}

/** Sessions that hand in a mail every two seconds each. */
async function openSessions(count: number) {
  const state = { sent: 0, stopped: false }
  const body = message.endsWith('\r\n') ? message : `${message}\r\n`
  const dialogue = async (place: number) => {
    const socket = connect(submissionPort, '127.0.0.1')
    let heard = () => {}
    socket.on('data', (data) => {
      if (/^\d{3} .*\r\n$/m.test(String(data))) heard()
    })
    const reply = () =>
      new Promise<void>((resolve) => {
        heard = resolve
      })
    const say = async (line: string) => {
      const answered = reply()
      socket.write(line)
      await answered
    }
    await reply()
    await say('EHLO bench\r\n')
    await sleep(place * 10)
    while (!state.stopped) {
      await say('MAIL FROM:<bench@example.test>\r\n')
      await say('RCPT TO:<rcpt@d0.test>\r\n')
      await say('DATA\r\n')
      await say(`${body}.\r\n`)
      state.sent++
      await sleep(2_000)
    }
    socket.destroy()
  }
  for (let i = 0; i < count; i++) void dialogue(i)
  await sleep(1_000)
  return {
    get sent() {
      return state.sent
    },
    stop() {
      state.stopped = true
    },
  }
}
