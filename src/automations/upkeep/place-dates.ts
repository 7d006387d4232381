import { type AutomationDateRow, idsIn, preparedInsertAll, type Tx } from '../../store/index.js'
import { type DateRule, dateFor, type RunContact } from '../definition/index.js'
import { contactColumns, contactOf } from '../runs/index.js'

/** A contact's row in an automation that begins on a date. */
export interface DateDue {
  automation_id: string
  contact_id: string
  at: number | null
  /** The day for which it last began, as `2026-02-28`. */
  done: string | null
}

export type DatedAutomation = Pick<AutomationDateRow, 'automation_id' | 'rule'>

export const ruleIn = ({ rule }: Pick<AutomationDateRow, 'rule'>): DateRule => JSON.parse(rule)

/**
 * Writes when automations begin next for contacts, as the contacts are in this write. A contact without such a date has
 * no row, unless a day is done. `done`: days that have just been done, by contact. It may be done twice.
 */
export async function placeDates(
  tx: Tx,
  automations: readonly DatedAutomation[],
  contactIds: readonly string[],
  { now, done = new Map() }: { now: number; done?: ReadonlyMap<string, string> },
): Promise<void> {
  if (automations.length === 0 || contactIds.length === 0) return
  const contacts = await contactsIn(tx, contactIds)
  for (const automation of automations) {
    const { automation_id } = automation
    const before = await dueOf(tx, automation_id, contactIds)
    const rule = ruleIn(automation)
    const rows = contacts.flatMap((contact): DateDue[] => {
      const doneDay = done.get(contact.id) ?? before.get(contact.id)?.done ?? null
      const at = dateFor(rule, contact, { after: now, done: doneDay })?.at ?? null
      const isAny = at !== null || doneDay !== null
      return isAny ? [{ automation_id, contact_id: contact.id, at, done: doneDay }] : []
    })
    const isSame = (row: DateDue) => {
      const known = before.get(row.contact_id)
      return known !== undefined && known.at === row.at && known.done === row.done
    }
    // A row that is due and waits is not put off by a change that leaves its date where it was.
    const waits = ({ contact_id }: DateDue) =>
      !done.has(contact_id) && isDueNow(before.get(contact_id), rule, contacts, now)
    const changed = rows.filter((row) => !isSame(row) && !waits(row))
    const kept = new Set(
      rows.filter((row) => isSame(row) || waits(row)).map((row) => row.contact_id),
    )
    const gone = [...before.keys()].filter((id) => !kept.has(id))
    if (gone.length > 0) {
      await tx
        .deleteFrom('automation_date_due')
        .where('automation_id', '=', automation_id)
        .where('contact_id', 'in', idsIn(gone, 'text'))
        .execute()
    }
    await addDue(tx, changed)
  }
}

/** Whether the time has come and was not taken yet, and the contact's date still has it. */
function isDueNow(
  row: DateDue | undefined,
  rule: DateRule,
  contacts: readonly RunContact[],
  now: number,
): boolean {
  if (row?.at === undefined || row.at === null || row.at > now) return false
  const contact = contacts.find(({ id }) => id === row.contact_id)
  if (contact === undefined) return false
  return dateFor(rule, contact, { after: row.at - 1, done: row.done })?.at === row.at
}

const addDue = preparedInsertAll('automation_date_due')

export async function contactsIn(tx: Tx, ids: readonly string[]): Promise<RunContact[]> {
  const rows = await tx
    .selectFrom('contacts')
    .select([...contactColumns])
    .where('contacts.id', 'in', idsIn(ids, 'text'))
    .execute()
  return rows.map(contactOf)
}

/** Rows by their contacts. */
async function dueOf(
  tx: Tx,
  automationId: string,
  contactIds: readonly string[],
): Promise<ReadonlyMap<string, DateDue>> {
  const rows = await tx
    .selectFrom('automation_date_due')
    .selectAll()
    .where('automation_id', '=', automationId)
    .where('contact_id', 'in', idsIn(contactIds, 'text'))
    .execute()
  return new Map(rows.map((row) => [row.contact_id, row]))
}
