import { strToU8, Zip, ZipDeflate } from 'fflate'
import { nextTurn } from '../bounded/index.js'
import type { Read } from '../store/index.js'
import { csvLine } from '../suppression/index.js'
import { knownOf, type MailKnown, mailsKnown } from './known.js'
import { eventsKnown } from './known-life.js'
import { isNothing, overviewOf } from './overview.js'
import { namesIn } from './overview-words.js'

// One look takes some milliseconds of the thread; other work has its turn between two looks.
const mailsALook = 50

/**
 * All that an account has of an address: a ZIP with a page for people, JSON, and the mails and consent as CSV. It comes
 * in pieces, as the mails are read, so that it never lies whole in memory and holds nobody up.
 */
export async function* downloadOf(
  read: Read,
  accountId: string,
  email: string,
  now: number,
): AsyncGenerator<Buffer> {
  const ready: Buffer[] = []
  const zip = new Zip((error, bytes) => {
    if (error) throw error
    ready.push(Buffer.from(bytes))
  })
  const fileNamed = (name: string) => {
    const file = new ZipDeflate(name)
    zip.add(file)
    return {
      push: (text: string) => file.push(strToU8(text)),
      end: () => file.push(new Uint8Array(), true),
    }
  }
  const everything = fileNamed('everything.json')
  // The content of a later file is held back, compressed, until the file before it is whole.
  const lines = fileNamed('mails.csv')
  const proof = fileNamed('consent.csv')
  const overview = fileNamed('overview.html')
  const counts = { mails: 0, events: 0 }
  const known = await knownOf(read, accountId, email)
  everything.push(`${JSON.stringify(known, null, 2).slice(0, -2)},\n  "events": [`)
  yield* taken(ready)
  let mark = ''
  if (known.contact !== null) {
    for await (const events of eventsKnown(read, known.contact.id)) {
      for (const event of events) {
        everything.push(`${mark}\n    ${JSON.stringify(event)}`)
        mark = ','
        counts.events++
      }
      yield* taken(ready)
      await nextTurn()
    }
  }
  everything.push('\n  ],\n  "mails": [')
  lines.push(csvLine(['mail', 'subject', 'accepted', 'event', 'at', 'reply']))
  mark = ''
  for (let before: string | undefined; ; ) {
    const { mails, next } = await mailsKnown(read, accountId, email, { limit: mailsALook, before })
    for (const mail of mails) {
      everything.push(`${mark}\n    ${JSON.stringify(mail)}`)
      lines.push(mailLines(mail))
      mark = ','
      counts.mails++
    }
    yield* taken(ready)
    if (next === undefined) break
    before = next
    await nextTurn()
  }
  everything.push('\n  ]\n}\n')
  proof.push(csvLine(['at', 'what', 'detail']))
  for (const { at, kind, detail } of known.consent) {
    proof.push(csvLine([at ?? '', kind, JSON.stringify(detail)]))
  }
  const account = await accountName(read, accountId)
  const names = await namesIn(read, accountId, known)
  overview.push(overviewOf(known, { account, now, names, ...counts }))
  for (const file of [everything, lines, proof, overview]) file.end()
  zip.end()
  yield* taken(ready)
}

/** Hands over what is compressed by now. */
function* taken(ready: Buffer[]): Generator<Buffer> {
  yield* ready.splice(0)
}

const mailLines = ({ id, subject, createdAt, events }: MailKnown): string =>
  [
    csvLine([id, subject, createdAt, 'accepted', createdAt, '']),
    ...events.map(({ type, at, reply }) =>
      csvLine([id, subject, createdAt, type, at, reply ?? '']),
    ),
  ].join('')

const accountName = async (read: Read, id: string): Promise<string> =>
  (await read.selectFrom('accounts').select('name').where('id', '=', id).executeTakeFirst())
    ?.name ?? ''

/** Whether anything is stored of an address; `hash` where it was erased and nothing else is left. */
export async function whatIsStored(
  read: Read,
  accountId: string,
  email: string,
): Promise<'something' | 'hash' | 'nothing'> {
  const known = await knownOf(read, accountId, email)
  const { mails } = await mailsKnown(read, accountId, email, { limit: 1 })
  // Only contacts have events, so there are none here.
  if (!isNothing(known, { mails: mails.length, events: 0 })) return 'something'
  return known.wasErased ? 'hash' : 'nothing'
}

// How many events one answer of the API has; the file has all.
const eventsAnswered = 1_000

/** What the API answers: mails a page at a time, and only the newest events where there are many. */
export async function downloadAnswer(
  read: Read,
  accountId: string,
  email: string,
  page: { limit: number; before?: string | undefined },
) {
  const known = await knownOf(read, accountId, email)
  const { mails, next } = await mailsKnown(read, accountId, email, page)
  const events = []
  let isWhole = true
  if (known.contact !== null) {
    for await (const some of eventsKnown(read, known.contact.id)) {
      events.push(...some)
      isWhole = events.length < eventsAnswered
      if (!isWhole) break
    }
  }
  return { ...known, events, hasAllEvents: isWhole, mails, next }
}
