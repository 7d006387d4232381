import { dayNumber } from '../clock/index.js'
import type { Effect, MailEvent } from '../events/index.js'
import { idsOf, prepared, type Read, type Tx } from '../store/index.js'
import { noteAlarm } from './alarm.js'
import type { SignupForm } from './form.js'

/** Shares of a form's mails in two days: from the first on it is careful, from the second on it sends none. */
export const formAlarms = {
  careful: { bounces: 3, bounceShare: 0.1, complaints: 1 },
  stopped: { bounces: 10, bounceShare: 0.25, complaints: 3 },
} as const

/**
 * Confirmations that bounce or get a complaint are the fault of whoever filled in the form, not of the account. They
 * make their form careful or stop it, and `others` (the account's rates) does not see them. The account itself has
 * chosen the people whom it asks by hand, so those count for both. An effect of events.
 */
export const makeFollowForms =
  (others: Effect): Effect =>
  async (tx, events) => {
    const faults = events.filter(isFault)
    if (faults.length === 0) return await others(tx, events)
    const rows = await formsOfMails(tx, {
      ids: JSON.stringify([...new Set(faults.map(({ emailId }) => emailId))]),
    })
    if (rows.length === 0) return await others(tx, events)
    const formOf = new Map(rows.map((row) => [row.email_id, row]))
    for (const event of faults) {
      const form = formOf.get(event.emailId)
      if (form !== undefined) await countFault(tx, form.form_id, event)
    }
    const isOfStrangers = (event: MailEvent) =>
      isFault(event) && formOf.get(event.emailId)?.kind === 'page'
    await others(
      tx,
      events.filter((event) => !isOfStrangers(event)),
    )
  }

const isFault = ({ type, detail }: MailEvent): boolean =>
  type === 'complained' || (type === 'bounced' && detail?.bounceType !== 'Transient')

const formsOfMails = prepared<
  { ids: string },
  { email_id: string; form_id: string; kind: SignupForm['kind'] }
>((db, { ids }) =>
  db
    .selectFrom('form_mails')
    .innerJoin('forms', 'forms.id', 'form_mails.form_id')
    .select(['email_id', 'form_id', 'kind'])
    .where('email_id', 'in', idsOf(ids, 'text')),
)

/** Marks a mail as a confirmation of a form, whatever happens to the submission. */
export async function keepFormMail(
  tx: Tx,
  formId: string,
  emailId: string,
  at: number,
): Promise<void> {
  const row = { email_id: emailId, form_id: formId, sent_at: at }
  await tx.insertInto('form_mails').values(row).execute()
}

/** Adds to a day of a form's confirmations, in the transaction of what is counted. */
export async function countFormMails(
  tx: Tx,
  formId: string,
  at: number,
  { mails = 0, bounces = 0, complaints = 0 }: Partial<FormTally>,
): Promise<void> {
  await tx
    .insertInto('form_days')
    .values({ form_id: formId, day: dayNumber(at), mails, bounces, complaints })
    .onConflict((conflict) =>
      conflict.columns(['form_id', 'day']).doUpdateSet((eb) => ({
        mails: eb('form_days.mails', '+', mails),
        bounces: eb('form_days.bounces', '+', bounces),
        complaints: eb('form_days.complaints', '+', complaints),
      })),
    )
    .execute()
}

export interface FormTally {
  mails: number
  bounces: number
  complaints: number
}

async function countFault(tx: Tx, formId: string, { type, at }: MailEvent): Promise<void> {
  const kind = type === 'complained' ? 'complaints' : 'bounces'
  await countFormMails(tx, formId, at, { [kind]: 1 })
  const tally = await formTally(tx, formId, at)
  const isCareful = isBeyond(tally, formAlarms.careful)
  const isStopped = isBeyond(tally, formAlarms.stopped)
  if (!isCareful && !isStopped) return
  await noteAlarm(tx, formId, { state: isStopped ? 'stopped' : 'careful', tally, at })
  await tx
    .updateTable('forms')
    .set({ careful_at: at, ...(isStopped && { stopped_at: at }) })
    .where('id', '=', formId)
    .execute()
}

/** What became of a form's confirmations today and yesterday, by which its state is judged. */
export async function formTally(read: Read, formId: string, at: number): Promise<FormTally> {
  const days = await read
    .selectFrom('form_days')
    .select(['mails', 'bounces', 'complaints'])
    .where('form_id', '=', formId)
    .where('day', '>=', dayNumber(at) - 1)
    .execute()
  const sum = (of: keyof FormTally) => days.reduce((total, day) => total + day[of], 0)
  return { mails: sum('mails'), bounces: sum('bounces'), complaints: sum('complaints') }
}

type Alarm = (typeof formAlarms)[keyof typeof formAlarms]

const isBeyond = ({ mails, bounces, complaints }: FormTally, alarm: Alarm): boolean =>
  complaints >= alarm.complaints ||
  (bounces >= alarm.bounces && bounces >= mails * alarm.bounceShare)
