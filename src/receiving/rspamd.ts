import { request } from 'node:http'
import type { Clock } from '../clock/index.js'
import { messageOf } from '../errors/index.js'
import { isJsonObject, jsonObjectIn } from '../json/index.js'
import type { Log } from '../log/index.js'
import type { SpamMark } from './shown.js'

/** What the filter needs to know of a session. */
export interface JudgedMail {
  remoteAddress: string
  helo: string
  mailFrom: string
  recipients: readonly string[]
  raw: Buffer
}

/** Judges a mail; undefined where the filter has not answered in time: mail never waits for it. */
export type SpamFilter = (mail: JudgedMail) => Promise<SpamMark | undefined>

const mostAnswerBytes = 256 * 1024
const mostSymbols = 100

/** Asks rspamd by HTTP (`/checkv2`). A filter that is down or slow marks nothing; that is logged once a minute. */
export function makeSpamFilter(
  { clock, log }: { clock: Clock; log: Log },
  { url, timeoutMs }: { url: string; timeoutMs: number },
): SpamFilter {
  let toldAt = Number.NEGATIVE_INFINITY
  return async (mail) => {
    try {
      return markIn(await ask(clock, new URL('/checkv2', url), timeoutMs, mail))
    } catch (error) {
      const now = clock.now()
      if (now - toldAt > 60_000 || now < toldAt) {
        toldAt = now
        log.warn({ cause: messageOf(error) }, 'rspamd has not answered: mail is taken unmarked')
      }
      return undefined
    }
  }
}

/** Resolves with the filter's answer, within bounds. */
function ask(
  clock: Clock,
  url: URL,
  timeoutMs: number,
  { remoteAddress, helo, mailFrom, recipients, raw }: JudgedMail,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const asking = request(url, {
      method: 'POST',
      headers: {
        'Content-Type': 'message/rfc822',
        'Content-Length': raw.length,
        IP: remoteAddress,
        Helo: headerSafe(helo),
        From: headerSafe(mailFrom),
        Rcpt: recipients.map(headerSafe),
      },
    })
    const cancel = clock.after(timeoutMs, () => asking.destroy(new Error('It takes too long')))
    asking.on('error', reject)
    asking.on('close', cancel)
    asking.on('response', (response) => {
      const pieces: Buffer[] = []
      let bytes = 0
      response.on('data', (piece: Buffer) => {
        bytes += piece.length
        if (bytes > mostAnswerBytes) asking.destroy(new Error('Its answer is too long'))
        else pieces.push(piece)
      })
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode === 200) resolve(Buffer.concat(pieces).toString())
        else reject(new Error(`It answers ${response.statusCode}`))
      })
    })
    asking.end(raw)
  })
}

/** What an SMTP client has said of itself must not end a header field or begin another. */
const headerSafe = (text: string) => text.replace(/[^\x21-\x7e]+/g, '').slice(0, 320)

function markIn(answer: string): SpamMark {
  const { score, required_score: required, action, symbols } = jsonObjectIn(answer) ?? {}
  if (typeof score !== 'number' || typeof action !== 'string') {
    throw new Error('Its answer has no score')
  }
  const names = isJsonObject(symbols) ? Object.keys(symbols) : []
  return {
    score,
    required: typeof required === 'number' ? required : 0,
    action: action.slice(0, 40),
    symbols: names.slice(0, mostSymbols).map((name) => name.slice(0, 80)),
  }
}
