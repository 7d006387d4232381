import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import type { Test } from 'tap'
import { publishedRecords } from '../../src/domains/index.js'
import { pythonDkimMissing, pythonVerdicts } from '../dkim/verifiers.js'
import { Talk } from '../sandbox/talk.js'
import { type Posthorn, type PosthornOptions, startPosthorn } from '../support/posthorn.js'
import { type TestCertificate, testCertificates } from '../support/tls.js'

export interface Submitting extends Posthorn {
  ports: Readonly<Record<string, number>>
  certificate: TestCertificate
  ca: string
  /** A session over STARTTLS, logged in. */
  loggedIn(): Promise<Talk>
}

/** An appliance that takes mail from programs, on free ports. */
export async function startSubmission(
  t: Test,
  { env = {}, settings = {}, ...options }: PosthornOptions = {},
): Promise<Submitting> {
  const { valid, ca } = await testCertificates(t, 'localhost')
  const { submission = {}, ...others } = settings
  const posthorn = await startPosthorn(t, {
    ...options,
    settings: {
      ...others,
      submission: {
        enabled: true,
        starttls: '127.0.0.1:0',
        tls: '127.0.0.1:0',
        plain: { listen: '127.0.0.1:0', networks: ['127.0.0.0/8'] },
        ...(submission as object),
      },
    },
    env: {
      POSTHORN_SUBMISSION_CERTIFICATE: valid.certFile,
      POSTHORN_SUBMISSION_KEY: valid.keyFile,
      ...env,
    },
  })
  const ports = posthorn.appliance.submissionPorts
  return {
    ...posthorn,
    ports,
    certificate: valid,
    ca: ca.cert,
    async loggedIn() {
      const talk = await Talk.open(t, ports.starttls ?? 0)
      await talk.say('EHLO client.test')
      await talk.say('STARTTLS')
      await talk.secure()
      await talk.say('EHLO client.test')
      const reply = await talk.say(`AUTH PLAIN ${plainToken(posthorn.apiKey)}`)
      if (!reply.startsWith('235')) throw new Error(`Not logged in: ${reply}`)
      return talk
    },
  }
}

export const plainToken = (key: string, user = 'posthorn') =>
  Buffer.from(`\0${user}\0${key}`).toString('base64')

/** Hands a message in; resolves with the reply to its dot, or to the command that was refused. */
export async function submit(
  talk: Talk,
  message: string | Buffer,
  { from = 'ada@sender.test', to = ['bob@example.test'], mail = '' } = {},
): Promise<string> {
  for (const command of [`MAIL FROM:<${from}>${mail}`, ...to.map((one) => `RCPT TO:<${one}>`)]) {
    const reply = await talk.say(command)
    if (!reply.startsWith('250')) return reply
  }
  const go = await talk.say('DATA')
  if (!go.startsWith('354')) return go
  talk.write(message)
  return await talk.say('\r\n.')
}

export const idOf = (reply: string): string => / Queued as (\S+)$/.exec(reply)?.[1] ?? ''

/** What mailauth says of each signature, and python3-dkim where it is there: all have to be good. */
export async function isSigned(posthorn: Submitting, raw: Buffer): Promise<boolean> {
  const settings = { heloName: 'localhost', sourceAddresses: [] }
  const dns = await publishedRecords(posthorn.store.read, settings)
  const { results } = await dkimVerify(raw, {
    resolver: async (name: string) => [[dns[name]?.txt?.[0] ?? '']],
  })
  const ours = results.filter(({ signingDomain }) => signingDomain === 'sender.test')
  const isGood = ours.length === 2 && ours.every(({ status }) => status.result === 'pass')
  if (pythonDkimMissing) return isGood
  const keys = Object.entries(dns).map(([name, { txt }]) => ({ name, record: txt?.[0] ?? '' }))
  const published = keys.filter(({ name }) => name.includes('._domainkey.'))
  return isGood && pythonVerdicts([raw], published as never)[0]?.every(Boolean) === true
}

/** A message as it arrived: the fields that were put before it, its own header, its body. */
export function taken(raw: Buffer): { ours: string; header: string; body: string } {
  const text = raw.toString('latin1')
  const fields = /^(?:(?:DKIM-Signature|CFBL-Address|List-[\w-]+):.*\r\n(?:[ \t].*\r\n)*)*/
  const ours = fields.exec(text)?.[0] ?? ''
  const end = text.indexOf('\r\n\r\n')
  return { ours, header: text.slice(ours.length, end + 2), body: text.slice(end + 4) }
}
