import { isIP } from 'node:net'
import { htmlParser } from '../mime/index.js'

/**
 * An aggregate report as it was read (RFC 7489 App. C, RFC 9990); all of it is the writer's claim.
 */
export interface DmarcReport {
  organization: string
  email: string
  reportId: string
  /** Seconds since 1970. */
  beginsAt: number
  endsAt: number
  /** The domain of the policy that the receiver found. */
  domain: string
  policy: string
  records: readonly DmarcRecord[]
}

/** How much mail came from an address, and how it was judged. */
export interface DmarcRecord {
  source: string
  count: number
  disposition: 'none' | 'quarantine' | 'reject'
  /** Whether each passed for a domain that aligns. */
  dkim: boolean
  spf: boolean
  /** The receiver says that the mail was forwarded, or came by a list. */
  forwarded: boolean
  headerFrom: string
  /** The domains that DKIM and SPF were about, in words. */
  identifiers: string
}

const maxRecords = 20_000
const maxDepth = 20
// `policy_evaluated` is the longest name in use.
const maxTag = 100
// The longest value that is kept; no name or id is longer.
const maxText = 300
const maxIdentifiers = 200

/**
 * Reads the XML of a report. Throws with what is wrong. The parser knows only XML's five entities and
 * no external ones, and ignores a DTD.
 */
export function readDmarcReport(xml: string): DmarcReport {
  const path: string[] = []
  const told = new Map<string, string>()
  const records: DmarcRecord[] = []
  let record: Draft | undefined
  let text = ''
  let isWhole = false
  let isOver = false

  const parser = new (htmlParser().Parser)(
    {
      onopentag(tag) {
        const name = localName(tag)
        if (path.length === 0 && name !== 'feedback')
          throw new Error('its root element is not <feedback>')
        if (path.length >= maxDepth)
          throw new Error(`its elements are nested over ${maxDepth} deep`)
        if (name.length > maxTag) throw new Error('the name of an element is too long')
        path.push(name)
        text = ''
        if (path.join('/') === 'feedback/record') record = makeDraft()
      },
      ontext(more) {
        if (text.length < maxText) text += more.slice(0, maxText)
      },
      onclosetag() {
        // The parser closes elements that are still open at the end; it also reports a close for
        // `<reason/>`.
        if (isOver) return
        const at = path.join('/')
        const value = text.trim().slice(0, maxText)
        text = ''
        path.pop()
        if (at === 'feedback') isWhole = true
        else if (at === 'feedback/record') {
          if (records.length === maxRecords) throw new Error(`more than ${maxRecords} records`)
          records.push(finished(record ?? makeDraft()))
          record = undefined
        } else if (record !== undefined) enter(record, at.slice(recordPrefix.length), value)
        // If an element may occur only once, the first one counts.
        else if (wanted.has(at) && !told.has(at)) told.set(at, value)
      },
    },
    { xmlMode: true, decodeEntities: true },
  )
  parser.write(xml)
  isOver = true
  parser.end()
  if (!isWhole) throw new Error('the XML ends before its time')
  const of = (name: string) => told.get(`feedback/${name}`) ?? ''
  return {
    organization: of('report_metadata/org_name'),
    email: of('report_metadata/email'),
    reportId: of('report_metadata/report_id'),
    beginsAt: wholeNumber(of('report_metadata/date_range/begin'), 'begin'),
    endsAt: wholeNumber(of('report_metadata/date_range/end'), 'end'),
    domain: nameIn(of('policy_published/domain')),
    policy: of('policy_published/p').toLowerCase(),
    records,
  }
}

const recordPrefix = 'feedback/record/'
// Nothing else is kept: a report may name millions of elements.
const wanted = new Set([
  ...['org_name', 'email', 'report_id', 'date_range/begin', 'date_range/end'].map(
    (name) => `feedback/report_metadata/${name}`,
  ),
  ...['domain', 'p'].map((name) => `feedback/policy_published/${name}`),
])
const wantedOfRecord = new Set([
  ...['source_ip', 'count'].map((name) => `row/${name}`),
  ...['disposition', 'dkim', 'spf'].map((name) => `row/policy_evaluated/${name}`),
  'identifiers/header_from',
])
const maxOfKind = 5

interface Draft {
  values: Map<string, string>
  reasons: string[]
  identifiers: string[]
  /** The fields of the open authentication result. */
  open: Map<string, string>
}

const makeDraft = (): Draft => ({
  values: new Map(),
  reasons: [],
  identifiers: [],
  open: new Map(),
})

/** Enters an element of a record; several results are all kept, up to a small number. */
function enter(draft: Draft, at: string, value: string): void {
  const [, method, field] = /^auth_results\/(dkim|spf)(?:\/(domain|result))?$/.exec(at) ?? []
  if (at === 'row/policy_evaluated/reason/type') {
    if (draft.reasons.length < maxOfKind) draft.reasons.push(value.toLowerCase())
  } else if (field !== undefined) draft.open.set(field, value)
  else if (method !== undefined) {
    const { open } = draft
    const words = `${method}=${open.get('result') ?? '?'} ${open.get('domain') ?? ''}`.trim()
    if (draft.identifiers.length < maxOfKind) draft.identifiers.push(words)
    open.clear()
  } else if (wantedOfRecord.has(at) && !draft.values.has(at)) draft.values.set(at, value)
}

function finished({ values, reasons, identifiers }: Draft): DmarcRecord {
  const of = (name: string) => values.get(name) ?? ''
  const source = of('row/source_ip')
  if (isIP(source) === 0) throw new Error(`a record of no address: ${JSON.stringify(source)}`)
  const disposition = of('row/policy_evaluated/disposition').toLowerCase()
  return {
    source: source.toLowerCase(),
    count: wholeNumber(of('row/count'), 'count'),
    // RFC 9990 adds `pass` to the values of RFC 7489.
    disposition: disposition === 'quarantine' || disposition === 'reject' ? disposition : 'none',
    dkim: of('row/policy_evaluated/dkim').toLowerCase() === 'pass',
    spf: of('row/policy_evaluated/spf').toLowerCase() === 'pass',
    forwarded: reasons.some((reason) => forwarders.includes(reason)),
    headerFrom: nameIn(of('identifiers/header_from')),
    identifiers: identifiers.join('; ').slice(0, maxIdentifiers),
  }
}

const forwarders = ['forwarded', 'mailing_list', 'trusted_forwarder']

const localName = (tag: string) => tag.slice(tag.indexOf(':') + 1).toLowerCase()
const nameIn = (text: string) => text.toLowerCase().replace(/\.$/, '')

function wholeNumber(text: string, name: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new Error(`${name} is not a number: ${JSON.stringify(text)}`)
  return Number(text)
}
