import type { Capabilities } from './capabilities.js'
import { concealer } from './conceal.js'
import { toReply } from './reply.js'
import type { OpeningFailure } from './result.js'
import type { TlsSession } from './secure.js'
import { isLoss, type Wire } from './wire.js'

/** How we log in at a smart host. */
export interface Credentials {
  user: string
  pass: string
  /** Sends them even without TLS: only for a smart host on the same machine. */
  allowPlaintext?: boolean
}

/** AUTH PLAIN (RFC 4616), or LOGIN where the server has nothing better; undefined when the login succeeded. */
export async function authenticate(
  wire: Wire,
  credentials: Credentials,
  offers: Capabilities,
  tls: TlsSession | undefined,
  withinMs: number,
): Promise<OpeningFailure | undefined> {
  const { user, pass } = credentials
  if (tls === undefined && credentials.allowPlaintext !== true) {
    return notPossible('credentials are sent over TLS only')
  }
  wire.conceal(concealer(user, pass))
  if (offers.auth.includes('PLAIN')) {
    return await converse(wire, [['AUTH PLAIN ', base64(`\0${user}\0${pass}`)]], withinMs)
  }
  if (offers.auth.includes('LOGIN')) {
    const lines: Line[] = [
      ['AUTH LOGIN', ''],
      ['', base64(user)],
      ['', base64(pass)],
    ]
    return await converse(wire, lines, withinMs)
  }
  return notPossible('the server offers neither AUTH PLAIN nor AUTH LOGIN')
}

/** The open part of a line and the part that no transcript may show. */
type Line = [shown: string, secret: string]

async function converse(
  wire: Wire,
  lines: Line[],
  withinMs: number,
): Promise<OpeningFailure | undefined> {
  for (const [at, [shown, secret]] of lines.entries()) {
    wire.command(`${shown}${secret}\r\n`, 1, secret === '' ? shown : `${shown}(credentials)`)
    const heard = await wire.reply(withinMs, 'the reply to AUTH')
    if (isLoss(heard)) return { phase: 'auth', ...heard, transient: true }
    if (heard.code !== (at === lines.length - 1 ? 235 : 334)) {
      const reply = toReply(heard)
      const cause = `${reply.code} ${reply.text}`
      return { phase: 'auth', cause, reply, transient: reply.code < 500 }
    }
  }
  return undefined
}

function notPossible(cause: string): OpeningFailure {
  return { phase: 'auth', cause, transient: false }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
