import { isoDay, isoTime } from '../clock/index.js'
import { happeningWords } from '../contacts/index.js'
import { escapeHtml } from '../mime/index.js'
import type { knownOf } from './known.js'
import { labelOf, type Names, worded } from './overview-words.js'

type Known = Awaited<ReturnType<typeof knownOf>>

/** How many mails and events the file has beside the overview. */
interface Counts {
  mails: number
  events: number
}

/** The file's name: whose data it has, and of which day (UTC). */
export const fileNameOf = (email: string, now: number): string =>
  `data-of-${email
    .toLowerCase()
    .replace(/@/g, '-at-')
    .replace(/[^a-z0-9.-]+/g, '_')
    .slice(0, 100)}-${isoDay(now)}.zip`

/** The page of the file that people read first: what is stored, in words, and what each of the other files has. */
export function overviewOf(
  known: Known,
  { account, now, names, mails, events }: Counts & { account: string; now: number; names: Names },
): string {
  const { address, contact, suppressions, consent, forms, campaigns, runs } = known
  const title = `What is stored about ${address}`
  const parts = [
    `<p>By the account “${escapeHtml(account)}”, as of ${worded(isoTime(now))}. Times are in UTC.</p>`,
    isNothing(known, { mails, events })
      ? `<p><strong>${known.wasErased ? erasedSays : 'Nothing is stored about this address.'}</strong></p>`
      : '',
    contact === null
      ? '<p>The address is not one of the account’s contacts.</p>'
      : section('The contact', facts(aboutContact(contact, names))),
    contact === null
      ? ''
      : section('Why mail goes there or does not', `<p>${escapeHtml(contact.mail.says)}.</p>`),
    listed(
      'Lists',
      (contact?.lists ?? []).map(({ name, addedAt }) => [name, `since ${worded(addedAt)}`]),
    ),
    listed(
      'Must not be mailed, as',
      suppressions.map(({ reason, scope, createdAt, detail }) => [
        `${reason} (${scope === 'all' ? 'all mail' : 'marketing mail'})`,
        createdAt,
        detail ?? '',
      ]),
    ),
    listed(
      'What they agreed to and took back',
      consent.map(({ at, kind, detail }) => [
        at ?? '',
        happeningWords[kind],
        worded(detail, names),
      ]),
    ),
    listed(
      'Sent in by forms',
      forms.map(({ sentInAt, agreed, typed }) => [sentInAt, agreed.text, worded(typed, names)]),
    ),
    listed(
      'Automations',
      runs.map(({ automation, status, startedAt }) => [automation, status, startedAt ?? '']),
    ),
    section(
      'How much else',
      facts([
        ['Mails', mails],
        ['Events', events],
        ['Campaigns', campaigns.length],
        ['Mails that came from them', known.received.length],
      ]),
    ),
    section(
      'The files',
      facts([
        ['overview.html', 'this page'],
        ['mails.csv', 'each mail to the address, with what became of it'],
        ['consent.csv', 'what they agreed to and took back, with all that was noted'],
        ['everything.json', 'all of it, for a program'],
      ]),
    ),
  ]
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<style>body{font:16px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}table{border-collapse:collapse}th,td{text-align:left;vertical-align:top;padding:.25rem 1rem .25rem 0;overflow-wrap:anywhere}</style>
</head><body><h1>${escapeHtml(title)}</h1>
${parts.filter((part) => part !== '').join('\n')}
</body></html>
`
}

/** Said about an address of which only the hash is left. */
export const erasedSays =
  'It was erased: all that is left is a hash, by which nobody mails it again. Nothing else is stored about this address.'

/** Whether nothing is stored of an address; the hash of an erased address is not its owner's data. */
export const isNothing = (known: Known, { mails, events }: Counts): boolean =>
  known.contact === null &&
  mails + events === 0 &&
  [
    known.suppressions,
    known.leftTopics,
    known.consent,
    known.forms,
    known.received,
    known.runs,
    known.campaigns,
  ].every(({ length }) => length === 0)

function aboutContact(contact: NonNullable<Known['contact']>, names: Names): [string, unknown][] {
  const { email, firstName, lastName, phone, metadata, createdAt } = contact
  const named: [string, unknown][] = [
    ['Address', email],
    ['First name', firstName],
    ['Last name', lastName],
    ['Phone', phone],
    ['Known since', createdAt],
    ...Object.entries(metadata).map(([name, value]): [string, unknown] => [
      labelOf(name, names),
      value,
    ]),
  ]
  return named.filter(([, value]) => value !== null && value !== '')
}

const section = (title: string, body: string) => `<h2>${escapeHtml(title)}</h2>\n${body}`

/** A table of rows under a heading; nothing where there are none. */
const listed = (title: string, rows: readonly (readonly string[])[]): string =>
  rows.length === 0
    ? ''
    : section(
        title,
        `<table>${rows.map((cells) => `<tr>${cells.map((cell) => `<td>${escapeHtml(worded(cell))}</td>`).join('')}</tr>`).join('')}</table>`,
      )

const facts = (rows: readonly (readonly [string, unknown])[]): string =>
  `<table>${rows.map(([label, value]) => `<tr><th scope="row">${escapeHtml(label)}</th><td>${escapeHtml(worded(value))}</td></tr>`).join('')}</table>`
